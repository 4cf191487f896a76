// Package inner is what the packages of this module need of each other and nobody else does: the loop's side of
// promises, one way to make an error of a panic, and one to refuse an option.
package inner

import (
	"fmt"
	"runtime/debug"
	"time"

	"millrace.dev/go"
)

// Job is a microtask that needs no closure: a reaction of a promise.
type Job interface{ Run() }

// Rejection is a promise that was rejected without a handler. Unhandled returns why, or nil if it has one by now.
type Rejection interface{ Unhandled() error }

// Promises is what package promise asks of a loop beyond its public methods. Package eventloop sets it; each function
// takes an *eventloop.Loop, which this package cannot import.
var Promises struct {
	// React queues a microtask, and Reject a look at a rejection when the microtasks have run; both only inside the loop.
	React  func(loop any, job Job)
	Reject func(loop any, rejection Rejection)
	// Submit queues a task, from outside, which is not refused when the queue is full. An error: the loop is closed.
	Submit func(loop any, task func()) error
	// Lost reports a rejection that nobody can see any more. It may be called by the garbage collector, which belongs to
	// no bubble of testing/synctest, so it neither sends nor receives, and does not wake the loop.
	Lost func(loop any, reason error)
	// Runs reports whether a Run or Start is under way.
	Runs func(loop any) bool
}

// Slept is for how long an *eventloop.Loop has slept since its Utilization was first asked for, without a sleep that is
// under way. Package eventloop sets it.
var Slept func(loop any) time.Duration

// Closed reports whether an *eventloop.Loop was closed and refuses work, though it may still run what waits. Package
// eventloop sets it.
var Closed func(loop any) bool

// Caught makes an error of what recover returned for a function that did not return. With runtime.Goexit that is nil.
func Caught(value any) error {
	if value == nil {
		return millrace.ErrGoexit
	}
	return &millrace.PanicError{Value: value, Stack: debug.Stack()}
}

// Within returns a *millrace.OptionError unless the value is in its range, or zero, which means that it is not given.
func Within[N int | int64 | float64 | time.Duration](name string, value, least, most N) error {
	if value == 0 || value >= least && value <= most {
		return nil
	}
	return &millrace.OptionError{Name: name, Value: value, Allowed: fmt.Sprintf("from %v to %v", least, most)}
}
