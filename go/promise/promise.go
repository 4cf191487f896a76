// Package promise has the promises of ECMAScript on a loop of package eventloop: [Async], [Then] and the other
// functions join work that goes on elsewhere. Errors that other packages return too are those of package millrace.
package promise

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
	"millrace.dev/go/internal/inner"
)

// Promise is a value of a loop that comes later, or the error why it does not, with the rules of ECMAScript's Promise:
// it is settled once, and its reactions run as microtasks of the loop, one for each, in the order in which they were
// attached, never in the call that settles it or attaches them. A program that does the same with promises in
// JavaScript sees the same order.
//
// All of it may be used by any goroutine. Outside the loop, settling a promise that has reactions queues a task, in
// order with those that the goroutine submits, which passes them on. That task is not refused when the queue is full:
// there is at most one for each promise, so the number of promises bounds them. After Close a promise can still be
// settled, and Await sees it, but no reaction runs for that.
//
// A rejection is unhandled if no handler is attached by the time the microtasks have run, and is then reported: see
// eventloop.Config.OnRejection. Handlers are attached by Then and all the others, and by Await. For a promise that
// another goroutine makes while the loop runs there is no such moment, since that goroutine may be about to call Await.
// A panic is reported all the same; any other error when the garbage collector has found the promise: by the loop when
// it next has something to do, or if it does not run, by a separate goroutine.
//
// A pending promise does not keep its loop alive; a timer, Async or a handle of KeepAlive that is to settle it may.
type Promise[T any] struct {
	loop *eventloop.Loop

	mu      sync.Mutex
	state   State
	foreign bool // made by another goroutine while the loop ran
	handled bool // somebody sees how it ends
	queued  bool // a task that passes the reactions on waits in the loop's queue
	// The reactions that wait; nearly always it is one, which needs no slice.
	first inner.Job
	more  []inner.Job
	done  chan struct{} // for Await; of a rejection that nobody has seen: see loss

	// Not changed any more once it is settled.
	value T
	err   error
}

// State is the state of a promise.
type State uint8

const (
	// Pending: not settled.
	Pending State = iota
	// Fulfilled: it has its value.
	Fulfilled
	// Rejected: it has the error why there is no value.
	Rejected
)

func (s State) String() string {
	if s > Rejected {
		return "unknown"
	}
	return [...]string{"pending", "fulfilled", "rejected"}[s]
}

// The errors of this package; compare with errors.Is.
var (
	// ErrNoReason: a promise was rejected with a nil error.
	ErrNoReason = errors.New("promise: rejected with a nil error: reject it with one that says why")
	// ErrNilPromise: a promise was expected and nil came, from a function given to Chain, or to All and others.
	ErrNilPromise = errors.New("promise: the promise is nil: return or give one that a loop has made")
	// ErrCycle: a function given to Chain returned the promise that waits for it.
	ErrCycle = errors.New("promise: a promise cannot wait for itself: return another one")
)

// New makes a promise and the functions that settle it. Any goroutine may call them; the first call counts,
// later ones do nothing. A nil error given to reject becomes ErrNoReason.
func New[T any](l *eventloop.Loop) (p *Promise[T], resolve func(T), reject func(error)) {
	q := newPromise[T](l)
	return q, func(value T) { q.settle(value, nil) }, q.reject
}

// Resolve makes a promise that has its value.
func Resolve[T any](l *eventloop.Loop, value T) *Promise[T] {
	p := newPromise[T](l)
	p.settle(value, nil)
	return p
}

// Reject makes a promise that has failed. A nil error becomes ErrNoReason.
func Reject[T any](l *eventloop.Loop, reason error) *Promise[T] {
	p := newPromise[T](l)
	p.reject(reason)
	return p
}

func newPromise[T any](l *eventloop.Loop) *Promise[T] {
	p := new(Promise[T])
	p.belongTo(l)
	return p
}

func (p *Promise[T]) belongTo(l *eventloop.Loop) {
	p.loop = l
	if !l.Inside() {
		p.foreign = inner.Promises.Runs(l)
	}
}

func (p *Promise[T]) reject(reason error) {
	if reason == nil {
		reason = ErrNoReason
	}
	var none T
	p.settle(none, reason)
}

// State returns the current state.
func (p *Promise[T]) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Await waits for the promise on a goroutine outside the loop: for its value, or the error that it was rejected with.
// It does not wait for reactions. For a settled promise it returns at once, whatever the state of ctx and the loop.
//
// ErrInside inside the loop, which would wait for itself; ctx.Err() when ctx ends first; ErrClosed when the loop has
// been closed and the promise is still pending. On a loop that does not run it waits until the promise is settled.
// Waiting counts as a handler. Allocates a channel per promise if it has to wait.
func (p *Promise[T]) Await(ctx context.Context) (T, error) {
	var none T
	if p.loop.Inside() {
		return none, eventloop.ErrInside
	}
	p.mu.Lock()
	p.handle()
	if p.state != Pending {
		p.mu.Unlock()
		return p.value, p.err
	}
	if p.done == nil {
		p.done = make(chan struct{})
	}
	done := p.done
	p.mu.Unlock()
	var why error
	select {
	case <-done:
	case <-p.loop.Done():
		why = millrace.ErrClosed
	case <-ctx.Done():
		why = ctx.Err()
	}
	select {
	case <-done:
		return p.value, p.err
	default:
		return none, why
	}
}

