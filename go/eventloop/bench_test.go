package eventloop

import (
	"context"
	"strconv"
	"sync"
	"testing"
)

// The closure of a task takes 24 bytes here; B/op beyond that is the loop's.
func BenchmarkSubmit(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	sum := 0
	for i := range b.N {
		submit(l, func() { sum += i })
	}
	l.Drain(context.Background())
}

func BenchmarkSubmitAndWait(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	done := make(chan struct{})
	for range b.N {
		submit(l, func() { done <- struct{}{} })
		<-done
	}
}

// BenchmarkChannelRoundTrip is what SubmitAndWait cannot beat: two goroutines, two channels, the same closure.
func BenchmarkChannelRoundTrip(b *testing.B) {
	tasks, done := make(chan func(), 1), make(chan struct{})
	go func() {
		for task := range tasks {
			task()
		}
	}()
	defer close(tasks)
	b.ReportAllocs()
	for range b.N {
		tasks <- func() { done <- struct{}{} }
		<-done
	}
}

func BenchmarkDo(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	ctx := context.Background()
	n := 0
	fn := func() { n++ }
	settled(b, l)
	for range b.N {
		l.Do(ctx, fn)
	}
}

func BenchmarkProducers(b *testing.B) {
	for _, producers := range []int{10, 100} {
		b.Run(strconv.Itoa(producers), func(b *testing.B) {
			l := started(b)
			b.ReportAllocs()
			var ran sync.WaitGroup
			ran.Add(b.N)
			for p := range producers {
				go func() {
					for range (b.N + p) / producers {
						submit(l, ran.Done)
					}
				}()
			}
			ran.Wait()
		})
	}
}

// One operation is one task.
func BenchmarkBurst(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	var ran sync.WaitGroup
	for left := b.N; left > 0; left -= 1000 {
		n := min(left, 1000)
		ran.Add(n)
		for range n {
			submit(l, ran.Done)
		}
		ran.Wait()
	}
}

func BenchmarkSubmitBatch(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	var ran sync.WaitGroup
	batch := make([]func(), 1000)
	for i := range batch {
		batch[i] = ran.Done
	}
	for left := b.N; left > 0; left -= 1000 {
		n := min(left, 1000)
		ran.Add(n)
		l.SubmitBatch(batch[:n])
		ran.Wait()
	}
}
