package eventloop

import (
	"context"
	"sync"
)

// Promise is a value of a loop that comes later, or the error why it does not, with the rules of ECMAScript's Promise:
// it is settled once, and what follows from that, its reactions, runs as microtasks of the loop, one for each, in the
// order in which they were attached, never in the call that settles it or attaches them. A program that does the same
// with promises in JavaScript sees the same order.
//
// All of it may be used by any goroutine. Outside the loop, settling a promise that has reactions queues a task, in
// order with those that the goroutine submits, which passes them on. That task is not refused when the queue is full:
// there is at most one for each promise, so whoever makes the promises bounds them. After Close a promise can still be
// settled, and Await sees it, but no reaction runs for that.
//
// A rejection is unhandled if no handler is attached by the time the microtasks have run, and is then reported: see
// WithUnhandledRejection. Handlers are attached by Then and all the others, and by Await. For a promise that another
// goroutine makes while the loop runs there is no such moment, since that goroutine may be about to call Await. A panic
// is reported all the same; any other error once nobody can see it any more, that is, when the garbage collector has
// found the promise: by the loop when it next has something to do, or if it does not run, by a separate goroutine.
//
// A promise that is pending does not keep its loop alive; what is to settle it may: a timer, Async, a handle of
// KeepAlive.
type Promise[T any] struct {
	loop *Loop

	mu      sync.Mutex
	state   PromiseState
	foreign bool // made by another goroutine while the loop ran
	handled bool // somebody sees how it ends
	queued  bool // a task that passes the reactions on waits in the loop's queue
	// The reactions that wait; nearly always it is one, which needs no slice.
	first job
	more  []job
	done  chan struct{} // for Await; of a rejection that nobody has seen: see loss

	// Not changed any more once it is settled.
	value T
	err   error
}

// PromiseState says how far a promise has come.
type PromiseState uint8

const (
	// PromisePending: not settled.
	PromisePending PromiseState = iota
	// PromiseFulfilled: it has its value.
	PromiseFulfilled
	// PromiseRejected: it has the error why there is no value.
	PromiseRejected
)

func (s PromiseState) String() string {
	switch s {
	case PromisePending:
		return "pending"
	case PromiseFulfilled:
		return "fulfilled"
	case PromiseRejected:
		return "rejected"
	}
	return "unknown"
}

// NewPromise makes a promise and the functions that settle it. Any goroutine may call them; the first call counts,
// later ones do nothing. A nil error given to reject becomes ErrNoReason.
func NewPromise[T any](l *Loop) (p *Promise[T], resolve func(T), reject func(error)) {
	q := newPromise[T](l)
	return q, func(value T) { q.settle(value, nil) }, q.reject
}

// Resolved is a promise that has its value.
func Resolved[T any](l *Loop, value T) *Promise[T] {
	p := newPromise[T](l)
	p.settle(value, nil)
	return p
}

// Rejected is a promise that has failed. A nil error becomes ErrNoReason.
func Rejected[T any](l *Loop, reason error) *Promise[T] {
	p := newPromise[T](l)
	p.reject(reason)
	return p
}

func newPromise[T any](l *Loop) *Promise[T] {
	p := new(Promise[T])
	p.belongTo(l)
	return p
}

func (p *Promise[T]) belongTo(l *Loop) {
	p.loop = l
	if !l.Inside() {
		l.mu.Lock()
		p.foreign = l.running
		l.mu.Unlock()
	}
}

func (p *Promise[T]) reject(reason error) {
	if reason == nil {
		reason = ErrNoReason
	}
	var none T
	p.settle(none, reason)
}

// State is what the promise is now.
func (p *Promise[T]) State() PromiseState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Await waits for the promise on a goroutine outside the loop: for its value, or the error that it was rejected with.
// It does not wait for reactions. A promise that is settled answers at once, whatever has become of ctx and the loop.
//
// ErrInside inside the loop, which would wait for itself; ctx.Err() when ctx ends first; ErrClosed when the loop has
// been closed and the promise is still pending. On a loop that does not run it waits for whoever settles the promise.
// Waiting counts as a handler. Allocates a channel per promise if it has to wait.
func (p *Promise[T]) Await(ctx context.Context) (T, error) {
	var none T
	if p.loop.Inside() {
		return none, ErrInside
	}
	p.mu.Lock()
	p.handle()
	if p.state != PromisePending {
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
	case <-p.loop.gone:
		why = ErrClosed
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
	if p.state != PromisePending {
		p.mu.Unlock()
		return
	}
	if err == nil {
		p.state, p.value = PromiseFulfilled, value
	} else {
		p.state, p.err = PromiseRejected, err
	}
	if p.done != nil {
		close(p.done)
	}
	if err != nil && !p.handled && !p.unheard() {
		p.reportIfLost()
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
func (p *Promise[T]) react(reaction job) {
	inside := p.loop.Inside()
	p.mu.Lock()
	p.handle()
	settled := p.state != PromisePending && !p.queued
	if settled && inside && p.first == nil {
		p.mu.Unlock()
		p.loop.enqueue(reaction)
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
	if p.state != PromiseRejected || p.handled {
		return false
	}
	_, panicked := p.err.(*PanicError)
	return !p.foreign || panicked
}

// queue asks the loop, from outside, to pass the reactions on. Until it has, those that are added wait as well, inside
// the loop too: their order would change otherwise. Unlocks.
func (p *Promise[T]) queue() {
	p.queued = true
	p.mu.Unlock()
	// Not bounded: a refusal would lose a result for which the work has been done.
	if p.loop.submit(Normal, p.arrive, false) == nil {
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
		p.loop.enqueue(first)
	}
	for _, reaction := range more {
		p.loop.enqueue(reaction)
	}
	if unheard {
		p.loop.rejections.push(p)
		p.loop.soon++
	}
}

// unhandled returns why the promise was rejected if nobody has attached a handler meanwhile.
func (p *Promise[T]) unhandled() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handled {
		return nil
	}
	return p.err
}
