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
	// flags may be changed by any goroutine.
	flags atomic.Uint32
	// These belong to the owner.
	when  int64
	seq   uint64
	place int // in the heap; -1 outside
	// These are under the loop's mutex: when the timer is moved to, and its neighbours in the loop's moves.
	target             int64
	prevMove, nextMove *Timer
}

const (
	active     uint32 = 1 << iota // it is to fire
	referenced                    // it keeps the loop alive while it is active
	moved                         // moved from outside: the heap does not know yet, so the old time must not count
	placed                        // it may be in the heap; without this flag it is not
)

// After runs fn as a task of the loop when d has passed. Timers with the same time fire in the order in which they were
// last set. A d below 0 counts as 0; one beyond the clock (some 190 years) never fires. Any goroutine.
//
// A timer that is due as soon as the task that set it is over, such as one with d = 0, fires next: before the tasks
// that wait, except HIGH ones. If it was set by another timer, one of the tasks that wait has its turn first.
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
		t.change(func(flags uint32) uint32 { return flags&^moved | active | placed })
		l.timers.set(t, when)
		return nil
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	t.target = when
	_, spare := t.swap(func(flags uint32) uint32 { return flags | active | moved })
	l.moves.push(t)
	l.mu.Unlock()
	if spare {
		l.unref()
	}
	l.notify(urgent)
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

// Stop takes the timer back; false when it has fired or was stopped before. When it returns true, the function is not
// called any more, except by a timer of Every that is just beginning to fire, if Stop is called outside the loop. Any
// goroutine.
//
// Outside the loop it takes the mutex, and does not wake a loop that sleeps.
func (t *Timer) Stop() bool {
	l := t.loop
	if l.Inside() {
		before := t.change(func(flags uint32) uint32 { return flags &^ (active | moved | placed) })
		l.timers.remove(t)
		return before&active != 0
	}
	if t.flags.Load()&active == 0 {
		return false
	}
	l.mu.Lock()
	before, spare := t.swap(func(flags uint32) uint32 {
		if flags&active == 0 {
			return flags
		}
		return flags&^active | moved
	})
	switch {
	case before&active == 0:
	case before&placed == 0:
		l.moves.remove(t)
	default:
		// To be taken out of the heap when the loop begins a turn, or is woken for another reason.
		l.moves.push(t)
	}
	l.mu.Unlock()
	if spare {
		l.unref()
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

// change applies a function to the flags and keeps count of what keeps the loop alive. It returns the previous flags.
// Not with the mutex held: telling that nothing keeps the loop alive may take it.
func (t *Timer) change(to func(uint32) uint32) uint32 {
	before, spare := t.swap(to)
	if spare {
		t.loop.unref()
	}
	return before
}

// swap is change, except that the caller has to take one reason to live back if there is one to spare.
func (t *Timer) swap(to func(uint32) uint32) (before uint32, spare bool) {
	const counts = active | referenced
	added := false
	for {
		before := t.flags.Load()
		after := to(before)
		was, is := before&counts == counts, after&counts == counts
		// The count must never be too low, or another timer's end would look like the end of all.
		if is && !was && !added {
			t.loop.live.Add(1)
			added = true
		}
		if t.flags.CompareAndSwap(before, after) {
			return before, was && !is || added && was
		}
	}
}
