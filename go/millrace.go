// Package millrace is the vocabulary that the packages of this module share: priorities, and the errors that more than
// one of them returns.
//
//   - millrace.dev/go/eventloop: tasks, timers and descriptors on one goroutine, as the event loop of JavaScript
//   - millrace.dev/go/promise: promises of such a loop
//   - millrace.dev/go/batch: calls and events that leave together
//   - millrace.dev/go/goja/eventloop, a module of its own: JavaScript on such a loop
//
// Everything that can be closed has one method for it, Close(ctx) error. It refuses new work with ErrClosed, finishes
// what was accepted, and waits for that; when ctx ends first, work that has not begun is discarded, each piece of it
// accounted for, and the error is ctx.Err(). So a context without an end drains, and one that has ended already
// discards at once. Inside the loop, which would wait for itself, Close does not wait.
package millrace

import (
	"errors"
	"fmt"
)

// Priority is the class of a task or an event. The zero value means Normal for a task, and the class of its type for an
// event.
type Priority uint8

const (
	// High leaves first, and ends any hold of a batch.
	High Priority = iota + 1
	// Normal is the default class of tasks and of most events.
	Normal
	// Low gets one turn for eight of Normal while both wait.
	Low
)

func (p Priority) String() string {
	if p > Low {
		return fmt.Sprintf("Priority(%d)", uint8(p))
	}
	return [...]string{"default", High: "high", Normal: "normal", Low: "low"}[p]
}

// Check returns an error that wraps ErrOption unless p is zero or one of the three.
func (p Priority) Check() error {
	if p > Low {
		return &OptionError{"Priority", p, "High, Normal or Low"}
	}
	return nil
}

// ByPriority is a value for each priority.
type ByPriority[T any] struct {
	High, Normal, Low T
}

// The errors that several packages return; compare with errors.Is.
var (
	// ErrOverload: the queue is full, by MaxQueue or MaxQueueBytes. Nothing has changed; try again later, or shed it.
	ErrOverload = errors.New("millrace: the queue is full: wait until it has drained, or raise its bound")
	// ErrClosed: Close was called before.
	ErrClosed = errors.New("millrace: it is closed: use it before Close, or make another")
	// ErrCancelled: accepted, and discarded by Close.
	ErrCancelled = errors.New("millrace: discarded by Close")
	// ErrOption: an option or an argument has a value that is not allowed; the message says which, and what it may be.
	ErrOption = errors.New("millrace: bad value")
	// ErrUnhandled: an event left, or a promise was rejected, and had no handler.
	ErrUnhandled = errors.New("millrace: no handler: register one in time")
	// ErrGoexit: a function ended its goroutine by runtime.Goexit, as t.FailNow does.
	ErrGoexit = errors.New("millrace: a function called runtime.Goexit: let it return instead")
)

// OptionError reports an option out of its range. It wraps ErrOption.
type OptionError struct {
	// Name is the name of the option, such as MaxBatch.
	Name string
	// Value is the value given.
	Value any
	// Allowed describes the allowed values.
	Allowed string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%v: %s is %v; it must be %s", ErrOption, e.Name, e.Value, e.Allowed)
}

// Unwrap returns ErrOption.
func (e *OptionError) Unwrap() error { return ErrOption }

// PanicError reports a function that panicked: a task, a handler, a bulk function.
type PanicError struct {
	// Value is the argument of panic.
	Value any
	// Stack is the stack of the panic, as debug.Stack formats it.
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("millrace: a function panicked: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap returns the value if it is an error, so that errors.Is and errors.As see it.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
