package promise_test

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
