package eventloop

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/go"
)

func TestRunEndsWhenNothingKeepsTheLoopAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		run(t, l) // at once

		var d diary
		must(t, l.Submit(d.write("task")))
		_, err := l.After(time.Hour, d.write("timer"))
		must(t, err)
		weak, err := l.Every(time.Minute, func() {})
		must(t, err)
		weak.Unref()
		began := time.Now()
		run(t, l)
		if passed := time.Since(began); passed != time.Hour {
			t.Error("ended after", passed)
		}
		d.expect(t, "task", "timer")

		handle, err := l.KeepAlive()
		must(t, err)
		go func() {
			time.Sleep(time.Minute)
			must(t, handle.Complete(func() {
				second, err := l.KeepAlive()
				must(t, err)
				d.note("complete")
				time.AfterFunc(time.Minute, second.Release)
			}))
		}()
		began = time.Now()
		run(t, l)
		if passed := time.Since(began); passed != 2*time.Minute {
			t.Error("ended after", passed)
		}
		d.expect(t, "task", "timer", "complete")
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	l := made(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var d diary
	must(t, l.Submit(d.write("1")))
	if err := l.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.expect(t)

	handle, err := l.KeepAlive()
	must(t, err)
	defer handle.Release()
	ctx, cancel = context.WithCancel(context.Background())
	must(t, l.Submit(cancel))
	if err := l.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.expect(t, "1")
	if !l.Alive() {
		t.Error("the handle is there still")
	}
}

func TestStopInsideEndsRunAfterTheTask(t *testing.T) {
	l := made(t)
	var d diary
	n, err := l.SubmitBatch([]func(){
		func() {
			d.note("1")
			l.Microtask(d.write("micro"))
			l.Immediate(d.write("immediate"))
			l.Stop()
			l.Stop()
			must(t, l.SubmitPriority(millrace.High, d.write("high")))
			must(t, l.Submit(d.write("3")))
			d.note("1 ends")
		},
		d.write("2"),
	})
	if n != 2 || err != nil {
		t.Fatal(n, err)
	}
	run(t, l)
	d.expect(t, "1", "1 ends")
	if !l.Alive() {
		t.Error("things wait")
	}
	l.Stop() // nothing runs
	run(t, l)
	d.expect(t, "1", "1 ends", "micro", "high", "2", "immediate", "3")
	if l.Alive() {
		t.Error("nothing waits")
	}
}

func TestStopInEveryKindOfTaskLosesNothing(t *testing.T) {
	l := made(t)
	var d diary
	stop := func(name string) func() {
		return func() {
			d.note(name)
			l.Stop()
		}
	}
	must(t, l.Submit(func() {
		l.NextTick(stop("tick 1"))
		l.NextTick(d.write("tick 2"))
		l.Microtask(stop("micro 1"))
		l.Microtask(d.write("micro 2"))
		l.Immediate(stop("immediate 1"))
		l.Immediate(d.write("immediate 2"))
		l.After(0, stop("timer 1"))
		l.After(0, d.write("timer 2"))
		must(t, l.SubmitPriority(millrace.High, stop("high 1")))
		must(t, l.SubmitPriority(millrace.High, d.write("high 2")))
		must(t, l.Submit(stop("task 1")))
		must(t, l.Submit(d.write("task 2")))
	}))
	runs := 0
	for l.Alive() {
		runs++
		run(t, l)
	}
	// The timers have come due by the second run, which looks for them before anything else but HIGH tasks.
	d.expect(t, "tick 1", "tick 2", "micro 1", "micro 2", "high 1", "high 2", "timer 1", "timer 2", "immediate 1",
		"immediate 2", "task 1", "task 2")
	if runs != 7 {
		t.Error(runs, "runs")
	}
}

