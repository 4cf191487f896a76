package eventloop

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Timer runs a function on the loop when its time has come.
type Timer struct {
	loop *Loop
	fn   func()
	// every is the period in ns; 0 for a timer that fires once.
	every int64
	// flags may be changed by any goroutine; what follows belongs to the owner.
	flags atomic.Uint32
	when  int64
	seq   uint64
	place int // in the heap; -1 outside
}

const (
	active     uint32 = 1 << iota // it is to fire
	referenced                    // it keeps the loop alive while it is active
)

// After runs fn as a task of the loop when d has passed. Timers with the same time fire in the order in which they were
// set. A d below 0 counts as 0; one beyond the clock (292 years) never fires. Any goroutine.
//
// Go's timers are up to a millisecond late on an idle Linux machine; see WithPreciseTimers.
func (l *Loop) After(d time.Duration, fn func()) (*Timer, error) {
	return l.addTimer(d, 0, fn)
}

// Every runs fn each time that d has passed, first after d. It keeps its rhythm: a call that comes late does not move
// those after it, and those that a busy loop has missed are left out. A d below a microsecond is refused.
func (l *Loop) Every(d time.Duration, fn func()) (*Timer, error) {
	if d < time.Microsecond {
		return nil, fmt.Errorf("%w: Every(%v): the period has to be at least a microsecond", ErrOption, d)
	}
	return l.addTimer(d, int64(d), fn)
}

func (l *Loop) addTimer(d time.Duration, every int64, fn func()) (*Timer, error) {
	if fn == nil {
		return nil, ErrNilTask
	}
	t := &Timer{loop: l, fn: fn, every: every, place: -1}
	t.flags.Store(referenced)
	if err := t.Reset(d); err != nil {
		return nil, err
	}
	return t, nil
}

// Reset lets the timer fire when d has passed from now, whether it is active, has fired or was stopped. Any goroutine.
// ErrClosed when the loop is closed.
func (t *Timer) Reset(d time.Duration) error {
	l := t.loop
	when := later(clock(), int64(d))
	if l.Inside() {
		if l.timers.closed {
			return ErrClosed
		}
		t.change(func(flags uint32) uint32 { return flags | active })
		l.timers.set(t, when)
		return nil
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	t.change(func(flags uint32) uint32 { return flags | active })
	l.mu.Unlock()
	l.order(func() {
		if l.timers.closed {
			t.change(func(flags uint32) uint32 { return flags &^ active })
		} else if t.flags.Load()&active != 0 {
			l.timers.set(t, when)
		}
	})
	return nil
}

func later(now, d int64) int64 {
	if d <= 0 {
		return now
	}
	if now > math.MaxInt64-d {
		return math.MaxInt64
	}
	return now + d
}

// Stop takes the timer back; false when it has fired or was stopped before. When it returns true, the function will not
// be called. Any goroutine.
func (t *Timer) Stop() bool {
	before := t.change(func(flags uint32) uint32 { return flags &^ active })
	if before&active == 0 {
		return false
	}
	l := t.loop
	if l.Inside() {
		l.timers.remove(t)
	} else {
		l.order(func() {
			if t.flags.Load()&active == 0 {
				l.timers.remove(t)
			}
		})
	}
	return true
}

// Ref lets the timer keep the loop alive while it is active, as it does from the start. Any goroutine.
func (t *Timer) Ref() {
	t.change(func(flags uint32) uint32 { return flags | referenced })
}

// Unref lets the loop end although the timer is active. Any goroutine.
func (t *Timer) Unref() {
	t.change(func(flags uint32) uint32 { return flags &^ referenced })
}

// HasRef reports whether the timer keeps the loop alive while it is active.
func (t *Timer) HasRef() bool {
	return t.flags.Load()&referenced != 0
}

// change applies to to the flags and keeps count of what keeps the loop alive. It returns the flags before.
func (t *Timer) change(to func(uint32) uint32) uint32 {
	const counts = active | referenced
	for {
		before := t.flags.Load()
		after := to(before)
		if !t.flags.CompareAndSwap(before, after) {
			continue
		}
		switch counted := before&counts == counts; {
		case !counted && after&counts == counts:
			t.loop.live.Add(1)
		case counted && after&counts != counts:
			t.loop.unref()
		}
		return before
	}
}
