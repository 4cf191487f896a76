package eventloop

import (
	"github.com/dop251/goja"
)

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

func (loop *EventLoop) enableMicrotasks() {
	source, err := loop.vm.RunProgram(microtaskSource)
	if err != nil {
		panic(err)
	}
	makeQueue, _ := goja.AssertFunction(source)
	settle := loop.vm.ToValue(func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	fail := loop.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		if loop.onError != nil {
			loop.fail(loop.thrown(call.Argument(0)))
		}
		return goja.Undefined()
	})
	queue, err := makeQueue(nil, settle, fail)
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
