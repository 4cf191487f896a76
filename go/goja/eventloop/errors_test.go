package eventloop_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"millrace.dev/go/goja/eventloop"
)

const throwing = `
	setTimeout(() => { throw new Error('timeout') }, 1);
	const i = setInterval(() => { clearInterval(i); throw new Error('interval') }, 1);
	setImmediate(() => { throw new Error('immediate') });
	queueMicrotask(() => { throw new Error('microtask') });
	Promise.reject(new Error('rejection'));
	(async () => { await null; throw 'text' })();
	const late = Promise.reject(new Error('handled in time')); queueMicrotask(() => late.catch(() => {}));
	setTimeout(() => log('goes on'), 30)`

func TestErrorsOfScriptsAreIgnoredByDefault(t *testing.T) {
	equal(t, script(t, eventloop.NewEventLoop(), throwing), "goes on")
	equal(t, script(t, eventloop.NewEventLoop(eventloop.WithNode()), throwing), "goes on")
}

func TestErrorHandlerIsToldOfEach(t *testing.T) {
	for _, options := range [][]eventloop.Option{nil, {eventloop.WithNode()}} {
		told := map[string]int{}
		loop := eventloop.NewEventLoop(append(options, eventloop.WithErrorHandler(func(err error) {
			var exception *goja.Exception
			if !errors.As(err, &exception) {
				t.Errorf("%T: %v", err, err)
				return
			}
			var rejection *eventloop.UnhandledRejection
			kind := ""
			if errors.As(err, &rejection) {
				kind = "rejected "
				if !rejection.Promise.Result().SameAs(exception.Value()) {
					t.Error("the reason is not the result of the promise")
				}
				if !strings.HasPrefix(err.Error(), "unhandled rejection: ") {
					t.Error(err)
				}
			}
			told[kind+exception.Value().String()]++
		}))...)
		equal(t, script(t, loop, throwing), "goes on")
		for _, want := range []string{
			"Error: timeout", "Error: interval", "Error: immediate", "Error: microtask",
			"rejected Error: rejection", "rejected text",
		} {
			if told[want] != 1 {
				t.Errorf("told %d times of %q: %v", told[want], want, told)
			}
		}
		if len(told) != 6 {
			t.Error(told)
		}
	}
}

func TestExceptionsOfMicrotasksCarryTheirStack(t *testing.T) {
	stack := ""
	loop := eventloop.NewEventLoop(eventloop.WithErrorHandler(func(err error) { stack = err.(*goja.Exception).String() }))
	script(t, loop, `queueMicrotask(function culprit() { throw new Error('x') })`)
	if !strings.Contains(stack, "culprit") {
		t.Fatal(stack)
	}
}

// A chain of microtasks that does not end keeps the loop; Interrupt of the runtime ends it, and the loop goes on.
func TestInterruptEndsEndlessMicrotasks(t *testing.T) {
	for name, code := range map[string]string{
		"promises":   `(function f() { spins(); Promise.resolve().then(f) })()`,
		"microtasks": `(function f() { spins(); queueMicrotask(f) })()`,
		"ticks":      `(function f() { spins(); process.nextTick(f) })()`,
		"loop":       `for (;;) spins()`,
	} {
		var told []error
		tell := eventloop.WithErrorHandler(func(err error) { told = append(told, err) })
		loop := eventloop.NewEventLoop(eventloop.WithNode(), tell)
		calls := 0
		loop.Run(func(vm *goja.Runtime) {
			_ = vm.Set("spins", func() {
				if calls++; calls == 10_000 {
					vm.Interrupt("enough")
				}
			})
			_ = vm.Set("later", vm.NewObject())
			timers := `setTimeout(() => { ` + code + ` }, 1); setTimeout(() => { later.ran = true }, 2)`
			if _, err := vm.RunString(timers); err != nil {
				t.Error(err)
			}
		})
		var interrupted *goja.InterruptedError
		if len(told) != 1 || !errors.As(told[0], &interrupted) || interrupted.Value() != "enough" {
			t.Errorf("%s: told of %v", name, told)
		}
		loop.Run(func(vm *goja.Runtime) {
			if vm.Get("later").ToObject(vm).Get("ran") == nil {
				t.Errorf("%s: the timer after it did not run", name)
			}
		})
		if calls != 10_000 {
			t.Errorf("%s: %d calls", name, calls)
		}
	}
}

func TestRejectionsInsideRunOnLoop(t *testing.T) {
	told := 0
	loop := eventloop.NewEventLoop(eventloop.WithErrorHandler(func(error) { told++ }))
	loop.Run(func(vm *goja.Runtime) {
		// Two calls of one callback: the handler comes with the second.
		_, _ = vm.RunString(`const p = Promise.reject(1)`)
		_, _ = vm.RunString(`p.catch(() => {})`)
	})
	if told != 0 {
		t.Fatal("told of a promise that was handled by the end of the callback")
	}
}
