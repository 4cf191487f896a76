package eventloop_test

import (
	"context"
	"testing"

	"millrace.dev/go/eventloop"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newLoop makes a loop that is closed when the test is over.
func newLoop(t testing.TB, config ...eventloop.Config) *eventloop.Loop {
	t.Helper()
	l, err := eventloop.New(append(config, eventloop.Config{})[0])
	check(t, err)
	t.Cleanup(func() {
		err := l.Close(context.Background())
		check(t, err)
	})
	return l
}

// startedLoop makes one that runs.
func startedLoop(t testing.TB, config ...eventloop.Config) *eventloop.Loop {
	t.Helper()
	l := newLoop(t, config...)
	check(t, l.Start())
	return l
}

// on runs fn as a task and waits for it and its microtasks.
func on(t testing.TB, l *eventloop.Loop, fn func()) {
	t.Helper()
	done := make(chan struct{})
	check(t, l.Submit(fn))
	check(t, l.Submit(func() { close(done) }))
	<-done
}

func benchLoop(b *testing.B, fn func(l *eventloop.Loop, n int)) {
	l := startedLoop(b)
	b.ReportAllocs()
	b.ResetTimer()
	// A thousand at a time: the microtasks of a task are all there before the first of them runs.
	for left := b.N; left > 0; left -= 1000 {
		n := min(left, 1000)
		check(b, l.Submit(func() { fn(l, n) }))
	}
	check(b, l.Drain(context.Background()))
}
