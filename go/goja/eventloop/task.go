package eventloop

import (
	"slices"

	"github.com/dop251/goja"
)

// ---- a callback and what follows it

// UnhandledRejection reports a promise that was rejected and has no handler.
type UnhandledRejection struct {
	// Promise is the promise; Promise.Result() is the reason.
	Promise *goja.Promise
	// Exception is the reason as if it had been thrown, with the stack that an Error carries.
	Exception *goja.Exception
}

func (e *UnhandledRejection) Error() string { return "unhandled rejection: " + e.Exception.Error() }

func (e *UnhandledRejection) Unwrap() error { return e.Exception }

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
	if operation == goja.PromiseRejectionReject {
		loop.rejected = append(loop.rejected, promise)
	} else if i := slices.Index(loop.rejected, promise); i >= 0 {
		loop.rejected = slices.Delete(loop.rejected, i, i+1)
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

// ---- microtasks

// microtaskSource makes queueMicrotask a reaction to a promise that is settled already: goja then runs it in one order
// with all other reactions. `then` makes an object for its result; by way of Symbol.species it is one that nobody sees
// and that hands an exception on. All names are taken now, before a script can change them.
var microtaskSource = goja.MustCompile("millrace:microtask", `(function (settle, fail) {
	'use strict';
	function Result(executor) { executor(settle, fail); }
	const promise = Promise.resolve(), { then } = promise, { apply } = Reflect;
	promise.constructor = { [Symbol.species]: Result };
	return (callback) => { apply(then, promise, [() => { callback(); }]); };
})`, true)

// function is what the source of a function evaluates to.
func (loop *EventLoop) function(source *goja.Program) goja.Callable {
	value, err := loop.vm.RunProgram(source)
	if err != nil {
		panic(err)
	}
	fn, _ := goja.AssertFunction(value)
	return fn
}

func (loop *EventLoop) enableMicrotasks() {
	settle := loop.vm.ToValue(func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	fail := loop.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		if loop.onError != nil {
			loop.fail(loop.thrown(call.Argument(0)))
		}
		return goja.Undefined()
	})
	queue, err := loop.function(microtaskSource)(nil, settle, fail)
	if err != nil {
		panic(err)
	}
	loop.microtask, _ = goja.AssertFunction(queue)
	loop.set("queueMicrotask", 1, loop.queueMicrotask)
}

func (loop *EventLoop) queueMicrotask(call goja.FunctionCall) goja.Value {
	callback := call.Argument(0)
	if _, ok := goja.AssertFunction(callback); !ok {
		loop.typeError("ERR_INVALID_ARG_TYPE", "queueMicrotask: the callback has to be a function")
	}
	if _, err := loop.microtask(nil, callback); err != nil {
		panic(err)
	}
	return goja.Undefined()
}

// ---- process.nextTick

// ticks is process.nextTick: its functions run before the microtasks. goja runs these when the outermost call of
// JavaScript ends, so everything else has to happen inside one such call: the frame, which calls body back.
type ticks struct {
	queue   []tick
	frame   goja.Callable
	body    goja.Value
	task    func(*goja.Runtime)
	inFrame bool
}

type tick struct {
	fn   goja.Callable
	args []goja.Value
}

var frameSource = goja.MustCompile("millrace:frame", `(function (body) { body(); })`, true)

func (loop *EventLoop) enableTicks() {
	loop.ticks.frame = loop.function(frameSource)
	loop.ticks.body = loop.vm.ToValue(loop.framed)
	_ = loop.vm.Get("process").ToObject(loop.vm).Set("nextTick", loop.nextTick)
}

func (loop *EventLoop) nextTick(call goja.FunctionCall) goja.Value {
	fn, _ := loop.callback(call, "process.nextTick")
	loop.ticks.queue = append(loop.ticks.queue, tick{fn, rest(call, 1)})
	return goja.Undefined()
}

// taskWithTicks runs a callback, the ticks, the microtasks, and again the ticks and microtasks that these add; then it
// tells of rejections, which may add some too.
func (loop *EventLoop) taskWithTicks(fn func(*goja.Runtime)) {
	t := &loop.ticks
	t.task, t.inFrame = fn, false
	for t.task != nil || len(t.queue) > 0 || len(loop.rejected) > 0 {
		if t.task == nil && len(t.queue) == 0 {
			t.task = func(*goja.Runtime) { loop.reportRejections() }
		}
		if _, err := t.frame(nil, t.body); err != nil {
			// Interrupted: what the frame has not come to is dropped, as goja drops its microtasks.
			t.task, t.queue, t.inFrame = nil, nil, false
			loop.fail(err)
		}
	}
}

// framed is what the frame calls back.
func (loop *EventLoop) framed(goja.FunctionCall) goja.Value {
	t := &loop.ticks
	t.inFrame = true
	if task := t.task; task != nil {
		t.task = nil
		task(loop.vm)
	}
	for len(t.queue) > 0 {
		queue := t.queue
		t.queue = nil
		for _, tick := range queue {
			loop.call(tick.fn, goja.Undefined(), tick.args)
		}
	}
	t.inFrame = false
	return goja.Undefined()
}
