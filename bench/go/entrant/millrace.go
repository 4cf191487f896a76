package entrant

import (
	"context"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
	"millrace.dev/go/promise"
)

// Millrace is the loop of millrace.dev/go/eventloop.
type Millrace struct {
	*eventloop.Loop
}

// NewMillrace starts a Millrace.
func NewMillrace(queue int) (Entrant, error) { return newMillrace(eventloop.Config{MaxQueue: queue}) }

// NewPreciseMillrace starts one whose timers do not wait for the Go runtime's.
func NewPreciseMillrace(queue int) (Entrant, error) {
	return newMillrace(eventloop.Config{MaxQueue: queue, PreciseTimers: true})
}

func newMillrace(config eventloop.Config) (Entrant, error) {
	loop, err := eventloop.New(config)
	if err != nil {
		return nil, err
	}
	if err := loop.Start(); err != nil {
		return nil, err
	}
	return &Millrace{loop}, nil
}

// SubmitHigh implements Prioritizer.
func (l *Millrace) SubmitHigh(task func()) error {
	return l.SubmitPriority(millrace.High, task)
}

// After implements Timer.
func (l *Millrace) After(delay time.Duration, callback func()) (func(), error) {
	timer, err := l.Loop.After(delay, callback)
	if err != nil {
		return nil, err
	}
	return func() { timer.Stop() }, nil
}

// Watch implements Watcher.
func (l *Millrace) Watch(fd int, callback func()) (func() error, error) {
	watcher, err := l.Loop.Watch(fd, eventloop.Readable, func(eventloop.Events) { callback() })
	if err != nil {
		return nil, err
	}
	return watcher.Stop, nil
}

// Microtask implements Microtasker.
func (l *Millrace) Microtask(fn func()) {
	if err := l.Loop.Microtask(fn); err != nil {
		panic(err) // it is not on the loop
	}
}

// Promise implements Promiser.
func (l *Millrace) Promise() Promise {
	p, resolve, reject := promise.New[any](l.Loop)
	return millracePromise{p, resolve, reject}
}

type millracePromise struct {
	promise *promise.Promise[any]
	resolve func(any)
	reject  func(error)
}

func (p millracePromise) Resolve(value any)   { p.resolve(value) }
func (p millracePromise) Reject(reason error) { p.reject(reason) }

func (p millracePromise) Then(fn func(any) (any, error)) Promise {
	return millracePromise{promise: promise.Then(p.promise, fn)}
}

func (p millracePromise) Catch(fn func(error) (any, error)) Promise {
	return millracePromise{promise: p.promise.Catch(fn)}
}

// Close implements Entrant.
func (l *Millrace) Close() error {
	return l.Loop.Close(context.Background())
}
