package entrant

import (
	"sync"
	"sync/atomic"
	"time"
)

// Batched is the report's "AlternateThree", Main without what is done for each task: a tick takes, under one lock, all
// internal tasks and one batch of external ones, of a fixed budget, out of chunks. It runs timers that are due, the
// internal tasks and the batch, each task followed by its microtasks, and polls when the batch was not a full one. A submit
// wakes it only while it sleeps, and only the first one.
type Batched struct {
	*poller
	microtasks
	timers timers

	mu       sync.Mutex
	internal []func()
	external taskList

	spare    []func() // the loop's: what internal was before
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
		if len(l.timers.heap) > 0 {
			l.timers.run(uptime(), l.drainMicrotasks)
		}
		internal, n := l.take(batch)
		l.runAll(internal)
		l.runAll(batch[:n])
		if n == budget || len(internal) > 0 {
			continue
		}
		if closed {
			return
		}
		l.poll()
		l.drainMicrotasks()
	}
}

func (l *Batched) take(batch []func()) (internal []func(), n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.internal) > 0 {
		internal = l.internal
		l.internal, l.spare = l.spare[:0], internal
	}
	return internal, l.external.popInto(batch)
}

func (l *Batched) runAll(tasks []func()) {
	for i, task := range tasks {
		safely(task)
		tasks[i] = nil
		l.drainMicrotasks()
	}
}

func (l *Batched) drainMicrotasks() {
	for l.microtasks.length() > 0 {
		l.microtasks.drain(budget)
	}
}

func (l *Batched) poll() {
	l.sleeping.Store(true)
	l.mu.Lock()
	empty := l.external.length == 0 && len(l.internal) == 0
	l.mu.Unlock()
	if empty && !l.closed.Load() {
		l.wait(l.timers.wait())
		l.waking.Store(false)
	}
	l.sleeping.Store(false)
}

// Submit implements Entrant.
func (l *Batched) Submit(task func()) error {
	l.mu.Lock()
	l.external.push(task)
	l.mu.Unlock()
	l.wakeSleeping()
	return nil
}

func (l *Batched) submitInternal(task func()) {
	l.mu.Lock()
	l.internal = append(l.internal, task)
	l.mu.Unlock()
	l.wakeSleeping()
}

func (l *Batched) wakeSleeping() {
	if l.sleeping.Load() && l.waking.CompareAndSwap(false, true) {
		l.wake()
	}
}

// After implements Timer.
func (l *Batched) After(delay time.Duration, callback func()) (cancel func(), err error) {
	one := newTimer(delay, callback)
	l.submitInternal(func() { l.timers.add(one) })
	return func() { l.submitInternal(func() { l.timers.remove(one) }) }, nil
}

// Promise implements Promiser.
func (l *Batched) Promise() Promise { return newPromise(l) }

// Close implements Entrant.
func (l *Batched) Close() error {
	l.closed.Store(true)
	l.wake()
	<-l.ended
	l.close()
	return nil
}
