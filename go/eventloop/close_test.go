package eventloop

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/go"
)

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestCloseRunsWhatWaits(t *testing.T) {
	for _, how := range []string{"stopped", "started", "busy"} {
		t.Run(how, func(t *testing.T) {
			l := made(t)
			release := func() {}
			if how != "stopped" {
				must(t, l.Start())
			}
			if how == "busy" {
				release = busy(t, l)
			}
			ran := 0
			for i := range 1000 {
				must(t, l.SubmitPriority(millrace.Priority(i%4), func() {
					l.Microtask(func() { ran++ })
				}))
			}
			must(t, l.Submit(func() {
				if _, err := l.Immediate(func() { ran++ }); err != nil && !errors.Is(err, millrace.ErrClosed) {
					t.Error(err)
				} else if err != nil {
					ran++
				}
			}))
			l.After(time.Hour, func() { t.Error("timers are let go") })
			handle, err := l.KeepAlive()
			must(t, err)
			time.AfterFunc(time.Millisecond, release)
			err, left := l.Close(context.Background()), l.Left()
			if len(left) != 0 || err != nil || ran != 1001 {
				t.Error(len(left), err, ran)
			}
			if l.Alive() {
				t.Error("alive")
			}
			if err := handle.Complete(func() {}); !errors.Is(err, millrace.ErrClosed) {
				t.Error(err)
			}
			must(t, l.Drain(context.Background()))
			if err, left := l.Close(cancelled()), l.Left(); left != nil || err != nil {
				t.Error("again:", left, err)
			}
		})
	}
}

