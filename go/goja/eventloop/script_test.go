package eventloop_test

import (
	"testing"
	"time"

	"github.com/dop251/goja"
	peer "github.com/dop251/goja_nodejs/eventloop"

	"millrace.dev/go/goja/eventloop"
)

// Scripts that do the same with goja_nodejs.
func TestSameAsGojaNodejs(t *testing.T) {
	for name, code := range map[string]string{
		"no function": `log(setTimeout(5)); log(setInterval("log(1)", 1)); log(setImmediate());
			log(setTimeout(null, 1))`,
		"order": `setImmediate(() => { log(1); setTimeout(() => { log(4); setTimeout(log, 1, 5) }, 5) });
			Promise.resolve().then(() => log(2)); log(3)`,
		"arguments": `setTimeout((...a) => { log(a); setImmediate((...b) => { log(b);
			setTimeout((...c) => log(c.length), 1) }, "b") }, 1, "a", {}, 3)`,
		"delays": `for (const d of [NaN, -5, undefined, null, "x", "2", -Infinity, Infinity, {}, true])
			setTimeout(log, d, "x")`,
		"clear": `const t = setTimeout(log, 1, "no"); clearTimeout(t); clearTimeout(t); clearTimeout(undefined);
			clearTimeout()`,
		"clear inside": `let n = 0; const i = setInterval(() => { log(n); if (++n == 3) clearInterval(i) }, 1)`,
		"immediate clears": `let i; setImmediate(() => clearImmediate(i)); i = setImmediate(log, "no");
			setImmediate(log, "yes")`,
		"throws": `setTimeout(() => { throw new Error("x") }, 1); setImmediate(() => { throw 1 });
			setTimeout(log, 20, "after")`,
		"rejects": `Promise.reject(1); (async () => { throw 2 })(); setTimeout(log, 1, "after")`,
		"async": `(async () => { log(1); await null; log(2); await new Promise(r => setTimeout(r, 1)); log(3) })();
			log(4)`,
		"types": `log(typeof setTimeout(() => {}, 1)); log(typeof setImmediate(() => {}));
			log(setTimeout.name)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			theirs := peer.NewEventLoop()
			// It would leave goroutines of intervals behind otherwise.
			defer theirs.Terminate()
			theirs.Run(func(vm *goja.Runtime) {
				_ = vm.Set("log", func(call goja.FunctionCall) goja.Value {
					want = append(want, call.Argument(0).String())
					return goja.Undefined()
				})
				if _, err := vm.RunString(code); err != nil {
					t.Error(err)
				}
			})
			if name == "types" {
				want[2] = "setTimeout" // theirs has the name of a Go method
			}
			equal(t, script(t, eventloop.NewEventLoop(), code), want...)
		})
	}
}

func TestMicrotasksShareOneOrder(t *testing.T) {
	got := script(t, eventloop.NewEventLoop(), `
		queueMicrotask(() => log('q1'));
		Promise.resolve().then(() => { log('p1'); queueMicrotask(() => log('q3')) }).then(() => log('p3'));
		queueMicrotask(() => { log('q2'); Promise.resolve().then(() => log('p4')) });
		Promise.resolve().then(() => log('p2'));
		queueMicrotask((...args) => log(args.length));
		log('sync')`)
	equal(t, got, "sync", "q1", "p1", "q2", "p2", "0", "q3", "p3", "p4")
}

func TestMicrotasksDoNotDependOnWhatAScriptChanges(t *testing.T) {
	got := script(t, eventloop.NewEventLoop(), `
		Promise.prototype.then = Promise.resolve = Reflect.apply = () => { throw new Error('changed') };
		Function.prototype.call = Function.prototype.apply = Promise.resolve;
		queueMicrotask(() => log('ran'))`)
	equal(t, got, "ran")
}

func TestQueueMicrotaskWantsAFunction(t *testing.T) {
	got := script(t, eventloop.NewEventLoop(),
		`for (const x of [undefined, 1, 'code', {}]) try { queueMicrotask(x) } catch (e) { log(e.name + e.code) }`)
	const want = "TypeErrorERR_INVALID_ARG_TYPE"
	equal(t, got, want, want, want, want)
}

func TestNativeFunctionsAsReactions(t *testing.T) {
	got := script(t, eventloop.NewEventLoop(), `
		Promise.resolve('shown').then(console.log).then(v => log(v));
		Promise.resolve(() => log('immediate')).then(setImmediate);
		Promise.resolve(1).then(clearTimeout).then(v => log(v));
		setImmediate(queueMicrotask, () => log('micro'))`)
	if len(got) != 4 {
		t.Fatal(got)
	}
}

func TestTimerMethods(t *testing.T) {
	got := script(t, eventloop.NewEventLoop(), `
		const hour = setInterval(() => log('never'), 3600e3);
		log(hour.hasRef()); log(hour.unref() === hour); log(hour.hasRef()); log(hour.ref().hasRef()); hour.unref();
		setTimeout(() => log('never'), 3600e3).unref();
		const closed = setTimeout(() => log('never'), 1); closed.close(); closed.refresh();
		clearInterval(setTimeout(() => log('never'), 1)); clearTimeout(setInterval(() => log('never'), 1));
		for (const other of [null, {}, [], 'x', 5, () => 0, Symbol('x')]) { clearTimeout(other); clearImmediate(other) }
		hour.mine = 5; log(hour.mine + Object.keys(hour) + ('mine' in hour)); delete hour.mine; log('mine' in hour);
		const immediate = setImmediate(() => {
			log('immediate');
			let times = 0;
			const again = setTimeout(() => { log('fired'); if (++times < 3) again.refresh() }, 1);
			clearImmediate(again);
		});
		clearTimeout(immediate)`)
	equal(t, got, "true", "true", "false", "true", "5minetrue", "false", "immediate", "fired", "fired", "fired")
}

// A Go function gets the timer that a script holds, and a script the one that Go made.
func TestTimersCrossTheBorder(t *testing.T) {
	loop := eventloop.NewEventLoop()
	fail := func(*goja.Runtime) { t.Error("fired") }
	loop.Run(func(vm *goja.Runtime) {
		_ = vm.Set("stop", loop.ClearTimeout)
		_ = vm.Set("stopInterval", loop.ClearInterval)
		_ = vm.Set("fail", func() { t.Error("fired") })
		_ = vm.Set("timer", loop.SetTimeout(fail, time.Hour))
		_ = vm.Set("interval", loop.SetInterval(fail, time.Hour))
		_, err := vm.RunString(`stop(setTimeout(fail, 36e5)); stopInterval(setInterval(fail, 36e5));
			clearTimeout(timer); clearInterval(interval)`)
		if err != nil {
			t.Error(err)
		}
		if _, ok := vm.Get("timer").Export().(*eventloop.Timer); !ok {
			t.Error("Export is no *Timer")
		}
		value, _ := vm.RunString(`setImmediate(() => {})`)
		if _, ok := value.Export().(*eventloop.Immediate); !ok {
			t.Error("Export is no *Immediate")
		}
	})
}

// In nanoseconds the first is an hour, if the overflow goes unnoticed.
func TestDelaysBeyondTheClockFireAtOnce(t *testing.T) {
	got := script(t, eventloop.NewEventLoop(), `for (const d of [18446747673709, Infinity, 1e300]) setTimeout(log, d, d)`)
	equal(t, got, "18446747673709", "Infinity", "1e+300")
}

func TestNodeDelays(t *testing.T) {
	// All of them are one millisecond, so they fire in the order in which they were set.
	got := script(t, eventloop.NewEventLoop(eventloop.WithNode()), `
		[0, 1, -5, NaN, Infinity, -Infinity, 2147483648, 1e300, '1', 'x', null, undefined, {}, 1.9, [], true]
			.forEach((delay, i) => setTimeout(log, delay, i));
		for (const f of [setTimeout, setInterval, setImmediate, process.nextTick])
			try { f('log(1)', 1) } catch (e) { log(e.code) }
		try { setTimeout(() => {}, 5n) } catch (e) { log(e.name) }
		const timer = setTimeout(function () { log(this === timer) }, 30)`)
	const code = "ERR_INVALID_ARG_TYPE"
	equal(t, got, code, code, code, code, "TypeError",
		"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "true")
}
