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
	flags  atomic.Uint32
	target atomic.Int64 // when the timer is moved to
	when   int64
	seq    uint64
	place  int // in the heap; -1 outside
}

const (
	active     uint32 = 1 << iota // it is to fire
	referenced                    // it keeps the loop alive while it is active
	moved                         // from outside: the heap does not know yet, so the old time is not to count
)

// After runs fn as a task of the loop when d has passed. Timers with the same time fire in the order in which they were
// set. A d below 0 counts as 0; one beyond the clock (some 190 years) never fires. Any goroutine.
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
		t.change(func(flags uint32) uint32 { return flags&^moved | active })
		l.timers.set(t, when)
		return nil
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	t.target.Store(when)
	before := t.change(func(flags uint32) uint32 { return flags | active | moved })
	l.mu.Unlock()
	if before&moved == 0 {
		l.order(t.move)
	}
	return nil
}

// move is what the owner does after a Reset or Stop from outside: the last one counts.
func (t *Timer) move() {
	timers := &t.loop.timers
	before := t.change(func(flags uint32) uint32 {
		if timers.closed {
			return flags &^ (active | moved)
		}
		return flags &^ moved
	})
	switch {
	case before&moved == 0 || timers.closed:
	case before&active == 0:
		timers.remove(t)
	default:
		timers.set(t, t.target.Load())
	}
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
// be called, but for a call of one of Every that is just beginning, if Stop is called outside the loop. Any goroutine.
func (t *Timer) Stop() bool {
	if t.loop.Inside() {
		before := t.change(func(flags uint32) uint32 { return flags &^ (active | moved) })
		t.loop.timers.remove(t)
		return before&active != 0
	}
	before := t.change(func(flags uint32) uint32 {
		if flags&active == 0 {
			return flags
		}
		return flags&^active | moved
	})
	if before&(active|moved) == active {
		t.loop.order(t.move)
	}
	return before&active != 0
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
		was, is := before&counts == counts, after&counts == counts
		// Never counted less than it is, or another timer's end would look like the end of all.
		if is && !was {
			t.loop.live.Add(1)
		}
		changed := t.flags.CompareAndSwap(before, after)
		if changed && was && !is || !changed && is && !was {
			t.loop.unref()
		}
		if changed {
			return before
		}
	}
}
