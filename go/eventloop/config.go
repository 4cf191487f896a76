package eventloop

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"millrace.dev/go"
	"millrace.dev/go/internal/inner"
)

// Config has the settings of New. The zero value of each field stands for its default.
type Config struct {
	// MaxQueue bounds the waiting tasks: 1 to 1<<30, by default 1,048,576. One more is refused with
	// millrace.ErrOverload. Up to 127 tasks of each class that the loop has already taken do not count; nor do timers,
	// immediates, microtasks and the reactions of promises, which the program itself has to bound.
	MaxQueue int
	// LockOSThread keeps the loop on one thread of the system while it runs, as user interfaces and some C libraries
	// require, even after runtime.Goexit. Do then never runs on its caller, and a wake-up costs some microseconds.
	LockOSThread bool
	// PreciseTimers makes timers fire within about 0.1 ms on Linux, where Go's own may be a millisecond late on an idle
	// machine. It costs a timerfd, a goroutine, and a system call whenever the earliest deadline changes. Elsewhere, and
	// when no descriptor is left for it, timers are as without it. Not in a bubble of testing/synctest: the timerfd runs
	// by the real clock.
	PreciseTimers bool
	// Timing measures the waits of tasks and the utilization of the loop, for Stats. It reads the clock twice for each
	// 128 tasks or fewer, twice for each time the loop sleeps, and twice for each Do that runs on its caller.
	Timing bool
	// PropagatePanics lets a panic of a task leave Run as it is, for callers of Run that recover; after Start it ends
	// the process, as in any goroutine. The loop has then stopped: the task is used up, waiting tasks stay, and a later
	// Run goes on with them. runtime.Goexit ends the loop in the same way. Functions given to Do are not affected.
	PropagatePanics bool
	// OnError is called with each failure for which no caller waits: a *millrace.PanicError, millrace.ErrGoexit, and
	// rejections without a handler, which wrap millrace.ErrUnhandled (unless OnRejection is given). It runs on the
	// loop. By default slog.Error.
	OnError func(error)
	// OnRejection is called once, with the reason, for a promise that was rejected and has no handler when the
	// microtasks have run. It runs on the loop. By default it is OnError. For promises that other goroutines make while
	// the loop runs it is called later: see promise.Promise. If the loop is not running then, another goroutine calls
	// it.
	OnRejection func(reason error)
	// OnPressure is called on the loop when PressureMark tasks wait (1 to 1<<30), and once more when no more than half
	// of them do, so that producers can be slowed down before they get ErrOverload. Its argument is the number of
	// waiting tasks: the last call always tells which side of half the mark the queue is on. A change that is over
	// before the loop gets to call it is not reported. By default there is none.
	OnPressure   func(queued int)
	PressureMark int
}

const mostMaxQueue = 1 << 30

func (c *Config) complete() error {
	if (c.OnPressure == nil) != (c.PressureMark == 0) {
		return fmt.Errorf("%w: PressureMark is %d, and OnPressure is given: %v; one needs the other", millrace.ErrOption,
			c.PressureMark, c.OnPressure != nil)
	}
	c.MaxQueue, c.PressureMark = cmp.Or(c.MaxQueue, 1<<20), cmp.Or(c.PressureMark, math.MaxInt)
	if c.OnError == nil {
		c.OnError = func(err error) { slog.Error("event loop", "error", err) }
	}
	if c.OnRejection == nil {
		onError := c.OnError
		c.OnRejection = func(reason error) { onError(fmt.Errorf("%w: %w", millrace.ErrUnhandled, reason)) }
	}
	err := inner.Within("MaxQueue", c.MaxQueue, 1, mostMaxQueue)
	if c.OnPressure != nil {
		err = errors.Join(err, inner.Within("PressureMark", c.PressureMark, 1, mostMaxQueue))
	}
	return err
}