// handle notes that somebody sees how the promise ends. The mutex is held.
func (p *Promise[T]) handle() {
	if !p.handled && p.done != nil {
		p.done <- struct{}{}
	}
	p.handled = true
}

// settle ends the promise, if it is pending.
func (p *Promise[T]) settle(value T, err error) {
	inside := p.loop.Inside()
	p.mu.Lock()
	if p.state != Pending {
		p.mu.Unlock()
		return
	}
	if err == nil {
		p.state, p.value = Fulfilled, value
	} else {
		p.state, p.err = Rejected, err
	}
	if p.done != nil {
		close(p.done)
	}
	if err != nil && !p.handled && !p.unheard() {
		// The loop is told when the promise is collected without having been seen.
		p.done = make(chan struct{}, 1)
		runtime.AddCleanup(p, loss.report, loss{p.loop, p.err, p.done})
	}
	switch {
	case inside:
		p.passOn()
	case p.first != nil || p.unheard():
		p.queue()
	default:
		p.mu.Unlock()
	}
}

// react lets a job run as a microtask when the promise is settled.
func (p *Promise[T]) react(reaction inner.Job) {
	inside := p.loop.Inside()
	p.mu.Lock()
	p.handle()
	settled := p.state != Pending && !p.queued
	if settled && inside && p.first == nil {
		p.mu.Unlock()
		inner.Promises.React(p.loop, reaction)
		return
	}
	if p.first == nil {
		p.first = reaction
	} else {
		p.more = append(p.more, reaction)
	}
	switch {
	case settled && inside:
		// Close came before the tasks that wait.
		p.passOn()
	case settled:
		p.queue()
	default:
		p.mu.Unlock()
	}
}

// unheard: it was rejected and nobody has attached a handler. Where no end of a task says when it is too late for one,
// whoever made the promise may be about to call Await; but a panic is worth reporting.
func (p *Promise[T]) unheard() bool {
	if p.state != Rejected || p.handled {
		return false
	}
	_, panicked := p.err.(*millrace.PanicError)
	return !p.foreign || panicked
}

// queue asks the loop, from outside, to pass the reactions on. Until it has, those that are added wait as well, inside
// the loop too: their order would change otherwise. Unlocks.
func (p *Promise[T]) queue() {
	p.queued = true
	p.mu.Unlock()
	// Not bounded: a refusal would lose a result for which the work has been done.
	if inner.Promises.Submit(p.loop, p.arrive) == nil {
		return
	}
	p.mu.Lock()
	p.queued = false
	p.mu.Unlock()
}

// arrive is the task of queue. If Close has returned it, it does nothing outside the loop.
func (p *Promise[T]) arrive() {
	if !p.loop.Inside() {
		return
	}
	p.mu.Lock()
	p.queued = false
	p.passOn()
}

// passOn makes microtasks of the reactions, inside the loop. Unlocks.
func (p *Promise[T]) passOn() {
	first, more, unheard := p.first, p.more, p.unheard()
	p.first, p.more = nil, nil
	p.mu.Unlock()
	if first != nil {
		inner.Promises.React(p.loop, first)
	}
	for _, reaction := range more {
		inner.Promises.React(p.loop, reaction)
	}
	if unheard {
		inner.Promises.Reject(p.loop, (*rejection[T])(p))
	}
}

// rejection is a promise as the loop sees it that looks for handlers.
type rejection[T any] Promise[T]

// Unhandled returns the reason of the rejection, if the promise still has no handler.
func (p *rejection[T]) Unhandled() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handled {
		return nil
	}
	return p.err
}

// A loss is a rejection that nobody has seen yet, of a promise that another goroutine has made: whoever holds it may be
// about to look. When nobody holds it any more, nobody will.
type loss struct {
	loop   *eventloop.Loop
	reason error
	seen   chan struct{} // not empty: somebody has seen it
}

// report is called by the collector, which belongs to no bubble of testing/synctest and so must neither receive nor
// send on the channels of a loop that does.
func (s loss) report() {
	if len(s.seen) == 0 {
		inner.Promises.Lost(s.loop, s.reason)
	}
}

// Async runs fn, which may block, on a goroutine of its own, and returns a promise of its result. The loop stays alive
// until then. A panic of fn rejects with a *PanicError, runtime.Goexit with ErrGoexit. If fn is to be
// ended early, the caller has to provide for that, for instance by a context. A loop that is closed does not wait for
// fn, and Async on such a loop does not run it but rejects with ErrClosed.
//
// Costs a goroutine.
func Async[T any](l *eventloop.Loop, fn func() (T, error)) *Promise[T] {
	p := newPromise[T](l)
	if fn == nil {
		p.reject(eventloop.ErrNilTask)
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
func Sleep(l *eventloop.Loop, d time.Duration) *Promise[struct{}] {
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
	p.react(&member[T]{p, 0, func(_ int, value T, err error) {
		timer.Stop()
		q.settle(value, err)
	}})
	return q
}
