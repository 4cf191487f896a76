package engine

import (
	"errors"
	"fmt"
)

var (
	ErrOverload  = errors.New("batch: the queue is full")
	ErrClosed    = errors.New("batch: the queue is closed: call before Close")
	ErrCancelled = errors.New("batch: discarded by Close")
	ErrOption    = errors.New("batch: bad option")
	ErrGoexit    = errors.New("batch: the function ended its goroutine (runtime.Goexit, or FailNow of a test)")
)

// OptionError is an option out of its range.
type OptionError struct {
	// Name of the option, as MaxBatch.
	Name string
	// Value that was given, and what is allowed.
	Value   any
	Allowed string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("batch: option %s is %v; it must be %s", e.Name, e.Value, e.Allowed)
}

func (e *OptionError) Unwrap() error { return ErrOption }

// overload is a refusal; its message is made when somebody reads it, for there may be many.
type overload struct {
	queued, maxQueue            int
	bytes, given, maxQueueBytes int64
}

func (e *overload) Error() string {
	if e.queued >= e.maxQueue {
		return fmt.Sprintf("%v: %d events are queued and MaxQueue is %d; retry later, push less, or raise the bound",
			ErrOverload, e.queued, e.maxQueue)
	}
	return fmt.Sprintf("%v: %d bytes are queued, the event has %d and MaxQueueBytes is %d; "+
		"retry later, push less, or raise the bound", ErrOverload, e.bytes, e.given, e.maxQueueBytes)
}

func (e *overload) Unwrap() error { return ErrOverload }

// PanicError is a panic of a function that was called for events: a handler, a bulk function, a size function.
type PanicError struct {
	// Value it panicked with.
	Value any
	// Stack of the goroutine, as debug.Stack gives it.
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("batch: panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap gives the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
