package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// The errors of this package, beside those of package millrace; compare with errors.Is.
var (
	// ErrBadResult: a bulk function returned another number of results, or of entries in Errors, than it got keys.
	ErrBadResult = errors.New("batch: the bulk function returned another number of results than it got keys")
	// ErrRetention: an event had no handler, and there was no room to retain it.
	ErrRetention = errors.New("batch: the event had no handler and did not fit into Retain.Max or Retain.MaxBytes: raise them, or register earlier")
	// ErrExpired: an event was retained and ended without a handler.
	ErrExpired = errors.New("batch: the retained event ended without a handler")
)

// Errors fail the calls of a batch one by one: returned by a bulk function as its error, it has one entry for each key,
// in order, and nil for those that succeeded. When all have failed, no values are needed.
type Errors []error

func (e Errors) Error() string {
	return fmt.Sprintf("batch: %d of %d calls failed, the first with: %v", len(e.Unwrap()), len(e), cmp.Or(e...))
}

// Unwrap gives the errors of the calls that failed.
func (e Errors) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e), func(err error) bool { return err == nil })
}

// HandlerError reports that a handler failed for an event, or the Merge of its type.
type HandlerError struct {
	// Type is the type of the event.
	Type string
	// Err is a *millrace.PanicError or millrace.ErrGoexit; for Merge also a size below 0 of its result.
	Err error
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("a handler of %q failed: %v", e.Type, e.Err)
}

func (e *HandlerError) Unwrap() error { return e.Err }
