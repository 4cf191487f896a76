package eventloop_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dop251/goja"

	core "millrace.dev/go/eventloop"
	"millrace.dev/go/goja/eventloop"
)

func TestRunCallsItsFunctionBeforeWhatWaits(t *testing.T) {
	loop := eventloop.NewEventLoop()
	var log []string
	loop.RunOnLoop(func(*goja.Runtime) { log = append(log, "waited") })
	loop.SetTimeout(func(*goja.Runtime) { log = append(log, "due") }, 0)
	loop.Run(func(*goja.Runtime) {
		log = append(log, "first")
		if !loop.Loop().Inside() {
			t.Error("the function of Run is not inside the loop")
		}
	})
	slices.Sort(log[1:])
	equal(t, log, "first", "due", "waited")
}

func TestStopRunsWhatWaitedAndCountsTheRest(t *testing.T) {
	loop := eventloop.NewEventLoop()
	loop.Start()
	ran := 0
	for range 1000 {
		loop.RunOnLoop(func(*goja.Runtime) { ran++ })
	}
	loop.SetTimeout(func(*goja.Runtime) {}, time.Hour)
	loop.SetInterval(func(*goja.Runtime) {}, time.Hour)
	cleared := loop.SetTimeout(func(*goja.Runtime) {}, time.Hour)
	loop.ClearTimeout(cleared)
	loop.ClearTimeout(cleared)
	loop.ClearTimeout(nil)
	loop.ClearInterval(nil)
	if left := loop.Stop(); left != 2 || ran != 1000 {
		t.Fatalf("%d left, %d run", left, ran)
	}
	if left := loop.Stop(); left != 2 {
		t.Fatal("Stop of a loop that is stopped:", left)
	}
	loop.StopNoWait()
	loop.Terminate()
	loop.Terminate()
	if left := loop.Stop(); left != 0 {
		t.Fatal("left after Terminate:", left)
	}
}

func TestTimersSurviveStop(t *testing.T) {
	loop := eventloop.NewEventLoop()
	fired := 0
	loop.Run(func(*goja.Runtime) {
		loop.SetTimeout(func(*goja.Runtime) { fired++ }, 20*time.Millisecond)
		loop.StopNoWait()
	})
	loop.Run(func(*goja.Runtime) {})
	if fired != 1 {
		t.Fatalf("fired %d times", fired)
	}
}

func TestStopInsideDoesNotWait(t *testing.T) {
	loop := eventloop.NewEventLoop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		loop.StartInForeground()
	}()
	left := make(chan int)
	loop.RunOnLoop(func(vm *goja.Runtime) {
		_, _ = vm.RunString("setImmediate(() => {})")
		n := loop.Stop()
		go func() { left <- n }()
	})
	if n := <-left; n != 1 {
		t.Error("left:", n)
	}
	<-ended
}

func TestStartedTwicePanics(t *testing.T) {
	loop := eventloop.NewEventLoop()
	loop.Start()
	defer loop.Terminate()
	for _, start := range []func(){loop.Start, loop.StartInForeground, func() { loop.Run(func(*goja.Runtime) {}) }} {
		if value := panicOf(start); value != "Loop is already started" {
			t.Errorf("panic: %v", value)
		}
	}
}

func panicOf(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}

func TestGoPanicsLeaveRunAndTheLoopGoesOn(t *testing.T) {
	for name, code := range map[string]string{
		"at once": `boom()`, "timer": `setTimeout(boom, 1)`, "interval": `setInterval(boom, 1)`,
		"immediate": `setImmediate(() => boom())`, "microtask": `queueMicrotask(boom)`,
		"promise": `Promise.resolve().then(() => boom())`,
	} {
		for _, options := range [][]eventloop.Option{nil, {eventloop.WithNode()}} {
			loop := eventloop.NewEventLoop(options...)
			type special struct{ name string }
			value := panicOf(func() {
				loop.Run(func(vm *goja.Runtime) {
					_ = vm.Set("boom", func() { panic(special{name}) })
					_, _ = vm.RunString(`setTimeout(() => { later = true }, 2); ` + code)
				})
			})
			if value != (special{name}) {
				t.Errorf("%s: Run panicked with %v", name, value)
			}
			loop.RunOnLoop(func(vm *goja.Runtime) {
				_, _ = vm.RunString(`typeof interval === 'undefined' && (globalThis.again = true)`)
			})
			if name == "interval" {
				loop.Terminate()
				continue
			}
			loop.Run(func(*goja.Runtime) {})
			loop.Run(func(vm *goja.Runtime) {
				if vm.Get("later") == nil || vm.Get("again") == nil {
					t.Errorf("%s: what waited was lost", name)
				}
			})
		}
	}
}

func TestStartInForegroundLetsPanicsOut(t *testing.T) {
	loop := eventloop.NewEventLoop()
	for range 3 {
		loop.RunOnLoop(func(*goja.Runtime) { panic("native") })
		if value := panicOf(loop.StartInForeground); value != "native" {
			t.Fatal(value)
		}
	}
	if loop.Stop() != 0 {
		t.Fatal("Stop after a panic")
	}
}

// A Stop that a panic overtook is over with that run.
func TestStopDoesNotReachTheNextRun(t *testing.T) {
	loop := eventloop.NewEventLoop()
	value := panicOf(func() {
		loop.Run(func(*goja.Runtime) {
			loop.StopNoWait()
			panic("overtakes")
		})
	})
	if value != "overtakes" {
		t.Fatal(value)
	}
	fired := false
	loop.Run(func(*goja.Runtime) {
		loop.SetTimeout(func(*goja.Runtime) { fired = true }, time.Millisecond)
	})
	if !fired {
		t.Fatal("the next run was stopped")
	}
}

