package eventloop

import (
	"github.com/dop251/goja"

	"millrace.dev/go"
	core "millrace.dev/go/eventloop"
	"millrace.dev/go/internal/inner"
)

// KeepAlive keeps Run waiting for work that goes on elsewhere, until complete is called: from any goroutine, with a
// function to run on the loop then, or nil. It returns true the first time, and false later, or when the loop is or was
// terminated or closed: fn is then not called. Any goroutine; usually the callback that starts the work.
func (loop *EventLoop) KeepAlive() (complete func(fn func(*goja.Runtime)) bool) {
	// The mutex keeps Terminate from missing a handle. Nil: the loop is terminated or closed.
	loop.mu.Lock()
	defer loop.mu.Unlock()
	var handle *core.Handle
	if !loop.terminated.Load() {
		handle, _ = loop.core.KeepAlive()
	}
	if handle != nil {
		loop.handles[handle] = struct{}{}
	}
	return func(fn func(*goja.Runtime)) bool {
		// Under the mutex, so that what is accepted while Terminate begins comes before its end.
		loop.mu.Lock()
		defer loop.mu.Unlock()
		if _, waits := loop.handles[handle]; !waits {
			return false
		}
		delete(loop.handles, handle)
		// Released when fn waits, so that there is no moment without either.
		defer handle.Release()
		return fn == nil || loop.force(millrace.Normal, func() { loop.task(fn) }) == nil
	}
}

// NewPromise makes a promise that resolve and reject settle from any goroutine; they return false if it was settled
// before, or the loop terminated. Run waits for that. Only in a callback of the loop.
//
// A value becomes one of JavaScript as Runtime.ToValue does it; a func(*goja.Runtime) goja.Value is called on the loop
// to make it, and an error that it throws rejects the promise. For reject, a Go error becomes an Error whose property
// `value` it is, and a *goja.Exception the thrown value.
func (loop *EventLoop) NewPromise() (promise *goja.Promise, resolve, reject func(value any) bool) {
	promise, fulfill, refuse := loop.vm.NewPromise()
	complete := loop.KeepAlive()
	settle := func(how func(any) error, value func(any) goja.Value) func(any) bool {
		return func(v any) bool {
			return complete(func(vm *goja.Runtime) {
				how, result := how, goja.Undefined()
				if thrown := vm.Try(func() { result = value(v) }); thrown != nil {
					how, result = refuse, thrown.Value()
				}
				if err := how(result); err != nil {
					loop.fail(err)
				}
			})
		}
	}
	return promise, settle(fulfill, loop.value), settle(refuse, loop.reason)
}

// Go runs fn on a goroutine of its own and returns a promise of its result. An error of fn, or a panic (as a
// *millrace.PanicError), rejects it. Only in a callback of the loop. fn must not use the runtime.
func (loop *EventLoop) Go(fn func() (any, error)) *goja.Promise {
	promise, resolve, reject := loop.NewPromise()
	go func() {
		returned := false
		defer func() {
			if !returned {
				reject(inner.Caught(recover()))
			}
		}()
		value, err := fn()
		returned = true
		if err != nil {
			reject(err)
		} else {
			resolve(value)
		}
	}()
	return promise
}

func (loop *EventLoop) value(v any) goja.Value {
	if build, ok := v.(func(*goja.Runtime) goja.Value); ok {
		return build(loop.vm)
	}
	return loop.vm.ToValue(v)
}

func (loop *EventLoop) reason(v any) goja.Value {
	switch v := v.(type) {
	case *goja.Exception:
		return v.Value()
	case error:
		return loop.vm.NewGoError(v)
	}
	return loop.value(v)
}
