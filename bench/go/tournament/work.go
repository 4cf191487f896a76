package tournament

import (
	"sync"
	"sync/atomic"

	"millrace.dev/go/bench/entrant"
)

// window is how many tasks a case submits before it waits for the loop: less than the bound of any queue.
const window = 1 << 19

// tasks submits to one loop what the report's benchmarks submit: closures that count and finish a wait group.
type tasks struct {
	loop   entrant.Entrant
	native entrant.Native // nil: tasks of type func()
	*counts

	clocked bool // whether one task in 64 is to say how long it waited
	turn    atomic.Int64
	times   []int64 // of the loop's goroutine
}

// counts is what the tasks write: each on a cache line of its own, so that it does not slow down who reads the rest.
type counts struct {
	_  [64]byte
	n  atomic.Int64
	_  [64]byte
	wg sync.WaitGroup
	_  [64]byte
}

func newTasks(loop entrant.Entrant) *tasks {
	native, _ := loop.(entrant.Native)
	return &tasks{loop: loop, native: native, counts: new(counts)}
}

// count submits a new closure; the wait group has been told of it.
func (t *tasks) count() {
	if t.clocked && t.turn.Add(1)%64 == 0 {
		t.clock()
		return
	}
	if t.native != nil {
		must(t.native.Count(&t.n, &t.wg))
		return
	}
	n, wg := &t.n, &t.wg
	must(t.loop.Submit(func() {
		n.Add(1)
		wg.Done()
	}))
}

func (t *tasks) clock() {
	at := now()
	must(t.loop.Submit(func() {
		t.times = append(t.times, now()-at)
		t.n.Add(1)
		t.wg.Done()
	}))
}

// signal submits a new closure that closes done.
func (t *tasks) signal(done chan struct{}) {
	if t.native != nil {
		must(t.native.Signal(done))
		return
	}
	must(t.loop.Submit(func() { close(done) }))
}

// prepare returns what submits the same closure again and again.
func (t *tasks) prepare(task func()) func() {
	if preparer, ok := t.loop.(entrant.Preparer); ok {
		submit := preparer.Prepare(task)
		return func() { must(submit()) }
	}
	return func() { must(t.loop.Submit(task)) }
}

// finish closes the loop and checks that as many closures have counted as the case submitted.
func (t *tasks) finish(want int) {
	must(t.loop.Close())
	if got := t.n.Load(); got != int64(want) {
		fail("%d of %d tasks have run", got, want)
	}
}
