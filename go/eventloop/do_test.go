package eventloop

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/go"
)

func TestDoRunsInlineWhileTheLoopSleeps(t *testing.T) {
	l := started(t)
	me := gid()
	for range 100 {
		settled(t, l)
		ran := uintptr(0)
		do(t, l, func() { ran = gid() })
		if ran != me {
			t.Fatal("on another goroutine")
		}
	}
}

func TestDoQueuesWhileTheLoopIsBusy(t *testing.T) {
	l := started(t)
	release := busy(t, l)
	var d diary
	must(t, l.Submit(d.write("before")))
	done := make(chan struct{})
	go func() {
		defer close(done)
		me := gid()
		do(t, l, func() {
			d.note("do")
			if gid() == me {
				t.Error("on the caller's goroutine")
			}
		})
	}()
	until(l, func() bool { return l.queued() >= 2 })
	must(t, l.Submit(d.write("after")))
	release()
	<-done
	settled(t, l)
	d.expect(t, "before", "do", "after")
}

func TestDoOnALockedThreadNeverRunsOnTheCaller(t *testing.T) {
	l := started(t, Config{LockOSThread: true})
	me := gid()
	for range 50 {
		settled(t, l)
		do(t, l, func() {
			if gid() == me {
				t.Error("on the caller's goroutine")
			}
			do(t, l, func() {}) // inside: at once
		})
	}
}

func TestDoInsideRunsAtOnceAndLeavesMicrotasksAlone(t *testing.T) {
	l := started(t)
	for _, inline := range []bool{true, false} {
		var d diary
		task := func() {
			l.Microtask(d.write("micro"))
			do(t, l, func() {
				do(t, l, d.write("inner"))
				l.Microtask(d.write("micro of do"))
			})
			d.note("task")
		}
		if inline {
			settled(t, l)
			do(t, l, task)
		} else {
			must(t, l.Submit(task))
			settled(t, l)
		}
		d.expect(t, "inner", "task", "micro", "micro of do")
	}
}

func TestWhatAnInlineDoLeavesBehindIsRun(t *testing.T) {
	l := started(t)
	settled(t, l)
	var d diary
	do(t, l, func() {
		must(t, l.Submit(d.write("task")))
		must(t, l.SubmitPriority(millrace.High, d.write("high")))
		l.Immediate(d.write("immediate"))
		l.NextTick(d.write("tick"))
		l.After(0, d.write("timer"))
		d.note("do")
	})
	settled(t, l)
	// The ticks by this goroutine, before Do returned; the immediate ends the turn that fn was. When the timer has come
	// due is the clock's affair.
	d.lines = slices.DeleteFunc(d.lines, func(line string) bool { return line == "timer" })
	d.expect(t, "do", "tick", "high", "immediate", "task")
}

// Nothing else wakes the loop here.
func TestAnImmediateOfAnInlineDoWakesTheLoop(t *testing.T) {
	l := started(t)
	settled(t, l)
	ran := make(chan struct{})
	do(t, l, func() { l.Immediate(func() { close(ran) }) })
	<-ran
}

func TestMicrotasksThatAnInlineDoCouldNotRunWakeTheLoop(t *testing.T) {
	l := started(t, Config{OnError: func(error) { runtime.Goexit() }})
	settled(t, l)
	ran := make(chan struct{})
	go l.Do(context.Background(), func() {
		l.Microtask(func() { panic("for the handler, which ends the goroutine") })
		l.Microtask(func() { close(ran) })
	})
	<-ran
}

func TestDoThroughAnotherLoop(t *testing.T) {
	for _, locked := range []bool{false, true} {
		a, b := started(t), started(t, Config{LockOSThread: locked})
		settled(t, a)
		settled(t, b)
		var d diary
		me := gid()
		do(t, a, func() {
			do(t, b, func() {
				d.note("b in a")
				if gid() == me {
					do(t, a, d.write("a in b in a"))
				} else {
					d.note("a in b in a") // it would wait for itself
				}
			})
			d.note("a")
		})
		d.expect(t, "b in a", "a in b in a", "a")
	}
}

