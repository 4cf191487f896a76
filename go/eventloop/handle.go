package eventloop

import "sync"

// Handle stands for work that goes on elsewhere, and that the loop waits for.
type Handle struct {
	loop *Loop
	mu   sync.Mutex
	gone bool
}

// KeepAlive keeps Run, Drain and Alive waiting for work that goes on outside the loop, until the handle is completed or
// released. Any goroutine; usually the task that starts the work, since a loop that has become idle may end meanwhile.
func (l *Loop) KeepAlive() (*Handle, error) {
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	l.live.Add(1)
	return &Handle{loop: l}, nil
}

// Complete queues fn as a task, with the result of the work, and releases the handle once it is in the queue. Errors as
// for Submit; on ErrOverload the handle stays, so that Complete can be tried again. ErrReleased when the handle was
// released before.
func (h *Handle) Complete(fn func()) error {
	if fn == nil {
		return ErrNilTask
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return ErrReleased
	}
	err := h.loop.Submit(fn)
	if err != ErrOverload {
		h.letGo()
	}
	return err
}

// Release lets the handle go without a task. A second call does nothing.
func (h *Handle) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.letGo()
}

func (h *Handle) letGo() {
	if !h.gone {
		h.gone = true
		h.loop.unref()
	}
}

// unref takes back one reason to live; the owner is told when it was the last one and somebody waits for that.
func (l *Loop) unref() {
	if l.live.Add(-1) != 0 || !l.idleCalls.Load() {
		return
	}
	l.notify(pending)
	if l.state.Load()&^bits == stopped {
		// Without an owner, those who wait are told by whoever next takes the mutex, which the caller may hold.
		go func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.rested()
		}()
	}
}