func TestStopEndsEndlessMicrotasks(t *testing.T) {
	for name, how := range map[string]func(*Loop, func()) error{"micro": (*Loop).Microtask, "tick": (*Loop).NextTick} {
		t.Run(name, func(t *testing.T) {
			l := started(t)
			going, again := make(chan struct{}), true
			var once sync.Once
			var next func()
			next = func() {
				once.Do(func() { close(going) })
				if again {
					how(l, next)
				}
			}
			must(t, l.Submit(next))
			<-going
			l.Stop()
			if !l.Alive() {
				t.Error("a microtask waits")
			}
			again = false
			must(t, l.Start())
			settled(t, l)
		})
	}
}

func TestStopFromManyGoroutines(t *testing.T) {
	l := started(t)
	n := 0
	for range 50 {
		var stops sync.WaitGroup
		release := busy(t, l)
		for range 10 {
			stops.Go(l.Stop)
		}
		release()
		stops.Wait()
		n++ // a race if the loop were still running
		must(t, l.Submit(func() { n++ }))
		must(t, l.Start())
	}
	settled(t, l)
	do(t, l, func() {
		if n != 100 {
			t.Error(n)
		}
	})
}

func TestStopDoesNotReachTheNextRun(t *testing.T) {
	l := made(t)
	for range 200 {
		must(t, l.Start())
		var stops sync.WaitGroup
		stops.Go(l.Stop)
		stops.Go(l.Stop)
		stops.Wait()
		must(t, l.Start())
		done := make(chan struct{})
		must(t, l.Submit(func() { close(done) }))
		<-done
		l.Stop()
	}
}

func TestALoopRunsOnce(t *testing.T) {
	l := started(t)
	if err := l.Start(); !errors.Is(err, ErrRunning) {
		t.Error(err)
	}
	if err := l.Run(context.Background()); !errors.Is(err, ErrRunning) {
		t.Error(err)
	}
	do(t, l, func() {
		if err := l.Run(context.Background()); !errors.Is(err, ErrRunning) {
			t.Error(err)
		}
	})
	l.Stop()
	run(t, l)
	must(t, l.Start())
}

func TestStartGoesOnWithNothingToDo(t *testing.T) {
	l := started(t)
	for range 3 {
		settled(t, l)
		if l.Alive() {
			t.Error("nothing is left to do")
		}
		do(t, l, func() {
			if l.Alive() {
				t.Error("a task does not count itself")
			}
			l.Microtask(func() {})
			if !l.Alive() {
				t.Error("a microtask is something to do")
			}
		})
	}
	release := busy(t, l)
	if !l.Alive() {
		t.Error("a task runs")
	}
	release()
}

func TestAliveSeesEverythingThatWaits(t *testing.T) {
	l := made(t)
	check := func(want bool) {
		t.Helper()
		if l.Alive() != want {
			t.Error("alive:", !want)
		}
	}
	check(false)
	handle, err := l.KeepAlive()
	must(t, err)
	check(true)
	handle.Release()
	handle.Release()
	check(false)
	timer, err := l.After(time.Hour, func() {})
	must(t, err)
	check(true)
	timer.Unref()
	run(t, l) // sees to what was asked for while it was stopped
	check(false)
	timer.Ref()
	check(true)
	timer.Stop()
	run(t, l)
	check(false)
	must(t, l.SubmitPriority(millrace.Low, func() { check(false) }))
	check(true)
	must(t, l.Submit(func() {
		check(true) // the other
		immediate, err := l.Immediate(func() {})
		must(t, err)
		check(true)
		immediate.Stop()
	}))
	run(t, l)
	check(false)
}

func TestTheEndOfOneTimerDoesNotHideAnother(t *testing.T) {
	l := made(t)
	handle, err := l.KeepAlive()
	must(t, err)
	timer, err := l.After(time.Hour, func() {})
	must(t, err)
	timer.Stop()
	ended := make(chan error, 1)
	go func() { ended <- l.Run(context.Background()) }()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 20_000 {
				timer.Reset(time.Hour)
				timer.Stop()
				if l.live.Load() < 1 {
					t.Error("the handle is not counted")
					return
				}
			}
		})
	}
	both.Wait()
	select {
	case <-ended:
		t.Error("Run ended although a handle keeps the loop alive")
	default:
	}
	handle.Release()
	must(t, <-ended)
	if live := l.Stats().Live; live != 0 {
		t.Error(live, "live")
	}
}

