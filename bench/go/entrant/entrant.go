// Package entrant holds the event loops that the tournament compares: Millrace's, one that is in wide use, two that
// anybody would write, and one compact loop for each design of a published comparison of designs. All but the first
// two are written for this comparison, and each is as quick as its design lets it be: no feature that it could do
// without is paid for.
package entrant

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// An Entrant is a loop that runs, on one goroutine, the tasks that any goroutine submits, in order for each of them.
type Entrant interface {
	// Submit queues a task. It never runs it on the caller.
	Submit(task func()) error
	// Close returns when all that was submitted has run and the loop's goroutines have ended. Nothing may be submitted
	// during it or after it.
	Close() error
}

// Batcher takes many tasks at once.
type Batcher interface {
	SubmitBatch(tasks []func()) (int, error)
}

// Doer runs a task and waits for its end.
type Doer interface {
	Do(ctx context.Context, task func()) error
}

// Prioritizer has a lane that is served before the others.
type Prioritizer interface {
	SubmitHigh(task func()) error
}

// Watcher calls back, on the loop, while a descriptor is readable.
type Watcher interface {
	Watch(fd int, callback func()) (stop func() error, err error)
}

// Timer calls back, on the loop, after some time, unless it is cancelled.
type Timer interface {
	After(delay time.Duration, callback func()) (cancel func(), err error)
}

// Native is a loop whose tasks are not of type func(), without the wrapper that Submit needs for each of them.
type Native interface {
	// Count submits a new closure that adds one to n and finishes wg.
	Count(n *atomic.Int64, wg *sync.WaitGroup) error
	// Signal submits a new closure that closes done.
	Signal(done chan struct{}) error
}

// Preparer is a loop that can do once, for a task that is submitted again and again, what Submit does each time.
type Preparer interface {
	Prepare(task func()) (submit func() error)
}

// New makes and starts a loop. A loop whose queue is bounded takes as many as `queue` tasks, or has the bound that suits
// it best when `queue` is 0.
type New func(queue int) (Entrant, error)

// All are the entrants by name, in the order of the tables.
var All = []struct {
	Name string
	New  New
}{
	{"millrace", NewMillrace},
	{"goja_nodejs", NewGoja},
	{"goja_nodejs native", NewGojaNative},
	{"channel", NewChannel},
	{"mutex", NewMutex},
	{"direct", NewDirect},
	{"tick", NewTick},
	{"safe", NewSafe},
	{"lockfree", NewLockFree},
	{"batched", NewBatched},
}
