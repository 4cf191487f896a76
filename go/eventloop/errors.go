package eventloop

import (
	"errors"
	"fmt"
	"runtime"
)

// The errors of a loop beside those of package millrace; compare with errors.Is.
var (
	// ErrRunning: Run or Start was called on a loop that runs already.
	ErrRunning = errors.New("eventloop: the loop runs already: stop it first")
	// ErrInside: a task asked to wait for the loop that it is keeping busy.
	ErrInside = errors.New("eventloop: a task of the loop cannot wait for the loop: call it from another goroutine")
	// ErrOutside: a function that belongs to the current task was called where no task of the loop runs.
	ErrOutside = errors.New("eventloop: only a task of the loop can do this: use Submit or Do to run one")
	// ErrNilTask: a function is nil.
	ErrNilTask = errors.New("eventloop: the function is nil: give one")
	// ErrReleased: Complete was called on a handle that was completed or released before.
	ErrReleased = errors.New("eventloop: the handle was let go before: take another one by KeepAlive")
	// ErrWatched: Watch was called for a descriptor that this loop watches already.
	ErrWatched = errors.New("the loop watches it already: use Modify, or stop that Watcher first")
	// ErrUnsupported: Watch was called on a system with neither epoll nor kqueue. It wraps errors.ErrUnsupported.
	ErrUnsupported = fmt.Errorf("descriptors cannot be watched on %s: %w", runtime.GOOS, errors.ErrUnsupported)
)
