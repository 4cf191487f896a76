package promise

import (
	"millrace.dev/go/eventloop"
	"millrace.dev/go/internal/inner"
)

// A step is the promise that Then and the others return, and at the same time the reaction that settles it: one
// allocation for both. It drops what it has used, so that the last promise of a long chain does not keep the whole
// chain in memory.

// Then returns a promise of the result of fn for the value, or of its error. A rejection skips fn. A panic of fn
// rejects with a *PanicError, runtime.Goexit with ErrGoexit, and a nil fn with ErrNilTask.
//
// Costs one allocation, of 112 bytes if U is a word, beyond the caller's closure. It is not a method because methods
// have no type parameters.
func Then[T, U any](p *Promise[T], fn func(T) (U, error)) *Promise[U] {
	s := &thenStep[T, U]{source: p, fn: fn}
	s.belongTo(p.loop)
	p.react(s)
	return &s.Promise
}

type thenStep[T, U any] struct {
	Promise[U]
	source *Promise[T]
	fn     func(T) (U, error)
}

// Run is part of inner.Job, as those below.
func (s *thenStep[T, U]) Run() {
	source, fn := s.source, s.fn
	s.source, s.fn = nil, nil
	switch {
	case source.err != nil:
		s.reject(source.err)
	case fn == nil:
		s.reject(eventloop.ErrNilTask)
	default:
		s.attempt(func() (U, error) { return fn(source.value) })
	}
}

// Catch returns a promise of the same value, or after an error of the result of fn: a value in its place, or another
// error. Panics and costs as for Then.
func (p *Promise[T]) Catch(fn func(error) (T, error)) *Promise[T] {
	s := &catchStep[T]{source: p, fn: fn}
	s.belongTo(p.loop)
	p.react(s)
	return &s.Promise
}

type catchStep[T any] struct {
	Promise[T]
	source *Promise[T]
	fn     func(error) (T, error)
}

func (s *catchStep[T]) Run() {
	source, fn := s.source, s.fn
	s.source, s.fn = nil, nil
	switch {
	case source.err == nil:
		s.settle(source.value, nil)
	case fn == nil:
		s.reject(eventloop.ErrNilTask)
	default:
		s.attempt(func() (T, error) { return fn(source.err) })
	}
}

// Finally returns a promise that ends as this one does, after fn has run. It does not wait for work that fn starts: for
// that use Chain. A panic of fn rejects instead. As in JavaScript, it takes two microtasks more than Then.
func (p *Promise[T]) Finally(fn func()) *Promise[T] {
	s := &finallyStep[T]{source: p, fn: fn}
	s.belongTo(p.loop)
	p.react(s)
	return &s.Promise
}

type finallyStep[T any] struct {
	Promise[T]
	source *Promise[T]
	fn     func()
	hops   uint8
}

func (s *finallyStep[T]) Run() {
	fn := s.fn
	s.fn = nil
	s.hops++
	switch {
	case s.hops == 1 && fn == nil:
		s.reject(eventloop.ErrNilTask)
	case s.hops == 1 && !s.survives(fn):
	case s.hops <= 2:
		// ECMAScript resolves with a promise that is settled by now; these are the microtasks that takes.
		inner.Promises.React(s.loop, s)
	default:
		source := s.source
		s.source = nil
		s.settle(source.value, source.err)
	}
}

// Chain returns a promise that ends as the promise that fn returns. Otherwise it is Then. As in JavaScript, it takes
// two microtasks more, after the promise that fn returned is settled or after fn, whichever is later.
//
// ErrNilPromise when fn returns nil, ErrCycle when it returns the promise that waits for it. The promise may belong to
// another loop.
func Chain[T, U any](p *Promise[T], fn func(T) *Promise[U]) *Promise[U] {
	s := &chainStep[T, U]{source: p, fn: fn}
	s.belongTo(p.loop)
	p.react(s)
	return &s.Promise
}

type chainStep[T, U any] struct {
	Promise[U]
	source  *Promise[T]
	fn      func(T) *Promise[U]
	next    *Promise[U]
	adopted bool
}

func (s *chainStep[T, U]) Run() {
	switch {
	case s.next == nil:
		s.begin()
	case !s.adopted:
		s.adopted = true
		s.next.react(s)
	default:
		next := s.next
		s.next = nil
		s.settle(next.value, next.err)
	}
}

func (s *chainStep[T, U]) begin() {
	source, fn := s.source, s.fn
	s.source, s.fn = nil, nil
	var next *Promise[U]
	switch {
	case source.err != nil:
		s.reject(source.err)
	case fn == nil:
		s.reject(eventloop.ErrNilTask)
	case !s.survives(func() { next = fn(source.value) }):
	case next == nil:
		s.reject(ErrNilPromise)
	case next == &s.Promise:
		s.reject(ErrCycle)
	default:
		s.next = next
		inner.Promises.React(s.loop, s)
	}
}

// attempt settles the promise with what fn returns, or with its panic.
func (p *Promise[T]) attempt(fn func() (T, error)) {
	var value T
	var err error
	if p.survives(func() { value, err = fn() }) {
		p.settle(value, err)
	}
}

// survives calls fn, and rejects the promise if it does not return.
func (p *Promise[T]) survives(fn func()) bool {
	exits := true
	defer func() {
		if exits {
			p.reject(inner.Caught(recover()))
		}
	}()
	fn()
	exits = false
	return true
}
