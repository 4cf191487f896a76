package entrant

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/eventloop"
)

var errTerminated = errors.New("goja_nodejs: the loop is terminated")

// Goja is the loop of goja_nodejs, which hands its JavaScript runtime to each task. Behind the interface of the other
// entrants, as the report used it, a task has a wrapper, and costs one allocation more than it costs those who write
// functions that take the runtime: see GojaNative. Its microtasks are those of JavaScript: they follow a call of a script, see
// SubmitScript. It knows no descriptors: a goroutine waits for them.
type Goja struct {
	*readiness
	loop *eventloop.EventLoop
	vm   *goja.Runtime // the loop's, as script
	// script makes a function of JavaScript that calls one of Go. Only within such a function, which has a frame, does what
	// calls JavaScript again leave microtasks for later.
	script  func(call func(goja.FunctionCall) goja.Value) goja.Value
	settled gojaPromise // whose reactions are microtasks at once
}

// NewGoja starts a Goja.
func NewGoja(int) (Entrant, error) { return newGoja(), nil }

func newGoja() *Goja {
	loop := eventloop.NewEventLoop(eventloop.EnableConsole(false))
	l := &Goja{loop: loop}
	l.readiness = newReadiness(l.Submit)
	loop.Run(func(vm *goja.Runtime) {
		l.vm = vm
		source, err := vm.RunString("(call) => (value) => call(value)")
		must(err)
		script, _ := goja.AssertFunction(source)
		l.script = func(call func(goja.FunctionCall) goja.Value) goja.Value {
			function, err := script(goja.Undefined(), vm.ToValue(call))
			must(err)
			return function
		}
		l.settled = l.Promise().(gojaPromise)
		l.settled.Resolve(nil)
	})
	loop.Start()
	return l
}

func (l *Goja) runOnLoop(task func(*goja.Runtime)) error {
	if !l.loop.RunOnLoop(task) {
		return errTerminated
	}
	return nil
}

// Submit implements Entrant, by a wrapper for each task.
func (l *Goja) Submit(task func()) error {
	return l.runOnLoop(func(*goja.Runtime) { task() })
}

// Count implements Native.
func (l GojaNative) Count(n *atomic.Int64, wg *sync.WaitGroup) error {
	return l.runOnLoop(func(*goja.Runtime) {
		n.Add(1)
		wg.Done()
	})
}

// Signal implements Native.
func (l GojaNative) Signal(done chan struct{}) error {
	return l.runOnLoop(func(*goja.Runtime) { close(done) })
}

// Prepare implements Preparer.
func (l *Goja) Prepare(task func()) func() error {
	wrapped := func(*goja.Runtime) { task() }
	return func() error { return l.runOnLoop(wrapped) }
}

// After implements Timer.
func (l *Goja) After(delay time.Duration, callback func()) (func(), error) {
	timer := l.loop.SetTimeout(func(*goja.Runtime) { callback() }, delay)
	if timer == nil {
		return nil, errTerminated
	}
	return func() { l.loop.ClearTimeout(timer) }, nil
}

// SubmitScript implements Scripted.
func (l *Goja) SubmitScript(task func()) error {
	return l.runOnLoop(func(vm *goja.Runtime) {
		function, _ := goja.AssertFunction(l.script(func(goja.FunctionCall) goja.Value {
			task()
			return nil
		}))
		_, err := function(goja.Undefined())
		must(err)
	})
}

// Microtask implements Microtasker.
func (l *Goja) Microtask(fn func()) {
	l.settled.Then(func(any) (any, error) {
		fn()
		return nil, nil
	})
}

// Promise implements Promiser.
func (l *Goja) Promise() Promise {
	p, resolve, reject := l.vm.NewPromise()
	return gojaPromise{l, l.vm.ToValue(p).ToObject(l.vm), resolve, reject}
}

type gojaPromise struct {
	loop            *Goja
	object          *goja.Object
	resolve, reject func(any) error
}

func (p gojaPromise) Resolve(value any)   { must(p.resolve(value)) }
func (p gojaPromise) Reject(reason error) { must(p.reject(reason)) }

func (p gojaPromise) Then(fn func(any) (any, error)) Promise {
	return p.call("then", func(value goja.Value) (any, error) { return fn(value.Export()) })
}

func (p gojaPromise) Catch(fn func(error) (any, error)) Promise {
	return p.call("catch", func(value goja.Value) (any, error) {
		reason, isError := value.Export().(error)
		if !isError {
			reason = errors.New(value.String())
		}
		return fn(reason)
	})
}

// call calls a method that takes a reaction and returns a promise.
func (p gojaPromise) call(method string, reaction func(value goja.Value) (any, error)) Promise {
	function, _ := goja.AssertFunction(p.object.Get(method))
	next, err := function(p.object, p.loop.script(func(call goja.FunctionCall) goja.Value {
		result, err := reaction(call.Argument(0))
		if err != nil {
			panic(p.loop.vm.ToValue(err)) // throws it
		}
		return p.loop.vm.ToValue(result)
	}))
	must(err)
	return gojaPromise{loop: p.loop, object: next.ToObject(p.loop.vm)}
}

// must panics with what a runtime returns only when it is interrupted, or a task has panicked.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Close implements Entrant.
func (l *Goja) Close() error {
	l.readiness.close()
	l.loop.Terminate() // runs what Stop would leave for the next start
	return nil
}

// GojaNative is the same loop as its users know it.
type GojaNative struct{ *Goja }

// NewGojaNative starts a GojaNative.
func NewGojaNative(int) (Entrant, error) { return GojaNative{newGoja()}, nil }
