package eventloop

import (
	"errors"
	"fmt"
	"runtime"
)

// The errors that a loop returns; compare with errors.Is.
var (
	// ErrOverload: as many tasks wait as WithMaxQueue allows. Nothing has changed; try again later, or shed the work.
	ErrOverload = errors.New("eventloop: the queue is full: wait until it has drained, or raise WithMaxQueue")
	// ErrClosed: the loop was closed and takes no work any more.
	ErrClosed = errors.New("eventloop: the loop is closed: use it before Close, or make another")
	// ErrRunning: Run or Start on a loop that runs already.
	ErrRunning = errors.New("eventloop: the loop runs already: stop it first")
	// ErrInside: a task asked to wait for the loop that it is keeping busy.
	ErrInside = errors.New("eventloop: a task of the loop cannot wait for the loop: call it from another goroutine")
	// ErrOutside: something that belongs to the current task was asked for where no task of the loop runs.
	ErrOutside = errors.New("eventloop: only a task of the loop can do this: use Submit or Do to run one")
	// ErrNilTask: a nil function.
	ErrNilTask = errors.New("eventloop: the function is nil: give one")
	// ErrReleased: Complete of a handle that was completed or released before.
	ErrReleased = errors.New("eventloop: the handle was let go before: take another one by KeepAlive")
	// ErrGoexit: a function ended its goroutine by runtime.Goexit, as t.FailNow does. The loop goes on, unless it has
	// WithPanicPropagation.
	ErrGoexit = errors.New("eventloop: a function called runtime.Goexit: let it return instead")
	// ErrOption: an option of New, or an argument of another function, has a value that is not allowed; the message says
	// which, and what it may be.
	ErrOption = errors.New("eventloop: bad value")
	// ErrUnhandled: what the error handler is told of a rejected promise without a handler wraps this and the reason.
	ErrUnhandled = errors.New("eventloop: a promise was rejected and has no handler: use Catch")
	// ErrNoReason: a promise was rejected with a nil error.
	ErrNoReason = errors.New("eventloop: a promise was rejected with a nil error: reject it with one that says why")
	// ErrNilPromise: a promise was expected and nil came, from a function given to Chain, or to All and others.
	ErrNilPromise = errors.New("eventloop: the promise is nil: return or give one that a loop has made")
	// ErrCycle: a function given to Chain returned the promise that waits for it.
	ErrCycle = errors.New("eventloop: a promise cannot wait for itself: return another one")
	// ErrWatched: Watch of a descriptor that this loop watches already.
	ErrWatched = errors.New("the loop watches it already: use Modify, or close that Watcher first")
	// ErrUnsupported: Watch on a system with neither epoll nor kqueue. It wraps errors.ErrUnsupported.
	ErrUnsupported = fmt.Errorf("descriptors cannot be watched on %s: %w", runtime.GOOS, errors.ErrUnsupported)
)

// PanicError tells of a function that panicked.
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
