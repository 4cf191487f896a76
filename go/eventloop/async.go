package eventloop

import (
	"context"
	"time"
)

// Async runs fn, which may block, on a goroutine of its own, and returns a promise of its result. The loop stays alive
// until then. A panic of fn rejects with a *PanicError, runtime.Goexit with ErrGoexit. If fn is to be
// ended early, the caller has to provide for that, for instance by a context. A loop that is closed does not wait for
// fn, and Async on such a loop does not run it but rejects with ErrClosed.
//
// Costs a goroutine.
func Async[T any](l *Loop, fn func() (T, error)) *Promise[T] {
	p := newPromise[T](l)
	if fn == nil {
		p.reject(ErrNilTask)
		return p
	}
	alive, err := l.KeepAlive()
	if err != nil {
		p.reject(err)
		return p
	}
	go func() {
		// Released when the reactions are in the queue, or the loop might end before them.
		defer alive.Release()
		p.attempt(fn)
	}()
	return p
}

// Sleep is a promise that is fulfilled when d has passed. It keeps the loop alive, as After does. On a closed loop it
// is rejected with ErrClosed.
func Sleep(l *Loop, d time.Duration) *Promise[struct{}] {
	p := newPromise[struct{}](l)
	if _, err := l.After(d, func() { p.settle(struct{}{}, nil) }); err != nil {
		p.reject(err)
	}
	return p
}

// Timeout returns a promise that ends as this one does, or is rejected with context.DeadlineExceeded if d passes first.
// The work behind this one goes on, and this one keeps a reaction until it ends. The timer keeps the loop alive until
// then.
func (p *Promise[T]) Timeout(d time.Duration) *Promise[T] {
	q := newPromise[T](p.loop)
	timer, err := p.loop.After(d, func() { q.reject(context.DeadlineExceeded) })
	if err != nil {
		q.reject(err)
		return q
	}
	p.react(function(func() {
		timer.Stop()
		q.settle(p.value, p.err)
	}))
	return q
}
