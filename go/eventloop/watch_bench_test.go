//go:build linux

package eventloop

import (
	"context"
	"syscall"
	"testing"
)

// BenchmarkReadiness: a byte written to a socket, read by a callback of the loop, answered, and read again.
func BenchmarkReadiness(b *testing.B) {
	l := started(b)
	defer l.Close(context.Background())
	ours, theirs := socketPair(b)
	answer := make(chan struct{}, 1)
	var buffer [16]byte
	if _, err := l.Watch(ours, Readable, func(Events) {
		_, _ = syscall.Read(ours, buffer[:])
		answer <- struct{}{}
	}); err != nil {
		b.Fatal(err)
	}
	message := []byte{1}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = syscall.Write(theirs, message)
		<-answer
	}
}

// BenchmarkSubmitWaitWatching is submitting and waiting while the loop watches a descriptor on which nothing happens.
func BenchmarkSubmitWaitWatching(b *testing.B) {
	l := started(b)
	defer l.Close(context.Background())
	ours, _ := socketPair(b)
	if _, err := l.Watch(ours, Readable, func(Events) {}); err != nil {
		b.Fatal(err)
	}
	answer := make(chan struct{}, 1)
	task := func() { answer <- struct{}{} }
	b.ReportAllocs()
	for b.Loop() {
		_ = l.Submit(task)
		<-answer
	}
}
