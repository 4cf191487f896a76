package entrant

import "sync"

// Mutex is the loop that anybody would write second: a slice under a mutex, taken as a whole, and a channel to wake the
// loop when the slice was empty.
type Mutex struct {
	mu     sync.Mutex
	tasks  []func()
	closed bool
	wake   chan struct{}
	ended  chan struct{}
}

// NewMutex starts a Mutex.
func NewMutex(int) (Entrant, error) {
	l := &Mutex{wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go l.run()
	return l, nil
}

func (l *Mutex) run() {
	defer close(l.ended)
	var spare []func()
	for range l.wake {
		l.mu.Lock()
		tasks, closed := l.tasks, l.closed
		l.tasks = spare
		l.mu.Unlock()
		for i, task := range tasks {
			task()
			tasks[i] = nil
		}
		spare = tasks[:0]
		if closed {
			return
		}
	}
}

// Submit implements Entrant.
func (l *Mutex) Submit(task func()) error {
	l.mu.Lock()
	l.tasks = append(l.tasks, task)
	first := len(l.tasks) == 1
	l.mu.Unlock()
	if first {
		l.signal()
	}
	return nil
}

func (l *Mutex) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Close implements Entrant.
func (l *Mutex) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
	<-l.ended
	return nil
}
