package eventloop

import (
	"errors"
	"fmt"
)

// The errors that a loop returns; compare with errors.Is.
var (
	// ErrOverload: as many tasks wait as WithMaxQueue allows. Nothing has changed; try again later, or shed the work.
	ErrOverload = errors.New("eventloop: the queue is full: wait until it has drained, or raise WithMaxQueue")
	// ErrClosed: the loop was closed and takes no work any more.
	ErrClosed = errors.New("eventloop: the loop is closed")
	// ErrRunning: Run or Start on a loop that runs already.
	ErrRunning = errors.New("eventloop: the loop runs already: stop it first")
	// ErrInside: a task asked to wait for the loop that it is keeping busy.
	ErrInside = errors.New("eventloop: a task of the loop cannot wait for the loop: call it from another goroutine")
	// ErrOutside: something that belongs to the current task was asked for where no task of the loop runs.
	ErrOutside = errors.New("eventloop: only a task of the loop can do this: use Submit or Do to run one")
	// ErrNilTask: a nil function.
	ErrNilTask = errors.New("eventloop: the function is nil")
	// ErrGoexit: a task ended its goroutine by runtime.Goexit (as t.FailNow does). The loop goes on, on another goroutine.
	ErrGoexit = errors.New("eventloop: a task called runtime.Goexit: the loop goes on, on a new goroutine")
	// ErrOption: an option of New is out of range; the message says which and what it may be.
	ErrOption = errors.New("eventloop: bad option")
)

// PanicError tells of a task that panicked. The loop goes on with the next one.
type PanicError struct {
	// Value is what panic was called with.
	Value any
	// Stack is where, as debug.Stack formats it.
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("eventloop: a task panicked: %v", e.Value)
}

// Unwrap returns the value if it is an error, so that errors.Is and errors.As see it.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