func TestTheContextOfDo(t *testing.T) {
	never := func() { t.Error("ran") }
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	l := started(t)
	if err := l.Do(ended, never); !errors.Is(err, context.Canceled) {
		t.Error("ended before:", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	ran := false
	must(t, l.Do(ctx, func() {
		cancel()
		ran = true
	}))
	if !ran {
		t.Error("what has begun is waited for")
	}

	ctx, cancel = context.WithCancel(context.Background())
	settled(t, l)
	release := busy(t, l)
	result := make(chan error)
	go func() { result <- l.Do(ctx, never) }()
	until(l, func() bool { return l.queued() > 0 })
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error("ended while it waited:", err)
	}
	// Begun, then ended.
	ctx, cancel = context.WithCancel(context.Background())
	begun, leave := make(chan struct{}), make(chan struct{})
	go func() {
		result <- l.Do(ctx, func() {
			close(begun)
			<-leave
		})
	}()
	until(l, func() bool { return l.queued() >= 2 })
	release()
	<-begun
	cancel()
	close(leave)
	must(t, <-result)
}

func TestDoWaitsForALoopThatIsStopped(t *testing.T) {
	l := made(t)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	go func() { result <- l.Do(ctx, func() {}) }()
	until(l, func() bool { return l.queued() > 0 })
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ran := false
	go func() { result <- l.Do(context.Background(), func() { ran = true }) }()
	until(l, func() bool { return l.queued() >= 2 })
	go l.Run(context.Background())
	must(t, <-result)
	if !ran {
		t.Error("returned before it ran")
	}
}

func TestDoWhenTheQueueIsFull(t *testing.T) {
	l := started(t, Config{MaxQueue: 1})
	release := busy(t, l)
	defer release()
	must(t, l.Submit(func() {}))
	if err := l.Do(context.Background(), func() { t.Error("ran") }); !errors.Is(err, millrace.ErrOverload) {
		t.Error(err)
	}
}

func TestDoOnAClosedLoop(t *testing.T) {
	l := started(t)
	l.Close(context.Background())
	if err := l.Do(context.Background(), func() { t.Error("ran") }); !errors.Is(err, millrace.ErrClosed) {
		t.Error(err)
	}
	do := cutShort(t)
	result := make(chan error)
	go func() { result <- do.Do(context.Background(), func() { t.Error("ran") }) }()
	until(do, func() bool { return do.queued() > 0 })
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	err, left := do.Close(ended), do.Left()
	if len(left) != 1 || !errors.Is(err, context.Canceled) {
		t.Error(left, err)
	}
	if err := <-result; !errors.Is(err, millrace.ErrClosed) {
		t.Error("left behind by Close:", err)
	}
	left[0]() // its caller has gone
}

func TestStopAndCloseInsideDo(t *testing.T) {
	l := started(t)
	for range 20 {
		settled(t, l)
		do(t, l, func() {
			l.Stop()
			must(t, l.Submit(func() {}))
		})
		l.Stop() // waits for the end that was asked for
		must(t, l.Start())
	}
	settled(t, l)
	ran := false
	do(t, l, func() {
		err, left := l.Close(context.Background()), l.Left()
		if left != nil || err != nil {
			t.Error(left, err)
		}
		if err := l.Submit(func() {}); !errors.Is(err, millrace.ErrClosed) {
			t.Error(err)
		}
		l.Microtask(func() { ran = true })
	})
	l.Close(context.Background())
	if !ran {
		t.Error("the microtask did not run")
	}
}

func TestPanicsComeBackFromDo(t *testing.T) {
	l := started(t, Config{OnError: func(err error) { t.Error("reported as well:", err) }})
	mine := errors.New("mine")
	for _, inline := range []bool{true, false} {
		release := func() {}
		if !inline {
			release = busy(t, l)
		}
		result := make(chan error)
		go func() { result <- l.Do(context.Background(), func() { panic(mine) }) }()
		if !inline {
			until(l, func() bool { return l.queued() > 0 })
		}
		release()
		err := <-result
		var failure *millrace.PanicError
		if !errors.As(err, &failure) || failure.Value != mine || !errors.Is(err, mine) || len(failure.Stack) == 0 {
			t.Error(err)
		}
		do(t, l, func() {
			// Inside, the task that asked goes on.
			if err := l.Do(context.Background(), func() { panic(mine) }); !errors.Is(err, mine) {
				t.Error(err)
			}
		})
		settled(t, l)
	}
}

func TestGoexitInDo(t *testing.T) {
	reports := make(chan error, 10)
	l := started(t, Config{OnError: func(err error) { reports <- err }})
	exits := func(fn func()) {
		t.Helper()
		settled(t, l)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			l.Do(context.Background(), fn)
			t.Error("Do returned")
		}()
		<-ended
		settled(t, l)
	}
	var d diary
	exits(func() {
		l.Microtask(d.write("micro"))
		runtime.Goexit()
	})
	if len(reports) != 0 {
		t.Error("its caller knows:", <-reports)
	}
	exits(func() {
		l.Microtask(runtime.Goexit)
		l.Microtask(d.write("micro 2"))
	})
	if err := <-reports; !errors.Is(err, millrace.ErrGoexit) {
		t.Error(err)
	}
	exits(func() {
		l.Microtask(d.write("micro 3"))
		l.Microtask(runtime.Goexit)
		runtime.Goexit()
	})
	if err := <-reports; !errors.Is(err, millrace.ErrGoexit) {
		t.Error(err)
	}
	d.expect(t, "micro", "micro 2", "micro 3")

	// Queued, it ends the loop's goroutine, and its caller hears of it.
	release := busy(t, l)
	result := make(chan error)
	go func() { result <- l.Do(context.Background(), runtime.Goexit) }()
	until(l, func() bool { return l.queued() > 0 })
	release()
	if err := <-result; !errors.Is(err, millrace.ErrGoexit) {
		t.Error(err)
	}
	if err := <-reports; !errors.Is(err, millrace.ErrGoexit) {
		t.Error(err)
	}
	settled(t, l)
	do(t, l, func() {})
}

func TestAFailingMicrotaskOfAnInlineDoIsReported(t *testing.T) {
	var reported []error
	l := started(t, Config{OnError: func(err error) { reported = append(reported, err) }})
	settled(t, l)
	var d diary
	do(t, l, func() {
		l.Microtask(func() { panic("micro") })
		l.Microtask(d.write("next"))
	})
	d.expect(t, "next")
	if len(reported) != 1 {
		t.Error(reported)
	}
}

// Channels that were made in a bubble must not leave it.
func TestDoInATestOfTime(t *testing.T) {
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			l := started(t)
			release := busy(t, l)
			time.AfterFunc(time.Second, release)
			do(t, l, func() {})
		})
		l := started(t)
		release := busy(t, l)
		result := make(chan error)
		go func() { result <- l.Do(context.Background(), func() {}) }()
		until(l, func() bool { return l.queued() > 0 })
		release()
		must(t, <-result)
	}
}
