package eventloop_test

import (
	"sync"
	"testing"

	"github.com/dop251/goja"
	peer "github.com/dop251/goja_nodejs/eventloop"

	"millrace.dev/go/goja/eventloop"
)

type looper interface {
	Run(func(*goja.Runtime))
	Start()
	Stop() int
	RunOnLoop(func(*goja.Runtime)) bool
}

// "node" is ours with WithNode.
var entrants = []struct {
	name string
	loop func() looper
}{
	{"ours", func() looper { return eventloop.NewEventLoop() }},
	{"node", func() looper { return eventloop.NewEventLoop(eventloop.WithNode()) }},
	{"goja_nodejs", func() looper { return peer.NewEventLoop() }},
}

// A workload makes n callbacks run.
type workload struct {
	name string
	n    int // for BenchmarkPairs
	run  func(b *testing.B, loop looper, n int)
}

var workloads = []workload{
	// All set at once.
	{"setTimeout", 10_000, inScript(`for (let i = 0; i < n; i++) setTimeout(() => {}, 0)`)},
	{"setImmediate", 10_000, inScript(`for (let i = 0; i < n; i++) setImmediate(() => {})`)},
	// Each sets the next.
	{"setTimeoutChain", 10_000, inScript(`let i = 0; (function f() { if (++i < n) setTimeout(f, 0) })()`)},
	{"setImmediateChain", 10_000, inScript(`let i = 0; (function f() { if (++i < n) setImmediate(f) })()`)},
	{"promiseChain", 10_000, inScript(`let i = 0; (function f() { if (++i < n) Promise.resolve().then(f) })()`)},
	{"await", 10_000, inScript(`(async () => { for (let i = 0; i < n; i++) await null })()`)},
	{"clearTimeout", 10_000, inScript(`for (let i = 0; i < n; i++) clearTimeout(setTimeout(() => {}, 1e6))`)},
	{"RunOnLoop/1", 200_000, flood(1)},
	{"RunOnLoop/10", 200_000, flood(10)},
	{"RunOnLoop/100", 200_000, flood(100)},
	{"RunOnLoopAndWait", 20_000, wait},
}

func inScript(code string) func(*testing.B, looper, int) {
	return func(b *testing.B, loop looper, n int) {
		loop.Run(func(vm *goja.Runtime) {
			_ = vm.Set("n", n)
			if _, err := vm.RunString(code); err != nil {
				b.Error(err)
			}
		})
	}
}

// flood submits from some goroutines at once.
func flood(producers int) func(*testing.B, looper, int) {
	return func(b *testing.B, loop looper, n int) {
		loop.Start()
		ran := 0
		count := func(*goja.Runtime) { ran++ }
		var group sync.WaitGroup
		for p := range producers {
			group.Go(func() {
				for i := p; i < n; i += producers {
					loop.RunOnLoop(count)
				}
			})
		}
		group.Wait()
		// Not Stop alone: that of goja_nodejs may leave the last ones in the queue.
		done := make(chan struct{})
		loop.RunOnLoop(func(*goja.Runtime) { close(done) })
		<-done
		loop.Stop()
		if ran != n {
			b.Fatalf("ran %d of %d", ran, n)
		}
	}
}

// wait is a goroutine that waits for each function.
func wait(_ *testing.B, loop looper, n int) {
	loop.Start()
	defer loop.Stop()
	done := make(chan struct{})
	for range n {
		loop.RunOnLoop(func(*goja.Runtime) { done <- struct{}{} })
		<-done
	}
}

// Time on the clock and memory of a callback. BenchmarkPairs compares processor time.
func BenchmarkCallback(b *testing.B) {
	for _, workload := range workloads {
		for _, entrant := range entrants {
			if workload.name == "setTimeoutChain" && entrant.name == "node" {
				continue // its delay is a millisecond
			}
			b.Run(workload.name+"/"+entrant.name, func(b *testing.B) {
				b.ReportAllocs()
				loop := entrant.loop()
				b.ResetTimer()
				workload.run(b, loop, b.N)
			})
		}
	}
}

// Ours only: goja_nodejs has none.
func BenchmarkQueueMicrotask(b *testing.B) {
	b.ReportAllocs()
	inScript(`let i = 0; (function f() { if (++i < n) queueMicrotask(f) })()`)(b, eventloop.NewEventLoop(), b.N)
}
