package tournament

import (
	"math/rand/v2"
	"runtime"

	"millrace.dev/go/bench/entrant"
)

// queued is a loop that is held up while ops tasks are submitted: the bytes of an operation are what one of them
// takes while it waits, beyond the closure, which is the same for all; its time is how long it takes to run them once
// the loop goes on. What is retained is still in use after that.
func queued(start entrant.New, ops int, _ *rand.Rand) Sample {
	before := heap()
	t := newTasks(started(start, ops+1))
	begun, gate, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	must(t.loop.Submit(func() {
		close(begun)
		<-gate
	}))
	<-begun
	submit := t.prepare(func() { t.n.Add(1) })
	for range ops - 1 {
		submit()
	}
	must(t.loop.Submit(func() {
		t.n.Add(1)
		close(done)
	}))
	waiting := heap() - before
	since := now()
	close(gate)
	<-done
	elapsed := now() - since
	retained := heap() - before
	t.finish(ops)
	return Sample{
		"ns_per_op":             float64(elapsed) / float64(ops),
		"bytes_per_op":          float64(waiting) / float64(ops),
		"retained_bytes_per_op": max(float64(retained), 1) / float64(ops),
	}
}

// heap is what is in use, after a collection that has also emptied the pools.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
