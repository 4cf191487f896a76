package entrant

import (
	"sync"
	"sync/atomic"
	"time"
)

// Direct is the report's "Baseline" without JavaScript: no queue between loop and timers, whose callbacks come over an
// unbuffered channel one at a time; tasks from elsewhere gather in an auxiliary slice, and each of them signals. Each task is
// followed by its microtasks. A goroutine waits for descriptors.
type Direct struct {
	*readiness
	microtasks
	jobs chan func()
	wake chan struct{}

	mu     sync.Mutex
	aux    []func()
	spare  []func()
	closed bool

	ended chan struct{}
}

// NewDirect starts a Direct.
func NewDirect(int) (Entrant, error) {
	l := &Direct{jobs: make(chan func()), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	l.readiness = newReadiness(l.Submit)
	go l.run()
	return l, nil
}

func (l *Direct) run() {
	defer close(l.ended)
	for {
		select {
		case job := <-l.jobs:
			l.perform(job)
		case <-l.wake:
			if closed := l.runAux(); closed {
				return
			}
		}
	}
}

func (l *Direct) runAux() (closed bool) {
	l.mu.Lock()
	tasks, closed := l.aux, l.closed
	l.aux = l.spare
	l.mu.Unlock()
	for i, task := range tasks {
		l.perform(task)
		tasks[i] = nil
	}
	l.spare = tasks[:0]
	return closed
}

func (l *Direct) perform(task func()) {
	task()
	for l.microtasks.length() > 0 {
		l.microtasks.drain(budget)
	}
}

// Submit implements Entrant.
func (l *Direct) Submit(task func()) error {
	l.mu.Lock()
	l.aux = append(l.aux, task)
	l.mu.Unlock()
	l.signal()
	return nil
}

func (l *Direct) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// After implements Timer.
func (l *Direct) After(delay time.Duration, callback func()) (cancel func(), err error) {
	var cancelled atomic.Bool
	job := func() {
		if !cancelled.Load() {
			callback()
		}
	}
	timer := time.AfterFunc(delay, func() {
		select {
		case l.jobs <- job:
		case <-l.ended:
		}
	})
	return func() {
		cancelled.Store(true)
		timer.Stop()
	}, nil
}

// Promise implements Promiser.
func (l *Direct) Promise() Promise { return newPromise(l) }

// Close implements Entrant.
func (l *Direct) Close() error {
	l.readiness.close()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
	<-l.ended
	return nil
}
