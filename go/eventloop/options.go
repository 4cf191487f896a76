package eventloop

import (
	"fmt"
	"log/slog"
	"math"
)

// Option changes a setting of New.
type Option func(*config) error

type config struct {
	maxQueue     int
	lockThread   bool
	precise      bool
	timing       bool
	propagate    bool
	onError      func(error)
	onRejection  func(error)
	pressureHigh int
	onPressure   func(int)
}

const (
	defaultMaxQueue = 1 << 20
	mostMaxQueue    = 1 << 30
)

func defaults() config {
	return config{
		maxQueue:     defaultMaxQueue,
		pressureHigh: math.MaxInt,
		onError:      func(err error) { slog.Error("event loop", "error", err) },
	}
}

// WithMaxQueue sets how many tasks may wait: 1 to 1<<30, by default 1,048,576. One more is refused with ErrOverload. Up
// to 127 tasks of each class, those that the loop has begun to work through, do not count; nor do timers, immediates,
// microtasks and the reactions of promises, whose number is up to those who set them.
func WithMaxQueue(tasks int) Option {
	return func(c *config) error {
		c.maxQueue = tasks
		return inRange("WithMaxQueue", tasks, 1, mostMaxQueue)
	}
}

// WithLockOSThread keeps the loop on one thread of the system while it runs, as user interfaces and some C libraries
// require, even after runtime.Goexit. Do then never runs on its caller. Waking the loop costs a switch of threads, some
// microseconds.
func WithLockOSThread() Option {
	return func(c *config) error {
		c.lockThread = true
		return nil
	}
}

// WithPreciseTimers makes timers fire within about 0.1 ms on Linux, where Go's own may be a millisecond late on an idle
// machine. It costs a timerfd, a goroutine, and a system call whenever the earliest deadline changes. Elsewhere, and
// when no descriptor is left for it, timers are as without it. Not in a bubble of testing/synctest: the timerfd runs by
// the real clock.
func WithPreciseTimers() Option {
	return func(c *config) error {
		c.precise = true
		return nil
	}
}

// WithTiming measures how long tasks wait and how busy the loop is, for Stats. It reads the clock twice for each 128
// tasks or fewer, twice for each time the loop sleeps, and twice for each Do that runs on its caller.
func WithTiming() Option {
	return func(c *config) error {
		c.timing = true
		return nil
	}
}

// WithPanicPropagation lets a panic of a task leave Run as it is, for callers of Run that recover; after Start it
// ends the process, as in any goroutine. The loop has then stopped: the task is used up, what waits stays, and a
// later Run goes on with it. runtime.Goexit ends the loop in the same way. Functions given to Do are not affected.
func WithPanicPropagation() Option {
	return func(c *config) error {
		c.propagate = true
		return nil
	}
}

// WithErrorHandler sets who is told of what goes wrong where nobody waits for a result: a *PanicError, ErrGoexit, and
// rejections without a handler, which wrap ErrUnhandled (unless WithUnhandledRejection is given). It runs on the loop.
// By default slog.Error.
func WithErrorHandler(handler func(error)) Option {
	return func(c *config) error {
		c.onError = handler
		if handler == nil {
			return fmt.Errorf("%w: WithErrorHandler(nil): leave the option out for the default", ErrOption)
		}
		return nil
	}
}

// WithUnhandledRejection sets who is told of a promise that was rejected and that nobody has attached a handler to by
// the time the microtasks have run: once, with the reason. It runs on the loop. By default it is the error handler.
// Of promises that other goroutines make while the loop runs it is told later: see Promise. If the loop is not running
// then, another goroutine calls it.
func WithUnhandledRejection(hook func(reason error)) Option {
	return func(c *config) error {
		c.onRejection = hook
		if hook == nil {
			return fmt.Errorf("%w: WithUnhandledRejection(nil): leave the option out for the default", ErrOption)
		}
		return nil
	}
}

// WithQueuePressure calls hook on the loop when `high` tasks wait, and once more when no more than half of them do,
// so that producers can be slowed down before they meet ErrOverload. It is told how many wait: the last call never says
// more than half of `high` while no more than that do, nor the other way round. A change that is over before the loop
// gets to call the hook is not reported.
func WithQueuePressure(high int, hook func(queued int)) Option {
	return func(c *config) error {
		c.pressureHigh, c.onPressure = high, hook
		if hook == nil {
			return fmt.Errorf("%w: WithQueuePressure(%d, nil): the hook is missing", ErrOption, high)
		}
		return inRange("WithQueuePressure", high, 1, mostMaxQueue)
	}
}

func inRange(name string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("%w: %s(%d) is out of range: %d to %d", ErrOption, name, value, least, most)
	}
	return nil
}
