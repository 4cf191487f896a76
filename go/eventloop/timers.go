package eventloop

import "time"

// timers are those of a loop that are active; all of it belongs to the owner.
type timers struct {
	loop *Loop
	heap []*Timer // four children to a node: fewer cache lines on the way than with two
	seq  uint64
	// changed: there is a new first one, so look before another task runs.
	changed bool
	// due: timers up to this time and this number fire now. What they set themselves waits for the next look.
	due     bool
	dueTime int64
	dueSeq  uint64
	alarm   alarm
	armed   bool
	armedAt int64
	closed  bool
}

// alarm makes the loop look at its timers at some time.
type alarm interface {
	// set replaces the time that was set before.
	set(at int64)
	// stop takes it back.
	stop()
	// close releases what the alarm holds of the system.
	close()
}

func (t *timers) init(l *Loop) {
	t.loop = l
}

// set puts a timer in its place.
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

// remove takes a timer out.
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
	t.heap = shrunk(t.heap)
}

// shrunk gives back the memory of a burst. It copies once for as many elements as have gone.
func shrunk[T any](s []T) []T {
	if cap(s) <= ringKept || len(s) > cap(s)/4 {
		return s
	}
	return append(make([]T, 0, max(cap(s)/2, ringKept)), s...)
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

// nextDue returns the function of the next timer that is due.
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
			t.set(timer, timer.next(t.dueTime))
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

// next is the first time of the timer's rhythm after now.
func (t *Timer) next(now int64) int64 {
	when := later(t.when, t.every)
	if when <= now {
		when = later(when, (now-when)/t.every*t.every+t.every)
	}
	return when
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
		least := place
		for child := 4*place + 1; child <= 4*place+4 && child < len(t.heap); child++ {
			than := timer
			if least != place {
				than = t.heap[least]
			}
			if t.heap[child].before(than) {
				least = child
			}
		}
		if least == place {
			break
		}
		t.put(t.heap[least], place)
		place = least
	}
	t.put(timer, place)
}

func (t *timers) put(timer *Timer, place int) {
	t.heap[place] = timer
	timer.place = place
}

// goAlarm is a timer of the Go runtime. Its function only sets bits of the state word: a goroutine that lasts some
// hundred ns.
type goAlarm struct {
	loop  *Loop
	timer *time.Timer
}

func newGoAlarm(l *Loop) alarm {
	return &goAlarm{loop: l}
}

func (a *goAlarm) set(at int64) {
	d := time.Duration(max(0, at-clock()))
	if a.timer == nil {
		a.timer = time.AfterFunc(d, func() { a.loop.notify(urgent) })
	} else {
		a.timer.Reset(d)
	}
}

func (a *goAlarm) stop() {
	a.timer.Stop()
}

func (a *goAlarm) close() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
