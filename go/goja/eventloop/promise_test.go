package eventloop_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/dop251/goja"

	"millrace.dev/go"
	"millrace.dev/go/goja/eventloop"
)

func TestPromisesOfGoroutines(t *testing.T) {
	failure := errors.New("from Go")
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) {
		_ = vm.Set("value", func() *goja.Promise { return loop.Go(func() (any, error) { return 42, nil }) })
		_ = vm.Set("fails", func() *goja.Promise { return loop.Go(func() (any, error) { return nil, failure }) })
		_ = vm.Set("panics", func() *goja.Promise { return loop.Go(func() (any, error) { panic(failure) }) })
		_ = vm.Set("built", func() *goja.Promise {
			return loop.Go(func() (any, error) {
				return func(vm *goja.Runtime) goja.Value { return vm.NewArray(1, 2) }, nil
			})
		})
		_ = vm.Set("is", func(err error) bool { return errors.Is(err, failure) })
		_ = vm.Set("panicked", func(err error) bool { var p *millrace.PanicError; return errors.As(err, &p) })
	})
	got := script(t, loop, `(async () => {
		log(await value());
		log(Array.isArray(await built()));
		try { await fails() } catch (e) { log(e instanceof Error); log(e.message); log(is(e.value)) }
		try { await panics() } catch (e) { log(is(e.value)); log(panicked(e.value)) }
		log((await Promise.all(Array.from({ length: 100 }, value))).length);
	})()`)
	equal(t, got, "42", "true", "true", "from Go", "true", "true", "true", "100")
}

func TestAPromiseIsSettledOnce(t *testing.T) {
	loop := eventloop.NewEventLoop()
	var settled sync.Map
	loop.Run(func(vm *goja.Runtime) {
		promise, resolve, reject := loop.NewPromise()
		_ = vm.Set("promise", promise)
		for i := range 20 {
			go func() {
				if i%2 == 0 && resolve(i) || i%2 == 1 && reject(i) {
					settled.Store(i, true)
				}
			}()
		}
		if _, err := vm.RunString(`let outcome; promise.then(v => { outcome = v }, v => { outcome = v })`); err != nil {
			t.Error(err)
		}
	})
	loop.Run(func(vm *goja.Runtime) {
		value, _ := vm.RunString("outcome")
		if _, ok := settled.Load(int(value.ToInteger())); !ok {
			t.Errorf("settled with %v, which was refused", value)
		}
	})
	n := 0
	settled.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Fatal("settled", n, "times")
	}
}

func TestRejectWithWhatWasThrown(t *testing.T) {
	loop := eventloop.NewEventLoop()
	_ = loop.RunOnLoop(func(vm *goja.Runtime) {
		_, exception := vm.RunString(`throw new RangeError('thrown')`)
		promise, _, reject := loop.NewPromise()
		_ = vm.Set("promise", promise)
		reject(exception)
	})
	equal(t, script(t, loop, `setImmediate(() => promise.catch(e => log(e)))`), "RangeError: thrown")
}

// What the function that makes a value throws rejects the promise, and the loop goes on.
func TestWhatABuilderThrowsRejects(t *testing.T) {
	for _, options := range [][]eventloop.Option{nil, {eventloop.WithNode()}} {
		loop := eventloop.NewEventLoop(append(options, eventloop.WithErrorHandler(func(err error) { t.Error(err) }))...)
		throws := func(vm *goja.Runtime) goja.Value { panic(vm.NewTypeError("no value")) }
		passesOn := func(vm *goja.Runtime) goja.Value {
			value, err := vm.RunString(`throw 'thrown in a script'`)
			if err != nil {
				panic(err)
			}
			return value
		}
		loop.Run(func(vm *goja.Runtime) {
			_ = vm.Set("settle", func(rejects, inScript bool) *goja.Promise {
				promise, resolve, reject := loop.NewPromise()
				if rejects {
					resolve = reject
				}
				if inScript {
					resolve(passesOn)
				} else {
					resolve(throws)
				}
				return promise
			})
		})
		got := script(t, loop, `(async () => {
			for (const args of [[false, false], [true, false], [false, true], [true, true]])
				try { log(await settle(...args)) } catch (e) { log('rejected: ' + e) }
		})()`)
		error, text := "rejected: TypeError: no value", "rejected: thrown in a script"
		equal(t, got, error, error, text, text)
	}
}

func TestKeepAliveEndsWithTerminate(t *testing.T) {
	loop := eventloop.NewEventLoop()
	loop.Start()
	complete := loop.KeepAlive()
	released := loop.KeepAlive()
	if !released(nil) || released(nil) {
		t.Error("complete(nil) counts once")
	}
	loop.Terminate()
	if complete(func(*goja.Runtime) { t.Error("called") }) {
		t.Error("accepted after Terminate")
	}
	refused := loop.KeepAlive()
	loop.Run(func(*goja.Runtime) {}) // nothing keeps it alive
	if refused(func(*goja.Runtime) { t.Error("called") }) || refused(nil) {
		t.Error("KeepAlive of a loop that is terminated counts in the next run")
	}
}

// A function that Terminate runs finds the loop terminated.
func TestKeepAliveWhileTerminating(t *testing.T) {
	loop := eventloop.NewEventLoop()
	ran := false
	loop.RunOnLoop(func(*goja.Runtime) {
		ran = true
		if loop.KeepAlive()(nil) {
			t.Error("KeepAlive was accepted")
		}
		promise, resolve, _ := loop.NewPromise()
		if resolve(1) || promise.State() != goja.PromiseStatePending {
			t.Error("a promise was settled")
		}
	})
	loop.Terminate()
	if !ran {
		t.Error("not run")
	}
}
