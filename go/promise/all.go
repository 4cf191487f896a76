package promise

import (
	"errors"
	"sync/atomic"

	"millrace.dev/go/eventloop"
)

// All is a promise of the values of all promises, in their order, or of the error of the first that is rejected.
// Without promises it is fulfilled at once. A nil among them counts as rejected with ErrNilPromise, here and below.
//
// Costs five allocations, whatever the number of promises, and another one for each that has a reaction already. The
// promises may belong to other loops than l, which is that of the result.
func All[T any](l *eventloop.Loop, promises ...*Promise[T]) *Promise[[]T] {
	all := newPromise[[]T](l)
	values := make([]T, len(promises))
	var done atomic.Int64 // the promises may be of several loops
	if len(promises) == 0 {
		all.settle(values, nil)
	}
	each(promises, func(i int, value T, err error) {
		if err != nil {
			all.reject(err)
			return
		}
		values[i] = value
		if done.Add(1) == int64(len(values)) {
			all.settle(values, nil)
		}
	})
	return all
}

// Outcome is the end of a promise: a value or an error.
type Outcome[T any] struct {
	Value T
	Err   error
}

// AllSettled is a promise of the outcomes of all promises, in their order. It is never rejected.
func AllSettled[T any](l *eventloop.Loop, promises ...*Promise[T]) *Promise[[]Outcome[T]] {
	all := newPromise[[]Outcome[T]](l)
	outcomes := make([]Outcome[T], len(promises))
	var done atomic.Int64 // the promises may be of several loops
	if len(promises) == 0 {
		all.settle(outcomes, nil)
	}
	each(promises, func(i int, value T, err error) {
		outcomes[i] = Outcome[T]{value, err}
		if done.Add(1) == int64(len(outcomes)) {
			all.settle(outcomes, nil)
		}
	})
	return all
}

// Race is a promise that ends as the first of the promises does that is settled. Without promises it is pending for
// ever. Each of the promises keeps a reaction until it is settled, even after the race is over: one that never settles,
// and is raced again and again, accumulates them.
func Race[T any](l *eventloop.Loop, promises ...*Promise[T]) *Promise[T] {
	first := newPromise[T](l)
	each(promises, func(_ int, value T, err error) { first.settle(value, err) })
	return first
}

// Any is a promise of the first value. It is rejected, with an *AggregateError, if all promises are, or there are none.
func Any[T any](l *eventloop.Loop, promises ...*Promise[T]) *Promise[T] {
	first := newPromise[T](l)
	reasons := make([]error, len(promises))
	var done atomic.Int64 // the promises may be of several loops
	if len(promises) == 0 {
		first.reject(&AggregateError{Errors: reasons})
	}
	each(promises, func(i int, value T, err error) {
		if err == nil {
			first.settle(value, nil)
			return
		}
		reasons[i] = err
		if done.Add(1) == int64(len(reasons)) {
			first.reject(&AggregateError{Errors: reasons})
		}
	})
	return first
}

// AggregateError has the errors of the promises of Any, in order. errors.Is and errors.As see them all.
type AggregateError struct {
	Errors []error
}

func (e *AggregateError) Error() string {
	if len(e.Errors) == 0 {
		return "promise: Any of no promises"
	}
	return "promise: all promises were rejected:\n" + errors.Join(e.Errors...).Error()
}

// Unwrap returns all errors.
func (e *AggregateError) Unwrap() []error { return e.Errors }

// each calls settled, as a microtask, when one of the promises is.
func each[T any](promises []*Promise[T], settled func(int, T, error)) {
	members := make([]member[T], len(promises))
	for i, p := range promises {
		if p == nil {
			var none T
			settled(i, none, ErrNilPromise)
			continue
		}
		members[i] = member[T]{p, i, settled}
		p.react(&members[i])
	}
}

type member[T any] struct {
	source  *Promise[T]
	place   int
	settled func(int, T, error)
}

func (m *member[T]) Run() { m.settled(m.place, m.source.value, m.source.err) }
