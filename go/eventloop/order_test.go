package eventloop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"millrace.dev/go"
)

func TestTasksRunInTheOrderOfSubmission(t *testing.T) {
	l := made(t)
	var got []int
	const n = 5*chunkSize + 3
	for i := range n {
		if i%10 == 7 {
			taken, err := l.SubmitBatch([]func(){func() { got = append(got, i) }})
			if taken != 1 || err != nil {
				t.Fatal(taken, err)
			}
			continue
		}
		must(t, l.Submit(func() { got = append(got, i) }))
	}
	run(t, l)
	if len(got) != n {
		t.Fatalf("%d tasks ran, not %d", len(got), n)
	}
	for i, task := range got {
		if task != i {
			t.Fatalf("task %d ran as number %d", task, i)
		}
	}
}

func TestSubmitNeverRunsTheTask(t *testing.T) {
	l := made(t)
	var d diary
	must(t, l.Submit(func() {
		must(t, l.Submit(d.write("submitted")))
		must(t, l.SubmitPriority(millrace.High, d.write("high")))
		d.note("task")
	}))
	run(t, l)
	d.expect(t, "task", "high", "submitted")
}

func TestHighTasksRunBetweenTwoTasksOfABatch(t *testing.T) {
	l := made(t)
	var d diary
	taken, err := l.SubmitBatch([]func(){
		func() {
			d.note("1")
			must(t, l.SubmitPriority(millrace.High, d.write("high 1")))
			must(t, l.SubmitPriority(millrace.High, d.write("high 2")))
		},
		d.write("2"),
		d.write("3"),
	})
	if taken != 3 || err != nil {
		t.Fatal(taken, err)
	}
	must(t, l.SubmitPriority(millrace.High, d.write("high 0")))
	run(t, l)
	d.expect(t, "high 0", "1", "high 1", "high 2", "2", "3")
}

func TestLowTasksGetOneTurnForEightOfNormal(t *testing.T) {
	l := made(t)
	var order strings.Builder
	for range 4 {
		must(t, l.SubmitPriority(millrace.Low, func() { order.WriteByte('l') }))
	}
	for range 20 {
		must(t, l.Submit(func() { order.WriteByte('N') }))
	}
	run(t, l)
	if want := "NNNNNNNNlNNNNNNNNlNNNNll"; order.String() != want {
		t.Errorf("got %s, want %s", order.String(), want)
	}
}

func TestOnlyWhileLowTasksWaitNormalOnesAreCounted(t *testing.T) {
	l := made(t)
	must(t, l.SubmitPriority(millrace.Low, func() {}))
	run(t, l)
	for range 5 {
		must(t, l.Submit(func() {}))
	}
	run(t, l)
	var order strings.Builder
	must(t, l.SubmitPriority(millrace.Low, func() { order.WriteByte('l') }))
	for range 10 {
		must(t, l.Submit(func() { order.WriteByte('N') }))
	}
	run(t, l)
	if want := "NNNNNNNNlNN"; order.String() != want {
		t.Errorf("got %s, want %s", order.String(), want)
	}
}

// Each NORMAL task submits the next one, so that there is never more than one of them in a turn.
func TestTheShareOfLowTasksHoldsAcrossTurns(t *testing.T) {
	l := made(t)
	var order strings.Builder
	for range 300 {
		must(t, l.SubmitPriority(millrace.Low, func() { order.WriteByte('l') }))
	}
	left := 26
	var next func()
	next = func() {
		order.WriteByte('N')
		if left--; left > 0 {
			must(t, l.Submit(next))
		}
	}
	must(t, l.Submit(next))
	run(t, l)
	want := strings.Repeat("NNNNNNNNl", 3) + "NN" + strings.Repeat("l", 297)
	if order.String() != want {
		t.Errorf("got  %s\nwant %s", order.String(), want)
	}
}

func TestMicrotasksRunBetweenTwoTasks(t *testing.T) {
	l := made(t)
	var d diary
	must(t, l.Submit(func() {
		d.note("task")
		l.Microtask(func() {
			d.note("micro 1")
			l.NextTick(d.write("tick 2"))
			l.Microtask(d.write("micro 3"))
		})
		l.Microtask(d.write("micro 2"))
		l.NextTick(func() {
			d.note("tick 1")
			l.NextTick(d.write("tick 1b"))
		})
		l.Do(context.Background(), d.write("do"))
	}))
	must(t, l.Submit(d.write("next task")))
	run(t, l)
	// As in Node.js: the ticks that microtasks ask for wait until the microtasks have run.
	d.expect(t, "task", "do", "tick 1", "tick 1b", "micro 1", "micro 2", "micro 3", "tick 2", "next task")
}

func TestMicrotasksFollowEveryKindOfTask(t *testing.T) {
	l := made(t, Config{PressureMark: 6, OnPressure: nop[int]})
	var d diary
	l.config.OnPressure = func(int) {
		d.note("pressure")
		l.Microtask(d.write("micro of pressure"))
	}
	task := func(name string) func() {
		return func() {
			d.note(name)
			l.Microtask(d.write("micro of " + name))
		}
	}
	for i := range 2 {
		must(t, l.SubmitPriority(millrace.High, task(fmt.Sprint("high ", i))))
	}
	must(t, l.Submit(func() {
		task("task")()
		l.Immediate(task("immediate 1"))
		l.Immediate(task("immediate 2"))
		l.After(0, task("timer 1"))
		l.After(0, task("timer 2"))
	}))
	must(t, l.SubmitPriority(millrace.Low, task("low 1")))
	must(t, l.SubmitPriority(millrace.Low, task("low 2")))
	must(t, l.Submit(task("last")))
	run(t, l)
	for i, line := range d.lines {
		if name, micro := strings.CutPrefix(line, "micro of "); micro && d.lines[i-1] != name {
			t.Errorf("%q came after %q", line, d.lines[i-1])
		}
	}
	if len(d.lines) != 24 { // pressure is told of twice
		t.Error(len(d.lines), d.lines)
	}
}

