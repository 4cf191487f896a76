package eventloop_test

import (
	"sync"
	"testing"

	"github.com/dop251/goja"
	peer "github.com/dop251/goja_nodejs/eventloop"

	"millrace.dev/go/goja/eventloop"
)

// An operation of each benchmark is one callback. Compare ours with theirs:
//
//	go test -run '^$' -bench . -count 10 ./eventloop
//
// "node" is ours with WithNode.
type looper interface {
	Run(func(*goja.Runtime))
	Start()
	Stop() int
	RunOnLoop(func(*goja.Runtime)) bool
}

var entrants = []struct {
	name string
	loop func() looper
}{
	{"ours", func() looper { return eventloop.NewEventLoop() }},
	{"node", func() looper { return eventloop.NewEventLoop(eventloop.WithNode()) }},
	{"goja_nodejs", func() looper { return peer.NewEventLoop() }},
}

// Scripts that get n, the number of callbacks.
var scripts = []struct{ name, code string }{
	// All set at once.
	{"setTimeout", `for (let i = 0; i < n; i++) setTimeout(() => {}, 0)`},
	{"setImmediate", `for (let i = 0; i < n; i++) setImmediate(() => {})`},
	// Each sets the next.
	{"setTimeoutChain", `let i = 0; (function f() { if (++i < n) setTimeout(f, 0) })()`},
	{"setImmediateChain", `let i = 0; (function f() { if (++i < n) setImmediate(f) })()`},
	{"promiseChain", `let i = 0; (function f() { if (++i < n) Promise.resolve().then(f) })()`},
	{"await", `(async () => { for (let i = 0; i < n; i++) await null })()`},
	{"clearTimeout", `for (let i = 0; i < n; i++) clearTimeout(setTimeout(() => {}, 1e6))`},
}

func BenchmarkScripts(b *testing.B) {
	for _, script := range scripts {
		for _, entrant := range entrants {
			if script.name == "setTimeoutChain" && entrant.name == "node" {
				continue // its delay is a millisecond
			}
			b.Run(script.name+"/"+entrant.name, func(b *testing.B) {
				b.ReportAllocs()
				entrant.loop().Run(func(vm *goja.Runtime) {
					_ = vm.Set("n", b.N)
					b.ResetTimer()
					if _, err := vm.RunString(script.code); err != nil {
						b.Error(err)
					}
				})
			})
		}
	}
}

// Ours only: goja_nodejs has none.
func BenchmarkQueueMicrotask(b *testing.B) {
	b.ReportAllocs()
	eventloop.NewEventLoop().Run(func(vm *goja.Runtime) {
		_ = vm.Set("n", b.N)
		if _, err := vm.RunString(`let i = 0; (function f() { if (++i < n) queueMicrotask(f) })()`); err != nil {
			b.Error(err)
		}
	})
}

func BenchmarkRunOnLoop(b *testing.B) {
	for _, producers := range []struct {
		name string
		n    int
	}{{"1", 1}, {"10", 10}, {"100", 100}} {
		for _, entrant := range entrants {
			b.Run("producers="+producers.name+"/"+entrant.name, func(b *testing.B) {
				b.ReportAllocs()
				loop := entrant.loop()
				loop.Start()
				ran := 0
				count := func(*goja.Runtime) { ran++ }
				b.ResetTimer()
				var group sync.WaitGroup
				for p := range producers.n {
					group.Go(func() {
						for i := p; i < b.N; i += producers.n {
							loop.RunOnLoop(count)
						}
					})
				}
				group.Wait()
				// Not Stop alone: that of goja_nodejs may leave the last ones in the queue.
				done := make(chan struct{})
				loop.RunOnLoop(func(*goja.Runtime) { close(done) })
				<-done
				b.StopTimer()
				loop.Stop()
				if ran != b.N {
					b.Fatalf("ran %d of %d", ran, b.N)
				}
			})
		}
	}
}

// A goroutine that waits for each function.
func BenchmarkRunOnLoopAndWait(b *testing.B) {
	for _, entrant := range entrants {
		b.Run(entrant.name, func(b *testing.B) {
			b.ReportAllocs()
			loop := entrant.loop()
			loop.Start()
			defer loop.Stop()
			done := make(chan struct{})
			for b.Loop() {
				loop.RunOnLoop(func(*goja.Runtime) { done <- struct{}{} })
				<-done
			}
		})
	}
}
