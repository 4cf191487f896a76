package eventloop_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/dop251/goja"

	"millrace.dev/go/goja/eventloop"
)

// The import path is all that changes from goja_nodejs.
func Example() {
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) {
		_ = vm.Set("print", func(text string) { fmt.Println(text) })
		_, err := vm.RunString(`
			setTimeout(() => print('timeout'), 100);
			setImmediate(() => print('immediate'));
			Promise.resolve().then(() => print('promise'));
			queueMicrotask(() => print('microtask'));
			print('script');
		`)
		if err != nil {
			fmt.Println(err)
		}
	})
	// Output:
	// script
	// promise
	// microtask
	// immediate
	// timeout
}

// A function that scripts await and that works on another goroutine. Run waits for it.
func ExampleEventLoop_Go() {
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) {
		_ = vm.Set("print", func(text string) { fmt.Println(text) })
		_ = vm.Set("load", func(name string) *goja.Promise {
			return loop.Go(func() (any, error) {
				if name == "" {
					return nil, errors.New("no name")
				}
				return "content of " + name, nil
			})
		})
		_, _ = vm.RunString(`(async () => {
			print(await load('file'));
			try { await load('') } catch (error) { print(error.message) }
		})()`)
	})
	// Output:
	// content of file
	// no name
}

// A promise that some other part of the program settles, from any goroutine.
func ExampleEventLoop_NewPromise() {
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) {
		promise, resolve, _ := loop.NewPromise()
		_ = vm.Set("promise", promise)
		_ = vm.Set("print", func(text string) { fmt.Println(text) })
		_, _ = vm.RunString(`promise.then(print)`)
		time.AfterFunc(time.Millisecond, func() { resolve("settled") })
	})
	// Output: settled
}

// Errors that goja_nodejs ignores.
func ExampleWithErrorHandler() {
	loop := eventloop.NewEventLoop(eventloop.WithErrorHandler(func(err error) {
		var rejection *eventloop.UnhandledRejection
		if errors.As(err, &rejection) {
			fmt.Println("not handled:", rejection.Promise.Result())
			return
		}
		fmt.Println("thrown:", err.(*goja.Exception).Value())
	}))
	loop.Run(func(vm *goja.Runtime) {
		_, _ = vm.RunString(`
			setImmediate(() => { throw new Error('one') });
			Promise.reject(new Error('two'));
		`)
	})
	// Output:
	// not handled: Error: two
	// thrown: Error: one
}

// process.nextTick and the rules of Node.js.
func ExampleWithNode() {
	loop := eventloop.NewEventLoop(eventloop.WithNode())
	loop.Run(func(vm *goja.Runtime) {
		_ = vm.Set("print", func(text string) { fmt.Println(text) })
		_, _ = vm.RunString(`
			Promise.resolve().then(() => print('promise'));
			process.nextTick(() => print('tick'));
			try { setTimeout('print(1)') } catch (error) { print(error.code) }
		`)
	})
	// Output:
	// ERR_INVALID_ARG_TYPE
	// tick
	// promise
}

// What a program that used goja_nodejs looks like.
func ExampleNewEventLoop() {
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) {
		vm.RunString(`setTimeout(() => console.log('later'), 100)`)
	})
}

// Errors of both kinds in the log of the program.
func ExampleUnhandledRejection() {
	log.SetFlags(0)
	log.SetOutput(os.Stdout)
	defer log.SetOutput(os.Stderr)
	loop := eventloop.NewEventLoop(eventloop.WithErrorHandler(func(err error) {
		var rejection *eventloop.UnhandledRejection
		if errors.As(err, &rejection) {
			log.Print("nobody handles ", rejection.Promise.Result())
			return
		}
		log.Print(err)
	}))
	loop.Run(func(vm *goja.Runtime) {
		vm.RunString(`Promise.reject('a promise'); setImmediate(() => { throw 'a callback' })`)
	})
	// Output:
	// nobody handles a promise
	// a callback at <eval>:1:51(2)
}

// Content that a goroutine loads while the script goes on.
func ExampleEventLoop_Go_download() {
	download := func(url string) (string, error) { return "content of " + url, nil }
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) {
		vm.Set("print", func(text string) { fmt.Println(text) })
		vm.Set("load", func(url string) *goja.Promise {
			return loop.Go(func() (any, error) { return download(url) })
		})
		vm.RunString(`load('page').then(print); print('meanwhile')`)
	})
	// Output:
	// meanwhile
	// content of page
}

// Recovering from a panic of Go code that a script calls.
func ExampleEventLoop_Run_panics() {
	loop := eventloop.NewEventLoop()
	func() {
		defer func() { fmt.Println("recovered:", recover()) }()
		loop.Run(func(vm *goja.Runtime) {
			_ = vm.Set("native", func() { panic("from Go") })
			_, _ = vm.RunString(`setTimeout(native, 1)`)
		})
	}()
	loop.Run(func(*goja.Runtime) { fmt.Println("and on it goes") })
	// Output:
	// recovered: from Go
	// and on it goes
}
