package eventloop

import (
	"context"
	"runtime"
	"sync"
	"testing"
)

func started(b testing.TB, options ...Option) *Loop {
	l, err := New(options...)
	if err != nil {
		b.Fatal(err)
	}
	if err := l.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close(context.Background()) })
	return l
}

func submit(l *Loop, task func()) {
	for l.Submit(task) != nil {
		runtime.Gosched()
	}
}

func BenchmarkSubmit(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	done := make(chan struct{})
	n := 0
	for range b.N {
		submit(l, func() {
			if n++; n == b.N {
				close(done)
			}
		})
	}
	<-done
}

func BenchmarkSubmitAndWait(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	done := make(chan struct{})
	for range b.N {
		l.Submit(func() { done <- struct{}{} })
		<-done
	}
}

func BenchmarkChannelRoundTrip(b *testing.B) {
	in, done := make(chan func(), 1), make(chan struct{})
	go func() {
		for task := range in {
			task()
		}
	}()
	defer close(in)
	b.ReportAllocs()
	for range b.N {
		in <- func() { done <- struct{}{} }
		<-done
	}
}

func BenchmarkDo(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	ctx := context.Background()
	l.Do(ctx, func() {})
	runtime.Gosched()
	n := 0
	for range b.N {
		l.Do(ctx, func() { n++ })
	}
}

func BenchmarkTenProducers(b *testing.B) {
	l := started(b)
	b.ReportAllocs()
	var wg, ran sync.WaitGroup
	ran.Add(b.N)
	for p := range 10 {
		n := b.N / 10
		if p == 0 {
			n += b.N % 10
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range n {
				submit(l, ran.Done)
			}
		}()
	}
	wg.Wait()
	ran.Wait()
}
