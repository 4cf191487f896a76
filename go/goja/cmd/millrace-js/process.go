package main

import (
	_ "embed"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/console"
	"github.com/dop251/goja_nodejs/require"
	"github.com/dop251/goja_nodejs/util"

	"millrace.dev/go"
)

var (
	//go:embed process.js
	processSource  string
	processProgram = goja.MustCompile("millrace:process", processSource, true)
	//go:embed inspect.js
	inspectSource  string
	inspectProgram = goja.MustCompile("millrace:inspect", inspectSource, true)
	//go:embed timers.js
	timersSource  string
	timersProgram = goja.MustCompile("millrace:timers", timersSource, true)
	//go:embed console.js
	consoleSource  string
	consoleProgram = goja.MustCompile("millrace:console", consoleSource, true)

	started = time.Now()
)

// registry is where require finds modules: console of goja_nodejs with our util.format and without times in front.
func (s *script) registry() *require.Registry {
	registry := require.NewRegistry(require.WithLoader(loadSource))
	registry.RegisterNativeModule(console.ModuleName, console.RequireWithPrinter(console.StdPrinter{
		StdoutPrint: func(line string) { _, _ = io.WriteString(os.Stdout, line+"\n") },
		StderrPrint: func(line string) { _, _ = io.WriteString(os.Stderr, line+"\n") },
	}))
	registry.RegisterNativeModule(util.ModuleName, func(vm *goja.Runtime, module *goja.Object) {
		util.Require(vm, module)
		call(vm, inspectProgram, module.Get("exports"), vm.ToValue(promiseState))
	})
	for _, name := range []string{"timers", "timers/promises"} {
		load := func(vm *goja.Runtime, module *goja.Object) {
			call(vm, timersProgram, module.Get("exports"), vm.ToValue(name))
		}
		registry.RegisterNativeModule(name, load)
		registry.RegisterNativeModule("node:"+name, load)
	}
	return registry
}

// call calls the function that a program is.
func call(vm *goja.Runtime, program *goja.Program, args ...goja.Value) goja.Value {
	value, err := vm.RunProgram(program)
	if err != nil {
		panic(err)
	}
	function, _ := goja.AssertFunction(value)
	value, err = function(goja.Undefined(), args...)
	if err != nil {
		panic(err)
	}
	return value
}

func promiseState(promise *goja.Promise) (string, goja.Value) {
	switch promise.State() {
	case goja.PromiseStateFulfilled:
		return "fulfilled", promise.Result()
	case goja.PromiseStateRejected:
		return "rejected", promise.Result()
	}
	return "pending", goja.Undefined()
}

// enableProcess completes the process object; process.js says how what is given here is put together.
func (s *script) enableProcess() {
	vm := s.vm
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	millrace, engine := versions()
	version := millrace
	if !strings.HasPrefix(version, "v") {
		// Scripts expect this form, also of a binary that was built from a checkout.
		version = "v0.0.0"
	}
	write := func(file *os.File) func(string) {
		return func(text string) { _, _ = io.WriteString(file, text) }
	}
	native := vm.NewObject()
	for name, value := range map[string]any{
		"argv":     append([]string{executable, s.path}, s.args...),
		"version":  version,
		"versions": map[string]string{"millrace": millrace, "goja": engine},
		"pid":      os.Getpid(),
		"platform": map[string]string{"windows": "win32"}[runtime.GOOS],
		"arch":     map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH],
		"os":       runtime.GOOS,
		"cpu":      runtime.GOARCH,
		"cwd":      os.Getwd,
		"exit":     os.Exit,
		"now":      func() int64 { return time.Since(started).Nanoseconds() },
		"origin":   float64(started.UnixMicro()) / 1000,
		"stdout":   write(os.Stdout),
		"stderr":   write(os.Stderr),
	} {
		_ = native.Set(name, value)
	}
	s.node = call(vm, processProgram, vm.Get("process"), native, vm.GlobalObject()).ToObject(vm)
	call(vm, consoleProgram, vm.Get("console"), require.Require(vm, util.ModuleName), vm.Get("performance"))
}

// beforeExit tells the listeners of 'beforeExit' that nothing is left to do, and runs what they begin, again and again.
func (s *script) beforeExit() {
	for more := true; more; {
		s.loop.Run(func(*goja.Runtime) {
			fired := s.loop.Loop().Stats().TimersTotal
			if _, err := s.method("beforeExit"); err != nil {
				s.failed(err)
			}
			// When the ticks and microtasks of the listeners have run, and before their immediates and timers.
			err := s.loop.Loop().SubmitPriority(millrace.High, func() {
				stats := s.loop.Loop().Stats()
				more = stats.Live > 0 || stats.TimersTotal > fired
			})
			if err != nil {
				panic(err)
			}
		})
	}
}

// emit tells the listeners of an event; false if there are none.
func (s *script) emit(event string, args ...any) bool {
	values := []goja.Value{s.vm.ToValue(event)}
	for _, arg := range args {
		values = append(values, s.vm.ToValue(arg))
	}
	value, err := s.method("emit", values...)
	if err != nil {
		// The listener of the last resort has failed too.
		s.printUncaught(err)
		os.Exit(7)
	}
	return value.ToBoolean()
}

func (s *script) printUncaught(err error) {
	if exception, ok := err.(*goja.Exception); ok {
		_, _ = io.WriteString(os.Stderr, "Uncaught "+s.describe(exception))
	}
}

// exitStatus tells the listeners of 'exit' and returns what process.exitCode then says.
func (s *script) exitStatus(status int) int {
	value, err := s.method("leave", s.vm.ToValue(status))
	if err != nil {
		s.printUncaught(err)
		return 1
	}
	return int(value.ToInteger()) & 0xff
}

func (s *script) inspect(value goja.Value) string {
	text := ""
	exception := s.vm.Try(func() {
		inspect, _ := goja.AssertFunction(require.Require(s.vm, util.ModuleName).ToObject(s.vm).Get("inspect"))
		result, err := inspect(nil, value)
		if err != nil {
			panic(err)
		}
		text = result.String()
	})
	if exception != nil {
		return "a value that cannot be shown"
	}
	return text
}

func (s *script) method(name string, args ...goja.Value) (goja.Value, error) {
	function, _ := goja.AssertFunction(s.node.Get(name))
	return function(goja.Undefined(), args...)
}
