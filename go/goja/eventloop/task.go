package eventloop

import (
	"slices"

	"github.com/dop251/goja"
)

// UnhandledRejection tells of a promise that was rejected and has no handler.
type UnhandledRejection struct {
	// Promise is the promise; Promise.Result() is the reason.
	Promise *goja.Promise
	// Exception is the reason as if it had been thrown, with the stack that an Error carries.
	Exception *goja.Exception
}

func (e *UnhandledRejection) Error() string {
	return "unhandled rejection: " + e.Exception.Error()
}

func (e *UnhandledRejection) Unwrap() error {
	return e.Exception
}

// task runs one callback and what has to follow it before the next. goja runs the microtasks itself, when the outermost
// call of JavaScript ends.
func (loop *EventLoop) task(fn func(*goja.Runtime)) {
	if loop.node {
		loop.taskWithTicks(fn)
		return
	}
	fn(loop.vm)
	for len(loop.rejected) > 0 {
		loop.reportRejections()
	}
}

// call calls a function of JavaScript that nobody waits for.
func (loop *EventLoop) call(fn goja.Callable, this goja.Value, args []goja.Value) {
	if _, err := fn(this, args...); err != nil {
		loop.fail(err)
	}
}

func (loop *EventLoop) fail(err error) {
	if loop.onError == nil {
		return
	}
	if _, interrupted := err.(*goja.InterruptedError); interrupted && loop.ticks.inFrame {
		// The frame around this call is interrupted too, and tells.
		return
	}
	loop.onError(err)
}

// trackRejection is what goja tells of promises that are rejected without a handler, and of those that get one later.
func (loop *EventLoop) trackRejection(promise *goja.Promise, operation goja.PromiseRejectionOperation) {
	switch operation {
	case goja.PromiseRejectionReject:
		loop.rejected = append(loop.rejected, promise)
	case goja.PromiseRejectionHandle:
		if i := slices.Index(loop.rejected, promise); i >= 0 {
			loop.rejected = slices.Delete(loop.rejected, i, i+1)
		}
	}
}

func (loop *EventLoop) reportRejections() {
	rejected := loop.rejected
	loop.rejected = nil
	for _, promise := range rejected {
		loop.onError(&UnhandledRejection{Promise: promise, Exception: loop.thrown(promise.Result())})
	}
}

// thrown makes the exception that throwing a value would.
func (loop *EventLoop) thrown(value goja.Value) *goja.Exception {
	return loop.vm.Try(func() { panic(value) })
}

// typeError throws a TypeError with a code, as Node.js does.
func (loop *EventLoop) typeError(code, message string) {
	err := loop.vm.NewTypeError(message)
	if err.Set("code", code) == nil {
		panic(err)
	}
}