func nop[T any](T) {}

func TestImmediatesEndTheTurn(t *testing.T) {
	l := made(t)
	var d diary
	must(t, l.Submit(func() {
		d.note("1")
		l.Immediate(func() {
			d.note("immediate 1")
			l.Immediate(d.write("immediate of the next turn"))
			must(t, l.Submit(d.write("task of an immediate")))
		})
		stopped, err := l.Immediate(d.write("never"))
		must(t, err)
		second, err := l.Immediate(d.write("immediate 2"))
		must(t, err)
		l.Immediate(func() {
			d.note("immediate 3")
			if second.Stop() {
				t.Error("Stop of one that has run")
			}
		})
		if !stopped.Stop() || stopped.Stop() {
			t.Error("Stop is true once")
		}
		must(t, l.Submit(d.write("3")))
	}))
	must(t, l.Submit(d.write("2")))
	var immediate *Immediate
	must(t, l.Submit(func() { immediate, _ = l.Immediate(d.write("last")) }))
	l.config.OnError = func(err error) { t.Error(err) }
	run(t, l)
	if immediate.Stop() {
		t.Error("Stop of one that has run, outside the loop")
	}
	d.expect(t, "1", "2", "immediate 1", "immediate 2", "immediate 3", "last", "3", "task of an immediate",
		"immediate of the next turn")
}

func TestAnImmediateTakenBackByAnotherDoesNotRun(t *testing.T) {
	l := made(t)
	var d diary
	must(t, l.Submit(func() {
		var second *Immediate
		l.Immediate(func() {
			d.note("first")
			if !second.Stop() {
				t.Error("it had not run yet")
			}
		})
		second, _ = l.Immediate(d.write("second"))
	}))
	run(t, l)
	d.expect(t, "first")
}

func TestWhatBelongsToTheCurrentTaskIsRefusedElsewhere(t *testing.T) {
	l := started(t)
	release := busy(t, l)
	defer release()
	fn := func() { t.Error("ran") }
	_, immediate := l.Immediate(fn)
	for name, err := range map[string]error{
		"Microtask": l.Microtask(fn), "NextTick": l.NextTick(fn), "Immediate": immediate,
	} {
		if !errors.Is(err, ErrOutside) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNilFunctionsAreRefused(t *testing.T) {
	l := started(t)
	do(t, l, func() {
		_, immediate := l.Immediate(nil)
		_, after := l.After(0, nil)
		_, every := l.Every(1e6, nil)
		handle, err := l.KeepAlive()
		must(t, err)
		defer handle.Release()
		for name, err := range map[string]error{
			"Submit": l.Submit(nil), "SubmitPriority": l.SubmitPriority(millrace.High, nil),
			"Do": l.Do(context.Background(), nil), "Microtask": l.Microtask(nil), "NextTick": l.NextTick(nil),
			"Immediate": immediate, "After": after, "Every": every, "Complete": handle.Complete(nil),
		} {
			if !errors.Is(err, ErrNilTask) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	var d diary
	n, err := l.SubmitBatch([]func(){d.write("1"), d.write("2"), nil, d.write("4")})
	if n != 2 || !errors.Is(err, ErrNilTask) {
		t.Error(n, err)
	}
	settled(t, l)
	d.expect(t, "1", "2")
}

func TestInsideIsTrueWhereverTheLoopRuns(t *testing.T) {
	l, other := started(t, Config{PressureMark: 1, OnPressure: nop[int]}), started(t)
	asked := 0
	inside := func() {
		asked++
		if !l.Inside() || other.Inside() {
			t.Error("outside, or inside the wrong loop")
		}
	}
	l.config.OnPressure = func(int) { inside() }
	l.config.OnError = func(error) { inside() }
	ended := make(chan struct{})
	must(t, l.Submit(func() {
		inside()
		l.Microtask(inside)
		l.NextTick(inside)
		l.Immediate(inside)
		l.After(0, inside)
		l.Do(context.Background(), inside)
		must(t, l.SubmitPriority(millrace.High, inside))
		go func() {
			defer close(ended)
			if l.Inside() {
				t.Error("a goroutine that a task has started is inside")
			}
		}()
		<-ended
		panic("for the error handler")
	}))
	settled(t, other)
	settled(t, l)
	do(t, l, func() {
		inside()
		l.Microtask(inside)
		if other.Do(context.Background(), func() {
			asked++
			if !l.Inside() || !other.Inside() {
				t.Error("in both")
			}
		}) != nil || other.Inside() {
			t.Error("still inside")
		}
	})
	settled(t, l)
	if l.Inside() {
		t.Error("outside")
	}
	l.Stop()
	if l.Inside() {
		t.Error("stopped")
	}
	do(t, other, func() {}) // other still works
	if asked < 11 {
		t.Error("asked", asked, "times")
	}
}
