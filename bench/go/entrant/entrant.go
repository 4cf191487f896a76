// Package entrant holds the event loops that the tournament compares: Millrace's, one that is in wide use, two that
// anybody would write, and one compact loop for each design of a published comparison of designs, with all that the designs
// have: timers, promises, microtasks and descriptors. Each loop is one file, with the tick, the queues and the end that
// make the design; parts that are the same in all of them are files of their own: timers, promise, poller, tasklist.
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

// Microtasker runs functions after the task that is running, before the next one.
type Microtasker interface {
	// Microtask queues one. Only on the loop.
	Microtask(fn func())
}

// Promiser makes promises whose reactions are microtasks.
type Promiser interface {
	// Promise makes one. Only on the loop.
	Promise() Promise
}

// Promise is a value that comes later, or the reason why it does not. All its methods are of the loop's goroutine, and
// only the first call of Resolve or Reject counts.
type Promise interface {
	Resolve(value any)
	Reject(reason error)
	// Then calls back with the value, Catch with the reason. Each returns a promise of the result, which is what the promise
	// itself becomes when there is no call.
	Then(fn func(value any) (any, error)) Promise
	Catch(fn func(reason error) (any, error)) Promise
}

// Scripted is a loop whose microtasks follow calls of JavaScript, not all of its tasks.
type Scripted interface {
	// SubmitScript submits a task that is such a call.
	SubmitScript(task func()) error
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

// An Entry is an entrant of the tournament.
type Entry struct {
	Name   string
	Design string // of the report; empty: none of them
	New    New
}

// All are the entrants, in the order of the tables.
var All = []Entry{
	{"millrace", "", NewMillrace},
	{"goja_nodejs", "Baseline", NewGoja},
	{"goja_nodejs native", "Baseline", NewGojaNative},
	{"channel", "", NewChannel},
	{"mutex", "", NewMutex},
	{"direct", "Baseline", NewDirect},
	{"tick", "Main", NewTick},
	{"safe", "AlternateOne", NewSafe},
	{"lockfree", "AlternateTwo", NewLockFree},
	{"batched", "AlternateThree", NewBatched},
}
