package eventloop

import (
	"context"
	"sync/atomic"

	"millrace.dev/go"
	"millrace.dev/go/internal/inner"
)

// Do runs fn on the loop as a task of its own, after the waiting ones, and waits for it. While the loop sleeps, fn runs
// on the calling goroutine, as the loop, with no switch to another one; microtasks follow it as they follow any task.
// Inside the loop fn runs at once, as a part of the current task, whose microtasks come when it is over.
//
// A panic of fn comes back as a *PanicError. When ctx ends before fn has begun, fn never runs and Do returns ctx.Err();
// once it has begun, Do waits for it. ErrOverload and ErrClosed as for Submit, and ErrClosed as well if the loop is
// closed and does not come to fn. On a loop that does not run, Do waits for Run or Start.
func (l *Loop) Do(ctx context.Context, fn func()) error {
	if fn == nil {
		return ErrNilTask
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	me := gid()
	if !l.config.LockOSThread && l.borrow(me) {
		return l.inline(me, fn)
	}
	if l.Inside() {
		return safely(fn)
	}
	return l.call(ctx, fn)
}

// inline runs fn on this goroutine, which is the loop's owner until then.
func (l *Loop) inline(me uintptr, fn func()) (err error) {
	timed := l.timed.Load()
	if timed {
		l.load.wakes(clock())
	}
	exits := true
	defer func() {
		if timed {
			l.load.sleeps(clock())
		}
		l.giveBack(me)
	}()
	defer func() {
		if exits {
			err = inner.Caught(recover())
		}
		if l.soon > 0 {
			l.settle()
		}
	}()
	fn()
	exits = false
	return nil
}

// settle runs the microtasks of a function that was given to Do.
func (l *Loop) settle() {
	exits := true
	defer func() {
		if !exits {
			return
		}
		// A microtask has ended this goroutine; the loop's own goes on with the rest, and reports it first.
		if !l.reporting {
			l.mu.Lock()
			l.ops = append(l.ops, func() { l.report(millrace.ErrGoexit) })
			l.mu.Unlock()
			l.notify(urgent)
		}
		l.reporting = false
	}()
	for l.soon > 0 && !l.mustStop() {
		if failure := safely(l.checkpoint); failure != nil {
			l.report(failure)
		}
	}
	exits = false
}

// safely calls fn and returns its panic as an error.
func safely(fn func()) (err error) {
	exits := true
	defer func() {
		if exits {
			err = inner.Caught(recover())
		}
	}()
	fn()
	exits = false
	return nil
}

// A call waits in the queue for a function given to Do.
type call struct {
	fn    func()
	run   func() // the task: kept, so that a call of Do allocates nothing
	state atomic.Int32
	done  chan error
}

const (
	callWaits int32 = iota
	callBegun
	callLeft // its caller has gone
)

func (c *call) task() {
	if !c.state.CompareAndSwap(callWaits, callBegun) {
		return
	}
	err := error(millrace.ErrGoexit)
	defer func() { c.done <- err }()
	err = safely(c.fn)
}

func (l *Loop) call(ctx context.Context, fn func()) error {
	c, _ := l.calls.Get().(*call)
	if c == nil {
		c = &call{done: make(chan error, 1)}
		c.run = c.task
	}
	c.fn = fn
	c.state.Store(callWaits)
	if err := l.Submit(c.run); err != nil {
		c.fn = nil
		l.calls.Put(c)
		return err
	}
	var why error
	select {
	case err := <-c.done:
		c.fn = nil
		l.calls.Put(c)
		return err
	case <-l.gone:
		why = millrace.ErrClosed
	case <-ctx.Done():
		why = ctx.Err()
	}
	if c.state.CompareAndSwap(callWaits, callLeft) {
		// The call is still in the queue, so it must not be used again.
		return why
	}
	return <-c.done
}
