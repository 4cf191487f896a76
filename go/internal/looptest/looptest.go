// Package looptest makes the loops of tests, and closes them.
package looptest

import (
	"context"
	"testing"

	"millrace.dev/go/eventloop"
)

// Check fails the test if there is an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// New makes a loop that is closed when the test is over.
func New(t testing.TB, config ...eventloop.Config) *eventloop.Loop {
	t.Helper()
	l, err := eventloop.New(append(config, eventloop.Config{})[0])
	Check(t, err)
	t.Cleanup(func() {
		err := l.Close(context.Background())
		Check(t, err)
	})
	return l
}

// Started makes one that runs.
func Started(t testing.TB, config ...eventloop.Config) *eventloop.Loop {
	t.Helper()
	l := New(t, config...)
	Check(t, l.Start())
	return l
}

// On runs fn as a task and waits for it and its microtasks.
func On(t testing.TB, l *eventloop.Loop, fn func()) {
	t.Helper()
	done := make(chan struct{})
	Check(t, l.Submit(fn))
	Check(t, l.Submit(func() { close(done) }))
	<-done
}

// Bench runs fn for n operations at a time, in tasks of a loop that runs.
func Bench(b *testing.B, fn func(l *eventloop.Loop, n int)) {
	l := Started(b)
	b.ReportAllocs()
	b.ResetTimer()
	// A thousand at a time: the microtasks of a task are all there before the first of them runs.
	for left := b.N; left > 0; left -= 1000 {
		n := min(left, 1000)
		Check(b, l.Submit(func() { fn(l, n) }))
	}
	Check(b, l.Drain(context.Background()))
}
