// Package eventloop is github.com/dop251/goja_nodejs/eventloop on Millrace's event loop: the same names with the same
// meaning, so that a program changes the import path and nothing else. It runs JavaScript with timers, immediates,
// promises, queueMicrotask, console and require; the last two are those of goja_nodejs.
//
// Each callback (a timer, an immediate, a function given to RunOnLoop) is followed by all microtasks, promise reactions
// and those of queueMicrotask in one order, before the next callback.
//
// Priorities and errors are those of package millrace. Options are functions, and a loop is ended by Terminate, as in
// goja_nodejs.
//
// Not in goja_nodejs: WithErrorHandler, WithNode, WithLoopConfig, KeepAlive, NewPromise, Go and Loop.
package eventloop

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/process"
	"github.com/dop251/goja_nodejs/require"

	"millrace.dev/go"
	core "millrace.dev/go/eventloop"
)

// EventLoop is a JavaScript runtime and the loop that runs it. Make one with NewEventLoop.
type EventLoop struct {
	vm   *goja.Runtime
	core *core.Loop

	enableConsole bool
	registry      *require.Registry
	config        core.Config
	onError       func(error)
	node          bool

	terminated atomic.Bool // what may be submitted is looked at without the mutex, by every RunOnLoop

	mu       sync.Mutex
	running  bool          // a Run or Start is under way; the callbacks of the loop may read it
	ended    chan struct{} // closed when it is over
	jobCount int32         // timers, intervals and immediates that are to run
	jobs     *job          // those of them that have a timer
	// The interval that runs now, and the time from which its next one counts.
	repeating  *job
	repeatFrom time.Time
	handles    map[*core.Handle]struct{}
	numbered   map[int64]*job // the active ones of which a script has made a number

	// What follows belongs to the loop.
	microtask  goja.Callable
	timerProto *goja.Object
	lastNumber int64
	rejected   []*goja.Promise // without a handler so far
	ticks      ticks
}

// Option changes a setting of NewEventLoop.
type Option func(*EventLoop)

// EnableConsole adds or omits `console`; by default the runtime has it.
func EnableConsole(enableConsole bool) Option {
	return func(loop *EventLoop) { loop.enableConsole = enableConsole }
}

// WithRegistry sets the registry that `require` looks for modules in; by default an empty one of this loop.
func WithRegistry(registry *require.Registry) Option {
	return func(loop *EventLoop) { loop.registry = registry }
}

// WithErrorHandler sets the handler of JavaScript errors that no caller sees. Without it they are ignored, as
// goja_nodejs does. The handler runs on the loop and gets
//
//   - a *goja.Exception when a callback throws (timer, interval, immediate, microtask, tick),
//   - a *goja.InterruptedError or *goja.StackOverflowError when one was ended,
//   - an *UnhandledRejection when a promise was rejected and had no handler when the microtasks had run.
func WithErrorHandler(handler func(error)) Option {
	return func(loop *EventLoop) { loop.onError = handler }
}

// WithNode makes the runtime follow Node.js where goja_nodejs does not: process.nextTick (and process.env) exists, and
// its queue runs before the microtasks; a callback that is not a function is a TypeError; a delay below 1 ms or above
// 2147483647 ms counts as 1 ms; callbacks of timers are called on the object that setTimeout returned. A callback then
// costs about a microsecond more.
func WithNode() Option {
	return func(loop *EventLoop) { loop.node = true }
}

// WithLoopConfig configures the loop underneath, such as its PreciseTimers, Timing or MaxQueue (by default the largest
// one; beyond it RunOnLoop returns false and setImmediate throws). PropagatePanics is always on.
func WithLoopConfig(config core.Config) Option {
	return func(loop *EventLoop) { loop.config = config }
}

// NewEventLoop makes a loop with a new runtime. It runs nothing and starts no goroutine before Run or Start.
//
// It panics if a setting given to WithLoopConfig is out of range.
func NewEventLoop(opts ...Option) *EventLoop {
	loop := &EventLoop{
		vm:            goja.New(),
		enableConsole: true,
		handles:       make(map[*core.Handle]struct{}),
		numbered:      make(map[int64]*job),
	}
	for _, opt := range opts {
		opt(loop)
	}
	loop.config.PropagatePanics = true
	loop.config.MaxQueue = cmp.Or(loop.config.MaxQueue, 1<<30)
	if loop.onError != nil {
		loop.config.OnError = loop.onError
	}
	var err error
	if loop.core, err = core.New(loop.config); err != nil {
		panic(err)
	}
	if loop.registry == nil {
		loop.registry = new(require.Registry)
	}
	loop.registry.Enable(loop.vm)
	if loop.enableConsole {
		loop.enableConsoleObject()
	}
	loop.enableTimers()
	loop.enableMicrotasks()
	if loop.onError != nil {
		loop.vm.SetPromiseRejectionTracker(loop.trackRejection)
	}
	if loop.node {
		process.Enable(loop.vm)
		loop.enableTicks()
	}
	return loop
}

// Loop returns the loop underneath, for Go code that wants its priorities, timers, watchers and statistics. Use
// RunOnLoop and KeepAlive, not its methods, for functions that call JavaScript, and let only the EventLoop run, stop or
// close it.
func (loop *EventLoop) Loop() *core.Loop { return loop.core }

