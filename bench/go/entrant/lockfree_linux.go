package entrant

import (
	"sync/atomic"
	"time"
)

// LockFree is the report's "AlternateTwo", made for speed: nobody takes a lock for a task, and nothing is checked. A tick runs what is due, all internal tasks and a batch of external ones, each followed by its microtasks, and
// then polls. Before that it says that it sleeps and looks at the lengths once more: a submit that has not seen it
// sleep has counted its task before.
type LockFree struct {
	*poller
	microtasks
	timers timers

	internal lockFreeQueue
	external lockFreeQueue

	sleeping atomic.Bool
	waking   atomic.Bool
	closed   atomic.Bool
	ended    chan struct{}
}

// NewLockFree starts a LockFree.
func NewLockFree(int) (Entrant, error) {
	poller, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &LockFree{poller: poller, ended: make(chan struct{})}
	l.internal.init()
	l.external.init()
	go l.run()
	return l, nil
}

func (l *LockFree) run() {
	defer close(l.ended)
	batch := make([]func(), budget)
	for {
		closed := l.closed.Load()
		if len(l.timers.heap) > 0 {
			l.timers.run(uptime(), l.drainMicrotasks)
		}
		for l.runBatch(&l.internal, batch) > 0 {
		}
		if l.runBatch(&l.external, batch) == budget {
			continue
		}
		if closed && l.internal.length.Load()+l.external.length.Load() == 0 {
			return
		}
		l.poll()
		l.drainMicrotasks()
	}
}

func (l *LockFree) runBatch(queue *lockFreeQueue, batch []func()) int {
	n := queue.popBatch(batch)
	for i, task := range batch[:n] {
		safely(task)
		batch[i] = nil
		l.drainMicrotasks()
	}
	return n
}

func (l *LockFree) drainMicrotasks() {
	for l.microtasks.length() > 0 {
		l.microtasks.drain(budget)
	}
}

func (l *LockFree) poll() {
	l.sleeping.Store(true)
	if l.external.length.Load()+l.internal.length.Load() == 0 && !l.closed.Load() {
		l.wait(l.timers.wait())
		l.waking.Store(false)
	}
	l.sleeping.Store(false)
}

// Submit implements Entrant.
func (l *LockFree) Submit(task func()) error {
	l.submit(&l.external, task)
	return nil
}

func (l *LockFree) submit(queue *lockFreeQueue, task func()) {
	queue.push(task)
	if l.sleeping.Load() && l.waking.CompareAndSwap(false, true) {
		l.wake()
	}
}

// After implements Timer.
func (l *LockFree) After(delay time.Duration, callback func()) (cancel func(), err error) {
	one := newTimer(delay, callback)
	l.submit(&l.internal, func() { l.timers.add(one) })
	return func() { l.submit(&l.internal, func() { l.timers.remove(one) }) }, nil
}

// Promise implements Promiser.
func (l *LockFree) Promise() Promise { return newPromise(l) }

// Close implements Entrant.
func (l *LockFree) Close() error {
	l.closed.Store(true)
	l.wake()
	<-l.ended
	l.close()
	return nil
}
