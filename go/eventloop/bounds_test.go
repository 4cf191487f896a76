package eventloop

import (
	"errors"
	"math"
	"testing"

	"millrace.dev/go"
)

func TestTheQueueIsBounded(t *testing.T) {
	for _, most := range []int{1, 7, chunkSize, 1000} {
		l := started(t, Config{MaxQueue: most})
		release := busy(t, l)
		ran := 0
		task := func() { ran++ }
		for i := range most {
			if err := l.SubmitPriority(millrace.Priority(i%4), task); err != nil {
				t.Fatalf("task %d of %d: %v", i+1, most, err)
			}
		}
		for _, priority := range []millrace.Priority{millrace.High, millrace.Normal, millrace.Low} {
			if err := l.SubmitPriority(priority, task); !errors.Is(err, millrace.ErrOverload) {
				t.Errorf("%v task %d of %d: %v", priority, most+1, most, err)
			}
		}
		if n, err := l.SubmitBatch([]func(){task, task}); n != 0 || !errors.Is(err, millrace.ErrOverload) {
			t.Errorf("batch: %d, %v", n, err)
		}
		if s := l.Stats(); s.QueueDepth != most || s.RefusedTotal != 5 || s.SubmittedTotal != uint64(most)+1 {
			t.Errorf("%+v", s)
		}
		release()
		settled(t, l)
		do(t, l, func() {
			if ran != most {
				t.Errorf("%d ran, not %d", ran, most)
			}
		})
	}
}

func TestOfABatchThatDoesNotFitTheFirstTasksAreTaken(t *testing.T) {
	l := started(t, Config{MaxQueue: 5})
	release := busy(t, l)
	var d diary
	batch := []func(){d.write("1"), d.write("2"), d.write("3")}
	if n, err := l.SubmitBatch(batch); n != 3 || err != nil {
		t.Error(n, err)
	}
	if n, err := l.SubmitBatch(batch); n != 2 || !errors.Is(err, millrace.ErrOverload) {
		t.Error(n, err)
	}
	if n, err := l.SubmitBatch(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
	release()
	settled(t, l)
	d.expect(t, "1", "2", "3", "1", "2")
}

// Stop puts back what the loop had begun to work through, so that the queue may hold more than it accepts.
func TestAQueueBeyondItsBoundAfterStopRefuses(t *testing.T) {
	const most = 10
	l := made(t, Config{MaxQueue: most})
	ran := 0
	count := func() { ran++ }
	must(t, l.Submit(func() {
		for range most {
			must(t, l.Submit(count))
		}
		l.Stop()
	}))
	for range most - 1 {
		must(t, l.Submit(count))
	}
	run(t, l)
	if depth := l.Stats().QueueDepth; ran != 0 || depth != 2*most-1 {
		t.Fatal(ran, depth)
	}
	if n, err := l.SubmitBatch([]func(){count}); n != 0 || !errors.Is(err, millrace.ErrOverload) {
		t.Error(n, err)
	}
	if err := l.Submit(count); !errors.Is(err, millrace.ErrOverload) {
		t.Error(err)
	}
	if refused := l.Stats().RefusedTotal; refused != 2 {
		t.Error(refused, "refused")
	}
	run(t, l)
	if ran != 2*most-1 || l.Stats().QueueDepth != 0 {
		t.Error(ran, l.Stats().QueueDepth)
	}
}

func TestThePressureHookIsCalledOnceUpAndOnceDown(t *testing.T) {
	type call struct{ queued, ran int }
	var calls []call
	ran := 0
	l := started(t, Config{PressureMark: 300, OnPressure: func(queued int) { calls = append(calls, call{queued, ran}) }})
	for range 2 {
		calls, ran = nil, 0
		release := busy(t, l)
		for range 299 {
			must(t, l.Submit(func() { ran++ }))
		}
		if l.state.Load()&urgent != 0 {
			t.Error("pressure below the mark")
		}
		for range 701 {
			must(t, l.Submit(func() { ran++ }))
		}
		release()
		settled(t, l)
		if len(calls) != 2 || calls[0] != (call{1000, 0}) || calls[1].queued > 150 || calls[1].ran < 850-chunkSize {
			t.Error(calls)
		}
	}
}

// Producers go on while the loop is about to tell that the queue has fallen: the hook is never left with a long queue
// and no further call, nor with the news of a rise when there is none any more.
func TestTheLastCallOfThePressureHookIsRight(t *testing.T) {
	const high = 1000
	l := made(t, Config{PressureMark: high, OnPressure: nop[int]})
	up, calls := false, 0
	l.config.OnPressure = func(queued int) {
		calls++
		if rise := queued > high/2; rise == up {
			t.Errorf("call %d: %d wait, as many as before", calls, queued)
		} else {
			up = rise
		}
	}
	refilled := 0
	var task func()
	task = func() {
		l.mu.Lock()
		falls := !l.pressed && l.told
		l.mu.Unlock()
		if falls && refilled < 3 {
			refilled++
			for range 300 {
				must(t, l.Submit(task))
			}
			if refilled == 2 {
				for range 400 {
					must(t, l.Submit(task)) // beyond the mark again
				}
			}
		}
	}
	for range high {
		must(t, l.Submit(task))
	}
	run(t, l)
	if up || calls != 2 || refilled != 3 {
		t.Error(calls, "calls,", refilled, "refills")
	}
}

func TestPressureIsSeenWhenStopRaisesTheQueueBeyondTheMark(t *testing.T) {
	calls := 0
	l := made(t, Config{PressureMark: 15, OnPressure: func(int) { calls++ }})
	must(t, l.Submit(func() {
		for range 9 {
			must(t, l.Submit(func() {}))
		}
		l.Stop()
	}))
	for range 9 {
		must(t, l.Submit(func() {}))
	}
	run(t, l) // 18 wait now
	must(t, l.Submit(func() {}))
	run(t, l)
	if calls != 2 {
		t.Error(calls, "calls")
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for name, config := range map[string]Config{
		"MaxQueue -1":               {MaxQueue: -1},
		"MaxQueue 1<<30+1":          {MaxQueue: 1<<30 + 1},
		"PressureMark 0":            {PressureMark: 0, OnPressure: nop[int]},
		"PressureMark MinInt":       {PressureMark: math.MinInt, OnPressure: nop[int]},
		"PressureMark 1<<30+1":      {PressureMark: 1<<30 + 1, OnPressure: nop[int]},
		"PressureMark without hook": {PressureMark: 1},
	} {
		if l, err := New(config); l != nil || !errors.Is(err, millrace.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, config := range []Config{{}, {MaxQueue: 1}, {MaxQueue: 1 << 30}, {PressureMark: 1, OnPressure: nop[int]}} {
		if _, err := New(config); err != nil {
			t.Error(err)
		}
	}
	if err := made(t).SubmitPriority(millrace.Low+1, func() {}); !errors.Is(err, millrace.ErrOption) {
		t.Error(err)
	}
}