// Run calls fn and then runs the loop on the calling goroutine until nothing is left to do: no function given to
// RunOnLoop waits, and no timer, interval, immediate or KeepAlive is left. It also returns after StopNoWait, and after
// Stop from another goroutine.
//
// The runtime that fn gets, and any value made from it, must not be used outside fn. A Go panic in a callback leaves
// Run with its own value; the loop is then stopped, waiting functions stay, and it may be run again. Run panics if the
// loop is running already: then use RunOnLoop.
func (loop *EventLoop) Run(fn func(*goja.Runtime)) {
	run := loop.start(false)
	// High: ahead of what has waited since the last run, and of timers that are due.
	if err := loop.force(millrace.High, func() { loop.task(fn) }); err != nil {
		loop.over()
		panic(err)
	}
	run()
}

// Start runs the loop on a goroutine of its own until Stop, StopNoWait or Terminate, whether anything is left to do or
// not. It panics if the loop is running already. A Go panic in a callback ends the process; see StartInForeground.
func (loop *EventLoop) Start() { go loop.start(true)() }

// StartInForeground is Start on the calling goroutine: it returns when the loop is stopped. A Go panic in a callback
// leaves it with its own value, so that the caller can recover; the loop may then be started again.
func (loop *EventLoop) StartInForeground() { loop.start(true)() }

func (loop *EventLoop) start(forever bool) (run func()) {
	run = loop.begin(forever)
	loop.terminated.Store(false)
	return run
}

// begin makes the loop count as running, and returns what runs it.
func (loop *EventLoop) begin(forever bool) (run func()) {
	loop.mu.Lock()
	defer loop.mu.Unlock()
	if loop.running {
		panic("Loop is already started")
	}
	var alive *core.Handle
	if forever {
		var err error
		if alive, err = loop.core.KeepAlive(); err != nil {
			panic(err)
		}
	}
	loop.running, loop.ended = true, make(chan struct{})
	return func() {
		// Deferred: a callback may panic, or end this goroutine with runtime.Goexit.
		defer loop.over()
		if alive != nil {
			defer alive.Release()
		}
		if err := loop.core.Run(context.Background()); err != nil {
			panic(err)
		}
	}
}

func (loop *EventLoop) over() {
	loop.mu.Lock()
	loop.running = false
	close(loop.ended)
	loop.mu.Unlock()
}

// Stop stops the loop when the functions waiting now have run, and waits for that; on a loop that is not running it
// does nothing. It returns the number of timers, intervals and immediates left: they stay, and Start or Run goes on
// with them.
//
// In a callback of the loop it does not wait: it is StopNoWait there.
func (loop *EventLoop) Stop() int {
	if ended := loop.stop(); ended != nil && !loop.core.Inside() {
		<-ended
	}
	loop.mu.Lock()
	defer loop.mu.Unlock()
	return int(loop.jobCount)
}

// StopNoWait is Stop without waiting. Any goroutine, also callbacks of the loop.
func (loop *EventLoop) StopNoWait() { loop.stop() }

// stop returns what is closed when the run under way, if any, has ended.
func (loop *EventLoop) stop() (ended chan struct{}) {
	loop.mu.Lock()
	defer loop.mu.Unlock()
	if !loop.running {
		return nil
	}
	ended = loop.ended
	// An error means that the loop underneath was closed, and so has ended or is about to.
	_ = loop.force(millrace.Normal, func() {
		if !loop.node {
			loop.stopRun(ended)
		} else if _, err := loop.core.Immediate(func() { loop.stopRun(ended) }); err != nil {
			panic(err)
		}
	})
	return ended
}

// stopRun stops the run it was meant for: that may have ended by a panic, and the loop been started again.
func (loop *EventLoop) stopRun(ended chan struct{}) {
	if loop.ended == ended {
		loop.core.Stop()
	}
}

// force queues what must not be refused, even if the bound of WithLoopConfig is reached.
func (loop *EventLoop) force(priority millrace.Priority, fn func()) error {
	err := loop.core.SubmitPriority(priority, fn)
	if errors.Is(err, millrace.ErrOverload) {
		_, err = loop.core.After(0, fn)
	}
	return err
}

// Terminate stops the loop as Stop does and cancels all timers and intervals. Functions that were given to RunOnLoop
// while it was stopped are run, on the calling goroutine. Later work is refused, until the loop is started again. No
// goroutine of the loop is left.
//
// Not together with Start, Run or Stop on other goroutines. It panics in a callback of the loop, which it would have to
// wait for.
func (loop *EventLoop) Terminate() {
	if loop.core.Inside() {
		panic("Terminate in a callback of the loop: use StopNoWait, and Terminate when Run has returned")
	}
	loop.Stop()
	run := loop.begin(false)
	loop.terminated.Store(true)
	loop.mu.Lock()
	for loop.jobs != nil {
		loop.jobs.clearLocked()
	}
	for handle := range loop.handles {
		handle.Release()
	}
	clear(loop.handles)
	loop.mu.Unlock()
	loop.stop()
	run()
}

// RunOnLoop queues fn for the loop, which calls the functions in the order in which they were queued. Any goroutine,
// also callbacks of the loop; fn never runs within the call. Functions queued while the loop is stopped wait for Start
// or Run.
//
// The runtime that fn gets, and any value made from it, must not be used outside fn. False if the loop is terminated:
// fn will not be called. A call that overlaps Terminate may be accepted; fn then waits for the next Start or Run.
func (loop *EventLoop) RunOnLoop(fn func(*goja.Runtime)) bool {
	mustHave(fn != nil, "RunOnLoop")
	return !loop.terminated.Load() && loop.core.Submit(func() { loop.task(fn) }) == nil
}