func TestAResetFromOutsideIsNotLostWhenTheTimerFires(t *testing.T) {
	l := started(t)
	fired := make(chan struct{}, 1)
	timer, err := l.After(time.Hour, func() {
		select {
		case fired <- struct{}{}:
		default:
		}
	})
	must(t, err)
	for i := range 3000 {
		timer.Reset(0)
		for range i % 50 {
			runtime.Gosched()
		}
		select {
		case <-fired:
		default:
		}
		// Whether it has fired by now or not, it has to once more.
		timer.Reset(0)
		<-fired
	}
}

func TestATimerThatIsMovedDoesNotFireAtItsOldTime(t *testing.T) {
	l := started(t)
	release := busy(t, l)
	count := 0
	timer, err := l.After(0, func() { count++ })
	must(t, err)
	stopped, err := l.After(0, func() { t.Error("stopped") })
	must(t, err)
	// In one task: the first is due when the second stops and moves the others.
	must(t, l.SubmitPriority(millrace.High, func() {
		other := make(chan struct{})
		go func() {
			defer close(other)
			timer.Reset(time.Hour)
			stopped.Stop()
		}()
		<-other
	}))
	release()
	settledTasks := make(chan struct{})
	must(t, l.Submit(func() { close(settledTasks) }))
	<-settledTasks
	do(t, l, func() {
		if count != 0 {
			t.Error("fired")
		}
	})
	if !timer.Stop() || stopped.Stop() {
		t.Error("one was active, the other not")
	}
}

func TestAHandleIsLetGoOnce(t *testing.T) {
	l := started(t, Config{MaxQueue: 1})
	handle, err := l.KeepAlive()
	must(t, err)
	release := busy(t, l)
	must(t, l.Submit(func() {}))
	ran := false
	if err := handle.Complete(func() { ran = true }); !errors.Is(err, millrace.ErrOverload) {
		t.Error(err)
	}
	if l.Stats().Live != 1 {
		t.Error("after ErrOverload the handle stays")
	}
	release()
	for errors.Is(handle.Complete(func() { ran = true }), millrace.ErrOverload) {
		runtime.Gosched()
	}
	if err := handle.Complete(func() {}); !errors.Is(err, ErrReleased) {
		t.Error(err)
	}
	handle.Release()
	settled(t, l)
	do(t, l, func() {
		if !ran || l.Stats().Live != 0 {
			t.Error(ran, l.Stats().Live)
		}
	})
}

// Release must not be lost while a Complete is being refused.
func TestReleaseDuringAnOverloadedComplete(t *testing.T) {
	l := started(t, Config{MaxQueue: 1})
	release := busy(t, l)
	must(t, l.Submit(func() {}))
	for range 2000 {
		handle, err := l.KeepAlive()
		must(t, err)
		var both sync.WaitGroup
		both.Go(func() { handle.Complete(func() {}) })
		both.Go(handle.Release)
		both.Wait()
		if live := l.Stats().Live; live != 0 {
			t.Fatal(live, "live")
		}
	}
	release()
}

