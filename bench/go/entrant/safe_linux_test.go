package entrant

import (
	"bytes"
	"errors"
	"log"
	"os"
	"strings"
	"testing"
)

func started(t *testing.T) *Safe {
	t.Helper()
	loop, err := NewSafe(0)
	if err != nil {
		t.Fatal(err)
	}
	return loop.(*Safe)
}

func TestSafeRefusesATransitionThatItDoesNotHave(t *testing.T) {
	var s safeState
	defer func() {
		if recover() == nil {
			t.Error("from running to terminated")
		}
	}()
	s.transition(running, terminated)
}

func TestSafeSeesADamagedLane(t *testing.T) {
	l := started(t)
	defer closed(t, l)
	l.queue.mu.Lock()
	lane := &l.queue.lanes[microtaskLane]
	sound := *lane
	lane.length = -1
	l.queue.mu.Unlock()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a task was queued beside it")
			}
		}()
		l.Submit(func() {})
	}()
	l.queue.mu.Lock()
	*lane = sound
	l.queue.mu.Unlock()
}

func TestSafeSeesDamagedTimers(t *testing.T) {
	var timers safeTimers
	one := newTimer(0, func() {})
	timers.timers.add(one)
	one.place = 7
	defer func() {
		if recover() == nil {
			t.Error("one was taken")
		}
	}()
	timers.take(uptime())
}

func TestSafeKeepsNothingOfTasksThatHaveRun(t *testing.T) {
	var lane safeLane
	for n := range uint64(300) {
		lane.push(safeTask{func() {}, n})
	}
	for n := range uint64(300) {
		task, found := lane.pop()
		if !found || task.number != n {
			t.Fatalf("task %d is %d, %v", n, task.number, found)
		}
	}
	if _, found := lane.pop(); found {
		t.Error("a task that nobody pushed")
	}
	for i, slot := range lane.head.tasks {
		if slot.call != nil {
			t.Errorf("slot %d keeps a task", i)
		}
	}
}

func TestSafeReportsAPanicWithTheNumberOfItsTask(t *testing.T) {
	var out bytes.Buffer
	log.SetOutput(&out)
	defer log.SetOutput(os.Stderr)
	l := started(t)
	submit(t, l, func() {})
	submit(t, l, func() { panic("on purpose") })
	closed(t, l)
	if !strings.Contains(out.String(), "task 2 panicked: on purpose") {
		t.Error(out.String())
	}
}

func TestSafeRefusesATaskAfterItsEnd(t *testing.T) {
	l := started(t)
	closed(t, l)
	if err := l.Submit(func() {}); !errors.Is(err, errEnded) {
		t.Errorf("the error is %v", err)
	}
	if err := l.queue.push(internalLane, func() {}); !errors.Is(err, errEnded) {
		t.Errorf("the queue's error is %v", err)
	}
}
