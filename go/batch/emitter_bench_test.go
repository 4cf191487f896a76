package batch_test

import (
	"testing"

	"millrace.dev/go/batch"
)

// benchmarkEmit is the whole way of an event on the loop, 1000 in a turn.
func benchmarkEmit(b *testing.B, register func(e *batch.Emitter[string], n *int)) {
	loop := newLoop(b)
	e := newEmitter(b, loop)
	got := 0
	register(e, &got)
	b.ReportAllocs()
	if err := loop.Start(); err != nil {
		b.Fatal(err)
	}
	loop.Do(background, func() {
		for sent := 0; b.Loop(); {
			e.Emit("x", "data")
			if sent++; sent%1000 == 0 {
				e.Flush()
			}
		}
		e.Flush()
	})
	if got != b.N {
		b.Errorf("%d of %d events", got, b.N)
	}
}

func BenchmarkEmit(b *testing.B) {
	benchmarkEmit(b, func(e *batch.Emitter[string], n *int) { e.On("x", func(string) { *n++ }) })
}

func BenchmarkEmitToABatchHandler(b *testing.B) {
	benchmarkEmit(b, func(e *batch.Emitter[string], n *int) {
		e.OnBatch("x", func(all []string, _ batch.Info) { *n += len(all) })
	})
}

// BenchmarkEmitFromOutside is the same with producers on other goroutines.
func BenchmarkEmitFromOutside(b *testing.B) {
	loop := newLoop(b)
	e := newEmitter(b, loop, settings{MaxQueue: 100_000_000, MaxQueueBytes: 1 << 50})
	got := 0
	e.On("x", func(string) { got++ })
	if err := loop.Start(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			e.Emit("x", "data")
		}
	})
	e.Close(background)
	if got != b.N {
		b.Errorf("%d of %d events", got, b.N)
	}
}