func TestDrainWaits(t *testing.T) {
	l := made(t)
	handle, err := l.KeepAlive()
	must(t, err)
	var waiting sync.WaitGroup
	ran := 0
	must(t, l.Submit(func() { ran++ }))
	for range 5 {
		waiting.Go(func() {
			must(t, l.Drain(context.Background()))
			if ran != 2 {
				t.Error("not drained")
			}
		})
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Drain(gone); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	until(l, func() bool { return len(l.drains) == 5 })
	must(t, l.Start())
	must(t, handle.Complete(func() {
		ran++
		if err := l.Drain(context.Background()); !errors.Is(err, ErrInside) {
			t.Error(err)
		}
	}))
	waiting.Wait()
	must(t, l.Drain(context.Background()))
	l.Stop()
	must(t, l.Drain(context.Background())) // nothing waits in a stopped loop either
}

func TestDrainOutlivesStopAndRunAgain(t *testing.T) {
	l := made(t)
	drained := make(chan error, 1)
	must(t, l.Submit(l.Stop))
	must(t, l.Submit(func() {}))
	go func() { drained <- l.Drain(context.Background()) }()
	until(l, func() bool { return len(l.drains) == 1 })
	run(t, l)
	select {
	case err := <-drained:
		t.Fatal("a task waits", err)
	default:
	}
	run(t, l)
	must(t, <-drained)
}

func TestDrainIsToldWhenTheLoopStopsWithNothingLeft(t *testing.T) {
	l := started(t)
	release := busy(t, l)
	drained := make(chan error, 1)
	go func() { drained <- l.Drain(context.Background()) }()
	until(l, func() bool { return len(l.drains) == 1 })
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		l.Stop()
	}()
	until(l, func() bool { return l.ending == endNow })
	release()
	<-stopped
	must(t, <-drained)
}

func TestDrainIsToldWhenTheLastHandleOfAStoppedLoopIsLetGo(t *testing.T) {
	l := made(t)
	run(t, l)
	for range 3 {
		first, err := l.KeepAlive()
		must(t, err)
		last, err := l.KeepAlive()
		must(t, err)
		drained := make(chan error, 1)
		go func() { drained <- l.Drain(context.Background()) }()
		until(l, func() bool { return len(l.drains) == 1 })
		first.Release()
		select {
		case err := <-drained:
			t.Fatal("a handle is left", err)
		default:
		}
		last.Release()
		must(t, <-drained)
	}
}

// The last handle goes while the loop stops: whoever is later tells.
func TestDrainIsToldWhoeverComesLast(t *testing.T) {
	l := made(t)
	for range 500 {
		must(t, l.Start())
		handle, err := l.KeepAlive()
		must(t, err)
		drained := make(chan error, 1)
		go func() { drained <- l.Drain(context.Background()) }()
		until(l, func() bool { return len(l.drains) == 1 })
		go handle.Release()
		l.Stop()
		must(t, <-drained)
	}
}

func TestALockedLoopKeepsItsGoroutine(t *testing.T) {
	const ends = 5
	for name, begin := range map[string]func(*Loop){
		"Start": func(l *Loop) { l.Start() },
		"Run":   func(l *Loop) { go l.Run(context.Background()) },
		"Close": func(l *Loop) { go l.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			l := made(t, Config{LockOSThread: true, OnError: nop[error]})
			threads := map[uintptr]int{}
			done := make(chan struct{})
			for range ends {
				must(t, l.Submit(func() {
					threads[gid()]++
					runtime.Goexit()
				}))
			}
			must(t, l.Submit(func() {
				threads[gid()]++
				close(done)
			}))
			begin(l)
			<-done
			if len(threads) != 1 {
				t.Errorf("%d goroutines for %d tasks", len(threads), ends+1)
			}
		})
	}
}

// Panics are caught as ever while the loop goes on in what runtime.Goexit has left to be done.
func TestRunGoesOnAfterGoexit(t *testing.T) {
	var told []error
	l := made(t, Config{OnError: func(err error) { told = append(told, err) }})
	for range 3 {
		must(t, l.Submit(runtime.Goexit))
		must(t, l.Submit(func() { panic("a panic") }))
	}
	ran, returned, ended := false, false, make(chan struct{})
	must(t, l.Submit(func() { ran = true }))
	go func() {
		defer close(ended)
		l.Run(context.Background())
		returned = true
	}()
	<-ended
	if !ran || returned || len(told) != 6 {
		t.Error(ran, returned, told)
	}
	for i, err := range told {
		var panicked *millrace.PanicError
		if errors.Is(err, millrace.ErrGoexit) != (i%2 == 0) || errors.As(err, &panicked) != (i%2 == 1) {
			t.Error(i, err)
		}
	}
}