func TestAClosedLoopRefusesEverything(t *testing.T) {
	l := started(t)
	timer, err := l.After(time.Hour, func() {})
	must(t, err)
	do(t, l, func() {
		l.Close(context.Background())
		l.Microtask(func() {
			// The order to let go is seen to before the next task at the latest.
			if err := l.Submit(func() {}); !errors.Is(err, millrace.ErrClosed) {
				t.Error(err)
			}
		})
	})
	l.Close(context.Background())
	fn := func() { t.Error("ran") }
	_, after := l.After(0, fn)
	_, every := l.Every(time.Hour, fn)
	_, keep := l.KeepAlive()
	n, batch := l.SubmitBatch([]func(){fn, fn})
	for name, err := range map[string]error{
		"Submit": l.Submit(fn), "SubmitPriority": l.SubmitPriority(millrace.High, fn), "SubmitBatch": batch,
		"Do": l.Do(context.Background(), fn), "After": after, "Every": every, "KeepAlive": keep,
		"Reset": timer.Reset(0), "Run": l.Run(context.Background()), "Start": l.Start(),
	} {
		if !errors.Is(err, millrace.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n != 0 || l.Stats().RefusedTotal != 6 {
		t.Error(n, l.Stats().RefusedTotal)
	}
	timer.Stop()
	l.Stop()
}

func TestImmediatesAreRefusedWhileTheLoopCloses(t *testing.T) {
	l := started(t)
	release := busy(t, l)
	rounds := 0
	var again func()
	again = func() {
		rounds++
		if _, err := l.Immediate(again); err != nil && !errors.Is(err, millrace.ErrClosed) {
			t.Error(err)
		}
	}
	must(t, l.Submit(again))
	release()
	err, left := l.Close(context.Background()), l.Left() // would never end otherwise
	if len(left) != 0 || err != nil || rounds == 0 {
		t.Error(len(left), err, rounds)
	}
}

func TestCloseReturnsWhatItDidNotRun(t *testing.T) {
	l := cutShort(t)
	var d diary
	must(t, l.Submit(func() {
		d.note("1")
		l.Immediate(d.write("immediate"))
		l.Microtask(d.write("micro"))
		l.NextTick(d.write("tick"))
		l.Stop()
	}))
	must(t, l.SubmitPriority(millrace.Low, d.write("low")))
	must(t, l.Submit(d.write("2")))
	run(t, l)
	must(t, l.Submit(d.write("3")))
	must(t, l.SubmitPriority(millrace.High, d.write("high")))
	err, left := l.Close(cancelled()), l.Left()
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.expect(t, "1")
	for _, task := range left {
		task()
	}
	d.expect(t, "1", "tick", "micro", "high", "2", "3", "low", "immediate")
	if err, left := l.Close(context.Background()), l.Left(); left != nil || !errors.Is(err, millrace.ErrClosed) {
		t.Error("again:", left, err)
	}
	if err := l.Drain(context.Background()); !errors.Is(err, millrace.ErrClosed) {
		t.Error(err)
	}
}

func TestTheEndOfTheContextEndsClose(t *testing.T) {
	l := cutShort(t)
	must(t, l.Start())
	release := busy(t, l)
	ran := 0
	for range 10 {
		must(t, l.Submit(func() { ran++ }))
	}
	drained := make(chan error, 1)
	go func() { drained <- l.Drain(context.Background()) }()
	until(l, func() bool { return len(l.drains) == 1 })
	ctx, cancel := context.WithCancel(context.Background())
	var closing sync.WaitGroup
	closing.Go(func() {
		err, left := l.Close(ctx), l.Left()
		if len(left) != 10 || !errors.Is(err, context.Canceled) {
			t.Error(len(left), err)
		}
	})
	until(l, func() bool { return l.closed.Load() })
	cancel()
	until(l, func() bool { return l.ending == endNow })
	release()
	closing.Wait()
	if err := <-drained; !errors.Is(err, millrace.ErrClosed) {
		t.Error("not everything was run:", err)
	}
}

func TestCloseEndsEndlessMicrotasks(t *testing.T) {
	l := cutShort(t)
	must(t, l.Start())
	going := make(chan struct{})
	var once sync.Once
	var next func()
	next = func() {
		once.Do(func() { close(going) })
		l.Microtask(next)
	}
	must(t, l.Submit(next))
	<-going
	err, left := l.Close(cancelled()), l.Left()
	if len(left) != 1 || !errors.Is(err, context.Canceled) {
		t.Error(len(left), err)
	}
}

func TestCloseInsideRunsTheRestAndEndsRun(t *testing.T) {
	l := made(t)
	var d diary
	_, err := l.KeepAlive()
	must(t, err)
	must(t, l.Submit(func() {
		err, left := l.Close(context.Background()), l.Left()
		if left != nil || err != nil {
			t.Error(left, err)
		}
		l.Stop() // Close has set the end
		d.note("1")
	}))
	must(t, l.Submit(d.write("2")))
	run(t, l)
	d.expect(t, "1", "2")
	if err := l.Run(context.Background()); !errors.Is(err, millrace.ErrClosed) {
		t.Error(err)
	}
}

// Whoever comes first: what waits when the loop is closed is run.
func TestStopDoesNotCutCloseShort(t *testing.T) {
	for range 300 {
		l := made(t)
		ran := 0
		for range 10 {
			must(t, l.Submit(func() { ran++ }))
		}
		timer, err := l.After(time.Hour, func() {})
		must(t, err)
		must(t, l.Start())
		var both sync.WaitGroup
		both.Go(l.Stop)
		both.Go(func() {
			if err, left := l.Close(context.Background()), l.Left(); len(left) > 0 || err != nil {
				t.Error(len(left), err)
			}
		})
		both.Wait()
		if ran != 10 {
			t.Fatal(ran, "ran")
		}
		if timer.Stop() || l.Stats().Live != 0 {
			t.Fatal("a timer is left")
		}
	}
}

// The loop has decided to end when Close comes, but has not ended: the end is decided on anew.
func TestCloseBetweenTheDecisionAndTheEnd(t *testing.T) {
	l := made(t)
	ran := false
	must(t, l.Submit(func() { ran = true }))
	l.mu.Lock()
	done, err := l.startLocked(true)
	l.closed.Store(true)
	l.ending = endEmpty
	l.mu.Unlock()
	must(t, err)
	if l.finish(done, false) {
		t.Error("ended although a task waits")
	}
	l.serve(done)
	<-l.gone
	if !ran {
		t.Error("the task did not run")
	}
}

func TestCloseAsRunEnds(t *testing.T) {
	for range 300 {
		l := made(t)
		ended := make(chan struct{})
		ran := 0
		go func() {
			defer close(ended)
			l.Run(context.Background())
		}()
		accepted := 0
		for l.Submit(func() { ran++ }) == nil {
			if accepted++; accepted == 5 {
				go l.Close(context.Background())
			}
		}
		err, left := l.Close(context.Background()), l.Left()
		<-ended
		if len(left) > 0 || err != nil || ran != accepted {
			t.Fatal(len(left), err, ran, accepted)
		}
	}
}

// All are told that not everything was run, and one of them gets what was not.
func TestCloseFromManyGoroutines(t *testing.T) {
	l := cutShort(t)
	must(t, l.Start())
	release := busy(t, l)
	for range 100 {
		must(t, l.Submit(func() { t.Error("ran") }))
	}
	var closing sync.WaitGroup
	var got, closers atomic.Int32
	closes := func(ctx context.Context, want error) {
		closing.Go(func() {
			err, left := l.Close(ctx), l.Left()
			if got.Add(int32(len(left))); len(left) > 0 {
				closers.Add(1)
			}
			if !errors.Is(err, want) {
				t.Error(len(left), err)
			}
		})
	}
	closes(context.Background(), millrace.ErrClosed)
	until(l, func() bool { return l.closed.Load() })
	for range 8 {
		closes(context.Background(), millrace.ErrClosed)
		closes(cancelled(), context.Canceled)
	}
	until(l, func() bool { return l.ending == endNow })
	release()
	closing.Wait()
	if got.Load() != 100 || closers.Load() != 1 {
		t.Error(got.Load(), "left, to", closers.Load())
	}
}

func TestTheContextOfACloseInsideEndsTheLoop(t *testing.T) {
	l := cutShort(t)
	must(t, l.Start())
	ctx, cancel := context.WithCancel(context.Background())
	begun, gate := make(chan struct{}), make(chan struct{})
	do(t, l, func() {
		must(t, l.Submit(func() { close(begun); <-gate }))
		must(t, l.Submit(func() { t.Error("ran") }))
		if err, left := l.Close(ctx), l.Left(); left != nil || err != nil {
			t.Error(left, err)
		}
	})
	<-begun
	cancel()
	until(l, func() bool { return l.ending == endNow })
	close(gate)
	err, left := l.Close(context.Background()), l.Left()
	if len(left) != 1 || !errors.Is(err, millrace.ErrClosed) {
		t.Error(len(left), err)
	}
}

func TestCloseReturnsAlthoughATaskEndsItsGoroutine(t *testing.T) {
	var told []error
	l := made(t, Config{OnError: func(err error) { told = append(told, err) }})
	ran := 0
	must(t, l.Submit(runtime.Goexit))
	must(t, l.Submit(func() { ran++ }))
	returned, ended := false, make(chan struct{})
	go func() {
		defer close(ended)
		err, left := l.Close(context.Background()), l.Left()
		if left != nil || err != nil {
			t.Error(left, err)
		}
		returned = true
	}()
	<-ended
	if !returned || ran != 1 || len(told) != 1 || told[0] != millrace.ErrGoexit {
		t.Error(returned, ran, told)
	}
}

// Code that minds its thread is run where Run would have run it.
func TestCloseOfALockedLoopRunsOnItsCaller(t *testing.T) {
	l := made(t, Config{LockOSThread: true})
	var where uintptr
	must(t, l.Submit(func() { where = gid() }))
	l.Close(context.Background())
	if where != gid() {
		t.Error("ran elsewhere")
	}
}
