package entrant

import (
	"sync"
	"sync/atomic"
)

// readiness waits for descriptors on a goroutine of its own, for loops that sleep on a channel. It submits each callback as
// a task and waits for its end, for until then the descriptor is as readable as before. The goroutine starts with the
// first descriptor.
type readiness struct {
	submit func(task func()) error

	start  sync.Once
	poller *poller
	failed error
	closed atomic.Bool
	ended  chan struct{}
}

func newReadiness(submit func(task func()) error) *readiness {
	return &readiness{submit: submit, ended: make(chan struct{})}
}

// Watch implements Watcher.
func (r *readiness) Watch(fd int, callback func()) (stop func() error, err error) {
	r.start.Do(func() {
		if r.poller, r.failed = newPoller(); r.failed == nil {
			go r.run()
		}
	})
	if r.failed != nil {
		return nil, r.failed
	}
	var stopped atomic.Bool
	done := make(chan struct{}, 1)
	forget, err := r.poller.Watch(fd, func() {
		task := func() {
			defer func() { done <- struct{}{} }()
			if !stopped.Load() {
				callback()
			}
		}
		if r.submit(task) == nil {
			<-done
		}
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		stopped.Store(true)
		return forget()
	}, nil
}

func (r *readiness) run() {
	defer close(r.ended)
	for !r.closed.Load() {
		r.poller.wait(forever)
	}
}

// close ends the goroutine. The loop must still run: a callback may be under way.
func (r *readiness) close() {
	r.start.Do(func() {})
	if r.poller == nil {
		return
	}
	r.closed.Store(true)
	r.poller.wake()
	<-r.ended
	r.poller.close()
}
