package eventloop

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"millrace.dev/go"
)

// Timer runs a function on the loop when its time has come.
type Timer struct {
	loop  *Loop
	fn    func()
	every int64         // the period in ns; 0 for a timer that fires once
	flags atomic.Uint32 // may be changed by any goroutine
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
// Go's timers are up to a millisecond late on an idle Linux machine; see Config.PreciseTimers.
func (l *Loop) After(d time.Duration, fn func()) (*Timer, error) { return l.addTimer(d, 0, fn) }

// Every runs fn each time that d has passed, first after d. It keeps its rhythm: a call that comes late does not move
// those after it, and calls that a busy loop has missed are skipped. A d below a microsecond is refused.
func (l *Loop) Every(d time.Duration, fn func()) (*Timer, error) {
	if d < time.Microsecond {
		return nil, fmt.Errorf("%w: Every(%v): the period has to be at least a microsecond", millrace.ErrOption, d)
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
			return millrace.ErrClosed
		}
		t.change(func(flags uint32) uint32 { return flags&^moved | active | placed })
		l.timers.set(t, when)
		return nil
	}
	l.mu.Lock()
	if l.closed.Load() {
		l.mu.Unlock()
		return millrace.ErrClosed
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

// Stop cancels the timer; false when it has fired or was stopped before. When it returns true, the function is not
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
func (t *Timer) HasRef() bool { return t.flags.Load()&referenced != 0 }

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

// ---- those of a loop

// timers are those of a loop that are active; all of it belongs to the owner.
type timers struct {
	loop    *Loop
	heap    []*Timer // four children to a node: fewer cache lines on the way than with two
	seq     uint64
	changed bool // there is a new first one, so look before another task runs
	// due: timers up to this time and this number fire now. What they set themselves waits for the next look.
	due     bool
	dueTime int64
	dueSeq  uint64
	alarm   alarm
	armed   bool
	armedAt int64
	closed  bool
}

func (t *timers) set(timer *Timer, when int64) {
	t.seq++
	timer.when, timer.seq = when, t.seq
	if timer.place < 0 {
		timer.place = len(t.heap)
		t.heap = append(t.heap, timer)
		t.up(timer.place)
	} else {
		t.down(t.up(timer.place))
	}
	if timer.place == 0 {
		t.changed, t.loop.special = true, true
	}
}

func (t *timers) remove(timer *Timer) {
	place := timer.place
	if place < 0 {
		return
	}
	last := len(t.heap) - 1
	moved := t.heap[last]
	t.heap[last] = nil
	t.heap = t.heap[:last]
	timer.place = -1
	if place < last {
		t.heap[place] = moved
		moved.place = place
		t.down(t.up(place))
	}
	if room := cap(t.heap); room > ringKept && last <= room/4 {
		// A burst is over: give its memory back, and copy once for as many timers as have gone.
		t.heap = append(make([]*Timer, 0, max(room/2, ringKept)), t.heap...)
	}
}

// look finds out whether timers are due; if so, they come before the next task. If not, it sets the alarm: only for a
// time in the future, and once for all timers that a task has set.
func (t *timers) look() bool {
	if t.due {
		return true
	}
	t.changed = false
	if len(t.heap) == 0 {
		return false
	}
	now := clock()
	if t.armed && now >= t.armedAt {
		t.armed = false
	}
	if t.heap[0].when > now {
		t.arm()
		return false
	}
	t.due, t.dueTime, t.dueSeq = true, now, t.seq
	t.loop.special = true
	return true
}

func (t *timers) nextDue() func() {
	if !t.due && !(t.changed && t.look()) {
		return nil
	}
	for len(t.heap) > 0 {
		timer := t.heap[0]
		if timer.when > t.dueTime || timer.seq > t.dueSeq {
			break
		}
		if timer.every > 0 {
			if timer.flags.Load()&(active|moved) != active {
				t.remove(timer)
				continue
			}
			// The first time of its rhythm after now.
			next := later(timer.when, timer.every)
			if next <= t.dueTime {
				next = later(next, (t.dueTime-next)/timer.every*timer.every+timer.every)
			}
			t.set(timer, next)
			t.loop.fired.Add(1)
			return timer.fn
		}
		t.remove(timer)
		fires := func(flags uint32) uint32 {
			if flags&moved != 0 {
				return flags
			}
			return flags &^ (active | placed)
		}
		if timer.change(fires)&(active|moved) == active {
			t.loop.fired.Add(1)
			return timer.fn
		}
	}
	// Timers that they have set are looked at when something else has had its turn.
	t.due, t.changed = false, true
	return nil
}

// arm sets the alarm for the first timer, unless it rings early enough.
func (t *timers) arm() {
	if len(t.heap) == 0 || t.armed && t.armedAt <= t.heap[0].when {
		return
	}
	if t.alarm == nil {
		t.alarm = t.loop.newAlarm()
	}
	t.armed, t.armedAt = true, t.heap[0].when
	t.alarm.set(t.armedAt)
}

// rest stops an alarm that nobody waits for any more.
func (t *timers) rest() {
	if t.armed && len(t.heap) == 0 {
		t.armed = false
		t.alarm.stop()
	}
}

// pause lets the alarm go while the loop does not run; the next look sets it again.
func (t *timers) pause() {
	if t.alarm != nil {
		t.alarm.close()
		t.alarm, t.armed = nil, false
	}
}

// clear forgets all timers, for good.
func (t *timers) clear() {
	t.closed = true
	for _, timer := range t.heap {
		timer.place = -1
		// The mutex may be held, and nobody needs to be told, since the loop ends.
		if _, spare := timer.swap(func(flags uint32) uint32 { return flags & referenced }); spare {
			t.loop.live.Add(-1)
		}
	}
	t.heap, t.due, t.changed, t.armed = nil, false, false, false
	t.pause()
}

func (a *Timer) before(b *Timer) bool {
	return a.when < b.when || a.when == b.when && a.seq < b.seq
}

func (t *timers) up(place int) int {
	timer := t.heap[place]
	for place > 0 {
		parent := (place - 1) / 4
		if !timer.before(t.heap[parent]) {
			break
		}
		t.put(t.heap[parent], place)
		place = parent
	}
	t.put(timer, place)
	return place
}

func (t *timers) down(place int) {
	timer := t.heap[place]
	for {
		least, first := place, timer
		for child := 4*place + 1; child <= 4*place+4 && child < len(t.heap); child++ {
			if t.heap[child].before(first) {
				least, first = child, t.heap[child]
			}
		}
		t.put(first, place)
		if least == place {
			return
		}
		place = least
	}
}

func (t *timers) put(timer *Timer, place int) {
	t.heap[place] = timer
	timer.place = place
}

// ---- what other goroutines have asked for

// moves are timers that other goroutines have set or stopped and that the owner has not seen to yet, in the order of
// the last such call; under the loop's mutex. Each is in it at most once, by its own links: so what waits here takes no
// memory, cannot be refused, and does not keep a loop from ending.
type moves struct {
	first, last *Timer
	n           int
}

// push puts a timer at the end, wherever it was.
func (m *moves) push(t *Timer) {
	m.remove(t)
	if t.prevMove = m.last; t.prevMove != nil {
		t.prevMove.nextMove = t
	} else {
		m.first = t
	}
	m.last = t
	m.n++
}

func (m *moves) remove(t *Timer) {
	switch {
	case t.prevMove != nil:
		t.prevMove.nextMove = t.nextMove
	case m.first == t:
		m.first = t.nextMove
	default:
		return
	}
	if t.nextMove != nil {
		t.nextMove.prevMove = t.prevMove
	} else {
		m.last = t.prevMove
	}
	t.prevMove, t.nextMove = nil, nil
	m.n--
}

// movesAtOnce bounds how long others may have to wait for the mutex.
const movesAtOnce = 128

// seeToMoves puts the timers that wait now in their places. The mutex is held, and given up in between.
func (l *Loop) seeToMoves() {
	for left := l.moves.n; left > 0; left -= movesAtOnce {
		l.moveTimers(min(left, movesAtOnce))
		l.mu.Unlock()
		l.mu.Lock()
	}
}

func (l *Loop) moveTimers(most int) {
	for ; most > 0 && l.moves.first != nil; most-- {
		t := l.moves.first
		l.moves.remove(t)
		t.move()
	}
}

// move does what a Reset or Stop from outside has asked for.
func (t *Timer) move() {
	timers := &t.loop.timers
	before, spare := t.swap(func(flags uint32) uint32 {
		switch {
		case timers.closed:
			return flags &^ (active | moved | placed)
		case flags&moved == 0:
			// The owner has set or stopped it in the meantime.
			return flags
		case flags&active == 0:
			return flags &^ (moved | placed)
		}
		return flags&^moved | placed
	})
	if spare {
		// Of a loop that ends: nobody needs to be told.
		t.loop.live.Add(-1)
	}
	switch {
	case timers.closed || before&moved == 0:
	case before&active == 0:
		timers.remove(t)
	default:
		timers.set(t, t.target)
	}
}
