package eventloop

import (
	"github.com/dop251/goja_nodejs/require"

	core "millrace.dev/go/eventloop"
)

// Option changes a setting of NewEventLoop.
type Option func(*EventLoop)

// EnableConsole says whether the runtime has `console`; by default it has.
func EnableConsole(enableConsole bool) Option {
	return func(loop *EventLoop) { loop.enableConsole = enableConsole }
}

// WithRegistry sets the registry that `require` looks for modules in; by default an empty one of this loop.
func WithRegistry(registry *require.Registry) Option {
	return func(loop *EventLoop) { loop.registry = registry }
}

// WithErrorHandler sets who is told of errors of JavaScript that no caller sees. Without it they are ignored, as
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

// WithLoopOptions passes options to the loop underneath, such as WithPreciseTimers, WithTiming or WithMaxQueue (by
// default the largest one; beyond it RunOnLoop returns false and setImmediate throws).
func WithLoopOptions(options ...core.Option) Option {
	return func(loop *EventLoop) { loop.coreOptions = append(loop.coreOptions, options...) }
}
