package batch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"millrace.dev/go/batch"
)

// slow is a function that takes 50 µs however much it is given, as a commit to a disk does.
func slow() {
	for start := time.Now(); time.Since(start) < 50*time.Microsecond; {
	}
}

func bulk(_ context.Context, keys []int) ([]int, error) { return keys, nil }

func slowBulk(_ context.Context, keys []int) ([]int, error) {
	slow()
	return keys, nil
}

func newBatcher(b *testing.B, fn func(context.Context, []int) ([]int, error)) *batch.Batcher[int, int] {
	batcher, err := batch.New(fn, config{})
	if err != nil {
		b.Fatal(err)
	}
	return batcher
}

func callers(b *testing.B, n int, call func()) {
	b.ReportAllocs()
	b.SetParallelism(n)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			call()
		}
	})
}

func BenchmarkDoAlone(b *testing.B) {
	batcher := newBatcher(b, bulk)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := batcher.Do(ctx, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDo100Callers(b *testing.B) {
	batcher := newBatcher(b, bulk)
	callers(b, 50, func() { batcher.Do(context.Background(), 1) })
	b.ReportMetric(float64(b.N)/float64(batcher.Stats().BatchTotal), "calls/batch")
}

func BenchmarkDo100CallersCancellable(b *testing.B) {
	batcher := newBatcher(b, bulk)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	callers(b, 50, func() { batcher.Do(ctx, 1) })
}

func BenchmarkMutex100Callers(b *testing.B) {
	var mu sync.Mutex
	keys := []int{1}
	callers(b, 50, func() {
		mu.Lock()
		defer mu.Unlock()
		bulk(context.Background(), keys)
	})
}

func Benchmark50us100CallersBatched(b *testing.B) {
	batcher := newBatcher(b, slowBulk)
	callers(b, 50, func() { batcher.Do(context.Background(), 1) })
	b.ReportMetric(float64(b.N)/float64(batcher.Stats().BatchTotal), "calls/batch")
}

func Benchmark50us100CallersMutex(b *testing.B) {
	var mu sync.Mutex
	callers(b, 50, func() {
		mu.Lock()
		defer mu.Unlock()
		slow()
	})
}

func Benchmark50us100CallersUnbatched(b *testing.B) {
	callers(b, 50, slow)
}