func TestPreciseTimersLeaveNoGoroutine(t *testing.T) {
	loop := eventloop.NewEventLoop(eventloop.WithLoopConfig(core.Config{PreciseTimers: true}))
	script(t, loop, `let n = 0; const i = setInterval(() => { if (++n > 3) clearInterval(i) }, 1)`)
	loop.Start()
	loop.SetTimeout(func(*goja.Runtime) {}, time.Hour)
	loop.Terminate()
}

func TestGoexitEndsTheRun(t *testing.T) {
	loop := eventloop.NewEventLoop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		loop.Run(func(*goja.Runtime) { runtime.Goexit() })
		t.Error("Run returned")
	}()
	<-ended
	ran := false
	loop.Run(func(*goja.Runtime) { ran = true })
	if !ran {
		t.Fatal("the loop cannot be run again")
	}
}

func TestTerminateRunsFunctionsThatWaitButNoTimers(t *testing.T) {
	loop := eventloop.NewEventLoop()
	var log []string
	loop.SetTimeout(func(*goja.Runtime) { log = append(log, "timer") }, 0)
	interval := loop.SetInterval(func(*goja.Runtime) { log = append(log, "interval") }, time.Microsecond)
	loop.RunOnLoop(func(vm *goja.Runtime) {
		log = append(log, "function")
		if loop.RunOnLoop(func(*goja.Runtime) {}) || loop.SetTimeout(func(*goja.Runtime) {}, 0) != nil {
			t.Error("work was accepted while terminating")
		}
		_, err := vm.RunString(`setTimeout(() => {}, 0); setImmediate(() => {}); setInterval(() => {}, 1)`)
		if err != nil {
			t.Error(err)
		}
	})
	loop.Terminate()
	loop.ClearInterval(interval)
	equal(t, log, "function")
	if loop.RunOnLoop(func(*goja.Runtime) {}) {
		t.Error("RunOnLoop was accepted by a loop that is terminated")
	}
	loop.Run(func(*goja.Runtime) {})
	equal(t, log, "function")
	if left := loop.Stop(); left != 0 {
		t.Error("left:", left)
	}
}

func TestTerminateInsidePanics(t *testing.T) {
	loop := eventloop.NewEventLoop()
	value := panicOf(func() { loop.Run(func(*goja.Runtime) { loop.Terminate() }) })
	if text, _ := value.(string); text == "" {
		t.Fatal(value)
	}
}

func TestNilFunctionsPanicAtTheCaller(t *testing.T) {
	loop := eventloop.NewEventLoop()
	for _, call := range []func(){
		func() { loop.RunOnLoop(nil) }, func() { loop.SetTimeout(nil, 0) }, func() { loop.SetInterval(nil, 0) },
	} {
		if panicOf(call) == nil {
			t.Error("no panic")
		}
	}
}

// 100 goroutines submit, set and clear timers while the loop is stopped, started and terminated again and again. What
// was accepted and what ran are counted: nothing may be lost, doubled, or run by two goroutines at once.
func TestSubmittersAgainstStopStartTerminate(t *testing.T) {
	loop := eventloop.NewEventLoop()
	var accepted, ran, refused atomic.Int64
	inside := 0 // guarded by the loop: the race detector tells if it is not
	count := func(*goja.Runtime) {
		inside++
		ran.Add(1)
	}
	done := make(chan struct{})
	var submitters sync.WaitGroup
	for range 100 {
		submitters.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if loop.RunOnLoop(count) {
					accepted.Add(1)
				} else {
					refused.Add(1)
				}
				if i%8 == 0 {
					loop.ClearTimeout(loop.SetTimeout(func(*goja.Runtime) {}, time.Microsecond))
					loop.ClearInterval(loop.SetInterval(func(*goja.Runtime) {}, time.Microsecond))
				}
				runtime.Gosched()
			}
		})
	}
	grows := func(n *atomic.Int64) {
		for before := n.Load(); n.Load() == before; {
			runtime.Gosched()
		}
	}
	for i := range 60 {
		loop.Start()
		ping := make(chan struct{})
		if loop.RunOnLoop(func(*goja.Runtime) { close(ping) }) {
			<-ping
		}
		grows(&accepted)
		if i%3 > 0 {
			loop.Stop()
			continue
		}
		loop.Terminate()
		grows(&refused)
	}
	close(done)
	submitters.Wait()
	loop.Run(func(*goja.Runtime) {})
	if left := loop.Stop(); left != 0 {
		t.Error("timers left:", left)
	}
	if accepted.Load() != ran.Load() || accepted.Load() == 0 || int64(inside) != ran.Load() {
		t.Fatalf("accepted %d, ran %d, counted %d, refused %d", accepted.Load(), ran.Load(), inside, refused.Load())
	}
}

func TestOptionsOfTheLoopUnderneath(t *testing.T) {
	if err, _ := panicOf(func() {
		eventloop.NewEventLoop(eventloop.WithLoopConfig(core.Config{MaxQueue: -1}))
	}).(error); err == nil {
		t.Fatal("a bad option went unnoticed")
	}
	loop := eventloop.NewEventLoop(eventloop.WithLoopConfig(core.Config{MaxQueue: 2}))
	accepted := 0
	for loop.RunOnLoop(func(*goja.Runtime) {}) {
		accepted++
	}
	if accepted != 2 {
		t.Fatal("accepted", accepted)
	}
	// Neither Run nor Stop depends on room in the queue.
	loop.Run(func(vm *goja.Runtime) {
		if _, err := vm.RunString(`for (;;) setImmediate(() => {})`); err == nil {
			t.Error("setImmediate beyond the bound did not throw")
		}
		loop.StopNoWait()
	})
	loop.Terminate()
}
