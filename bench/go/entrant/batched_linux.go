package entrant

import (
	"sync"
	"sync/atomic"
)

// Batched is the report's "AlternateThree": chunks of tasks under a mutex, from which each turn of the loop pops one
// batch of a fixed budget; then the loop polls. A submit wakes it only while it sleeps, and only the first one.
type Batched struct {
	*poller

	mu    sync.Mutex
	queue taskList

	sleeping atomic.Bool
	waking   atomic.Bool
	closed   atomic.Bool
	ended    chan struct{}
}

const budget = 1024

// NewBatched starts a Batched.
func NewBatched(int) (Entrant, error) {
	poller, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &Batched{poller: poller, ended: make(chan struct{})}
	go l.run()
	return l, nil
}

func (l *Batched) run() {
	defer close(l.ended)
	batch := make([]func(), budget)
	for {
		closed := l.closed.Load()
		n := l.popBatch(batch)
		for i, task := range batch[:n] {
			safely(task)
			batch[i] = nil
		}
		if n == budget {
			continue
		}
		if closed {
			return
		}
		l.poll()
	}
}

func (l *Batched) popBatch(batch []func()) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.popInto(batch)
}

func (l *Batched) poll() {
	l.sleeping.Store(true)
	l.mu.Lock()
	empty := l.queue.length == 0
	l.mu.Unlock()
	if empty && !l.closed.Load() {
		l.wait(forever)
		l.waking.Store(false)
	}
	l.sleeping.Store(false)
}

// Submit implements Entrant.
func (l *Batched) Submit(task func()) error {
	l.mu.Lock()
	l.queue.push(task)
	l.mu.Unlock()
	if l.sleeping.Load() && l.waking.CompareAndSwap(false, true) {
		l.wake()
	}
	return nil
}

// Close implements Entrant.
func (l *Batched) Close() error {
	l.closed.Store(true)
	l.wake()
	<-l.ended
	l.close()
	return nil
}
