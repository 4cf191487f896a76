package promise_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
	"millrace.dev/go/promise"
)

// collected lets the collector work, and the loop look up, until there is something in told.
func collected(t *testing.T, told <-chan error, look func()) error {
	t.Helper()
	for range 20_000 {
		runtime.GC()
		look()
		select {
		case err := <-told:
			return err
		default:
			runtime.Gosched()
		}
	}
	t.Fatal("nobody was told")
	return nil
}

// What a server does: its goroutines make promises, and do not look at all of them.
func TestARejectionThatNobodyCanSeeIsReported(t *testing.T) {
	told := make(chan error, 10)
	var l *eventloop.Loop
	l = startedLoop(t, eventloop.Config{
		OnRejection: func(reason error) {
			if !l.Inside() {
				t.Error("not on the loop")
			}
			told <- reason
		},
	})
	seen := errors.New("seen")
	fails := func(err error) *promise.Promise[int] {
		work := promise.Async(l, func() (int, error) { return 0, err })
		p := promise.Then(work, func(v int) (int, error) { return v, nil })
		check(t, l.Drain(context.Background()))
		return p
	}
	look := func() { on(t, l, func() {}) }
	for range 3 {
		if _, err := await(t, fails(seen)); err != seen {
			t.Error(err)
		}
		fails(seen).Catch(func(error) (int, error) { return 0, nil })
		kept := fails(errNo)
		runtime.GC()
		look()
		select {
		case err := <-told:
			t.Error("somebody may see it still:", err)
		default:
		}
		runtime.KeepAlive(kept)
		kept = nil
		if err := collected(t, told, look); err != errNo {
			t.Error(err)
		}
	}
	for range 5 {
		runtime.GC()
		look()
	}
	select {
	case err := <-told:
		t.Error("it was seen, or told before:", err)
	default:
	}
	if errs := l.Stats().ErrorsTotal; errs != 3 {
		t.Error(errs, "errors were counted")
	}
}

func TestALostRejectionOfALoopThatDoesNotRun(t *testing.T) {
	told := make(chan error, 10)
	l := startedLoop(t, eventloop.Config{OnError: func(err error) { told <- err }})
	kept := promise.Reject[int](l, errNo)
	l.Stop()
	runtime.KeepAlive(kept)
	kept = nil
	if err := collected(t, told, func() {}); !errors.Is(err, errNo) || !errors.Is(err, millrace.ErrUnhandled) {
		t.Error(err)
	}
}

// The collector must not touch the channels of a bubble; the loop is told when it wakes.
func TestALostRejectionInATestOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 10)
		l := startedLoop(t, eventloop.Config{OnRejection: func(reason error) { told <- reason }})
		promise.Reject[int](l, errNo)
		look := func() {
			synctest.Wait() // the loop sleeps
			runtime.GC()
			on(t, l, func() {})
		}
		if err := collected(t, told, look); err != errNo {
			t.Error(err)
		}
	})
}
