package batch

import (
	"errors"
	"fmt"

	"millrace.dev/go/batch/internal/engine"
)

// The errors of this package; compare with errors.Is.
var (
	// ErrOverload: as many events or bytes wait as WithMaxQueue and WithMaxQueueBytes allow. Nothing has changed; the
	// message has the numbers.
	ErrOverload = engine.ErrOverload
	// ErrClosed: after Close.
	ErrClosed = engine.ErrClosed
	// ErrCancelled: accepted, and discarded by Close.
	ErrCancelled = engine.ErrCancelled
	// ErrOption: an option that is out of range, unknown where it was given, or of another type; the message says
	// which.
	ErrOption = engine.ErrOption
	// ErrBadResult: a bulk function returned another number of results, or of entries in Errors, than it got keys.
	ErrBadResult = errors.New("batch: the bulk function returned another number of results than it got keys")
	// ErrGoexit: a handler or bulk function ended its goroutine by runtime.Goexit, as t.FailNow does.
	ErrGoexit = engine.ErrGoexit
	// ErrUnhandled: an event left and had no handler.
	ErrUnhandled = errors.New("batch: the event had no handler: register one, or retain its type")
	// ErrRetention: an event had no handler, and there was no room to retain it.
	ErrRetention = errors.New("batch: the event had no handler and did not fit into Retain.Max or Retain.MaxBytes: raise them, or register earlier")
	// ErrExpired: an event was retained and ended without a handler.
	ErrExpired = errors.New("batch: the retained event ended without a handler")
)

var (
	errExpiredAge   = fmt.Errorf("%w: Retain.MaxAge was reached", ErrExpired)
	errExpiredClose = fmt.Errorf("%w: the emitter was closed", ErrExpired)
	errExpiredOff   = fmt.Errorf("%w: its retention was turned off", ErrExpired)
)

// PanicError is a panic of a handler or of a bulk function.
type PanicError = engine.PanicError

// Errors fail the calls of a batch one by one: returned by a bulk function as its error, it has one entry for each key,
// in order, and nil for those that succeeded. When all have failed, no values are needed.
type Errors []error

func (e Errors) Error() string {
	failed, first := 0, error(nil)
	for _, err := range e {
		if err != nil {
			failed++
			if first == nil {
				first = err
			}
		}
	}
	return fmt.Sprintf("batch: %d of %d calls failed, the first with: %v", failed, len(e), first)
}

// Unwrap gives the errors of the calls that failed.
func (e Errors) Unwrap() []error {
	var failed []error
	for _, err := range e {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// HandlerError tells of a handler that failed for an event.
type HandlerError struct {
	// Type of the event.
	Type string
	// Err is a *PanicError or ErrGoexit.
	Err error
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("a handler of %q failed: %v", e.Type, e.Err)
}

func (e *HandlerError) Unwrap() error { return e.Err }
