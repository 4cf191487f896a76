package entrant

import "sync"

// Direct is the report's "Baseline" without JavaScript: no queue between loop and timers, whose callbacks come over an
// unbuffered channel one at a time; tasks from elsewhere gather in an auxiliary slice, and each of them signals.
type Direct struct {
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
	go l.run()
	return l, nil
}

func (l *Direct) run() {
	defer close(l.ended)
	for {
		select {
		case job := <-l.jobs:
			job()
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
		task()
		tasks[i] = nil
	}
	l.spare = tasks[:0]
	return closed
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

// Close implements Entrant.
func (l *Direct) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
	<-l.ended
	return nil
}
