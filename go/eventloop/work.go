package eventloop

import (
	"millrace.dev/go"
	"millrace.dev/go/internal/inner"
)

// lowShare: while both wait, this many NORMAL tasks run for each LOW one.
const lowShare = 8

// work runs the loop until it has to end. A panic may leave it at any task; all its progress is in the loop, so that
// calling it again goes on with the next one.
func (l *Loop) work() {
	for {
		if l.soon > 0 {
			l.checkpoint()
		}
		if l.state.Load()&urgent != 0 {
			l.attend()
		}
		if l.special {
			if l.end && l.mayEnd() {
				return
			}
			if l.soon > 0 {
				// An order was a task of its own.
				continue
			}
			if task := l.nextSpecial(); task != nil {
				task()
				continue
			}
			l.special = l.end || l.poll.hot || l.timers.changed
		}
		if task := l.nextTask(); task != nil {
			task()
			continue
		}
		if immediate := l.nextImmediate(); immediate != nil {
			immediate()
			continue
		}
		if !l.nextTurn() {
			return
		}
	}
}

// attend deals with what became urgent: orders of other goroutines, HIGH tasks, an end.
func (l *Loop) attend() {
	l.state.And(^urgent)
	l.special = true
	l.mu.Lock()
	l.take(laneHigh, &l.high)
	l.orders = append(l.orders, l.ops...)
	clear(l.ops)
	l.ops = l.ops[:0]
	l.end = l.ending != endNot
	l.seeToMoves()
	l.mu.Unlock()
	// An order that ends the goroutine leaves the others to the next one.
	for l.ordered < len(l.orders) {
		op := l.orders[l.ordered]
		l.orders[l.ordered] = nil
		l.ordered++
		op()
	}
	l.orders, l.ordered = l.orders[:0], 0
	l.timers.look()
	l.poll.attend()
}

// nextSpecial returns what comes before tasks: HIGH ones, due timers, ready descriptors.
func (l *Loop) nextSpecial() func() {
	if task := l.next(&l.high, laneHigh); task != nil {
		return task
	}
	if task := l.timers.nextDue(); task != nil {
		return task
	}
	return l.poll.nextReady()
}

func (l *Loop) nextTask() func() {
	if l.low.empty() {
		return l.next(&l.normal, laneNormal)
	}
	if l.lowTurn < lowShare {
		if task := l.next(&l.normal, laneNormal); task != nil {
			l.lowTurn++
			return task
		}
		if l.state.Load()&pending != 0 && l.waits(laneNormal) {
			// The LOW ones that are left wait for the next turn, or all of them would run before the next NORMAL one.
			return nil
		}
	}
	l.lowTurn = 0
	if task := l.next(&l.low, laneLow); task != nil {
		return task
	}
	return l.next(&l.normal, laneNormal)
}

// waits reports whether tasks of a class have come since the turn began.
func (l *Loop) waits(class int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lanes[class].first != nil
}

// next takes a task out of chunks that were taken from the lanes.
func (l *Loop) next(q *chunks, class int) func() {
	task := q.pop()
	// The last chunk stays until the next tasks are taken.
	if task != nil || q.first == q.last {
		return task
	}
	l.recycle(q.shift())
	l.begin(q, class)
	if l.told {
		l.mu.Lock()
		l.relieve()
		l.mu.Unlock()
	}
	return q.pop()
}

// take moves what waits in a lane to the owner's chunks; the mutex is held.
func (l *Loop) take(class int, to *chunks) {
	if l.lanes[class].first == nil {
		return
	}
	begun := to.first
	if begun != nil && begun.read == begun.written {
		l.reuse(to.shift())
	}
	to.join(l.lanes[class].take())
	if to.first != begun {
		l.begin(to, class)
		l.relieve()
	}
}

// begin counts the first chunk's tasks as no longer queued: they are run now. Without the mutex, once for a chunk.
func (l *Loop) begin(q *chunks, class int) {
	c := q.first
	if c == nil {
		return
	}
	l.begun.Store(l.begun.Load() + uint64(c.written-c.read))
	if c.since != 0 {
		worst := &l.worstWait[class]
		worst.Store(max(worst.Load(), clock()-c.since))
	}
}

// relieve sees whether the queue has fallen to half of its high-water mark; the mutex is held. Before the hook was told
// of a rise there is nothing to do: tellPressure looks for itself.
func (l *Loop) relieve() {
	if l.told && l.pressed && l.queued() <= l.config.PressureMark/2 {
		l.pressed = false
		l.ops = append(l.ops, l.tellPressure)
		l.notify(urgent)
	}
}

// nextTurn ends the turn and begins another with what waits by then, or sleeps until something does. False: the end.
func (l *Loop) nextTurn() bool {
	l.inCheck = false
	for {
		if l.state.Load()&pending != 0 {
			l.mu.Lock()
			l.state.And(^pending)
			l.take(laneNormal, &l.normal)
			l.take(laneLow, &l.low)
			if l.moves.first != nil {
				l.state.Or(urgent)
			}
			found := l.normal.begun() > 0 || l.low.begun() > 0
			if found {
				l.turns++
			}
			l.mu.Unlock()
			if found {
				l.timers.look()
				// One of the turn's tasks comes before what is ready.
				l.poll.pause = 1
				return true
			}
		}
		l.poll.pause = 0
		if l.timers.look() || len(l.immediates) > 0 || l.end || l.state.Load()&urgent != 0 {
			return true
		}
		if l.restless() && l.idle() {
			return false
		}
		if l.poll.hot {
			return true
		}
		l.timers.rest()
		if l.timed.Load() {
			l.load.sleeps(clock())
			l.sleep()
			l.load.wakes(clock())
		} else {
			l.sleep()
		}
		if l.soon > 0 || len(l.immediates) > 0 {
			// A Do has run inline meanwhile, and that was a turn: it ends with these immediates.
			return true
		}
	}
}

// restless: nothing keeps the loop alive and somebody waits for that.
func (l *Loop) restless() bool { return l.live.Load() == 0 && l.idleCalls.Load() }

// ---- microtasks

// Microtask runs fn when the current task, and every microtask before it, is over: before any other task, timer or
// readiness callback. Only inside the loop; elsewhere ErrOutside, for there is no current task.
//
// Microtasks that add microtasks without end keep the loop from everything except being ended by Stop or Close.
func (l *Loop) Microtask(fn func()) error {
	if err := l.checkInside(fn); err != nil {
		return err
	}
	l.enqueue(function(fn))
	return nil
}

// NextTick is Microtask ahead of the microtasks: the functions given to it run first, then all microtasks, and again
// while either adds some. It is process.nextTick of Node.js.
func (l *Loop) NextTick(fn func()) error {
	if err := l.checkInside(fn); err != nil {
		return err
	}
	l.ticks.push(fn)
	l.soon++
	return nil
}

// function is a microtask beside the reactions of promises, which need no closure.
type function func()

// Run is part of inner.Job.
func (fn function) Run() { fn() }

// enqueue adds a microtask, inside the loop.
func (l *Loop) enqueue(job inner.Job) {
	l.micros.push(job)
	l.soon++
}

func (l *Loop) checkInside(fn func()) error {
	if fn == nil {
		return ErrNilTask
	}
	if !l.Inside() {
		return ErrOutside
	}
	return nil
}

// checkpoint runs what is to happen between two tasks. A panic leaves the rest for the next call.
func (l *Loop) checkpoint() {
	for l.soon > 0 && !l.mustStop() {
		switch {
		case l.ticks.n > 0:
			for l.ticks.n > 0 && !l.mustStop() {
				l.soon--
				l.ticks.pop()()
			}
		case l.micros.n > 0:
			for l.micros.n > 0 && !l.mustStop() {
				l.soon--
				l.micros.pop().Run()
			}
		default:
			// Promises that are still without a handler when all others have had their turn.
			l.soon--
			if reason := l.rejections.pop().Unhandled(); reason != nil {
				l.reportUnhandled(reason)
			}
		}
	}
}

// mustStop ends even an endless chain of microtasks when the loop is to stop.
func (l *Loop) mustStop() bool {
	if l.state.Load()&urgent == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending == endNow
}

// ring is a FIFO that reuses its room.
type ring[T any] struct {
	slots []T
	first int
	n     int
}

func (r *ring[T]) push(value T) {
	if r.n == len(r.slots) {
		r.grow()
	}
	r.slots[(r.first+r.n)&(len(r.slots)-1)] = value
	r.n++
}

func (r *ring[T]) pop() T {
	var none T
	value := r.slots[r.first]
	r.slots[r.first] = none
	r.first = (r.first + 1) & (len(r.slots) - 1)
	r.n--
	if r.n == 0 && len(r.slots) > ringKept {
		// A burst is over: give its memory back.
		*r = ring[T]{}
	}
	return value
}

// ringKept is the size that an empty ring keeps, and the other lists of a loop.
const ringKept = 4096

func (r *ring[T]) grow() {
	slots := make([]T, max(16, 2*len(r.slots)))
	n := copy(slots, r.slots[r.first:])
	copy(slots[n:], r.slots[:r.first])
	r.slots, r.first = slots, 0
}

// ---- promises

func init() {
	inner.Promises.React = func(loop any, job inner.Job) { loop.(*Loop).enqueue(job) }
	inner.Promises.Reject = func(loop any, rejection inner.Rejection) {
		l := loop.(*Loop)
		l.rejections.push(rejection)
		l.soon++
	}
	inner.Promises.Submit = func(loop any, task func()) error { return loop.(*Loop).submit(laneNormal, task, false) }
	inner.Promises.Lost = func(loop any, reason error) {
		// It does not wake the loop, which deals with it when it next wakes.
		l := loop.(*Loop)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.running {
			l.ops = append(l.ops, func() { l.reportUnhandled(reason) })
			l.state.Or(urgent)
			return
		}
		l.reported.Add(1)
		go safely(func() { l.config.OnRejection(reason) })
	}
	inner.Promises.Runs = func(loop any) bool {
		l := loop.(*Loop)
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.running
	}
}

// reportUnhandled tells of a rejection without a handler, on the loop.
func (l *Loop) reportUnhandled(reason error) {
	l.reported.Add(1)
	l.hook(func() { l.config.OnRejection(reason) })
}

// ---- immediates

// Immediate is a function that runs at the end of the turn.
type Immediate struct {
	loop *Loop
	fn   func()
}

// Immediate runs fn at the end of this turn of the loop, when the tasks that waited at its start have run. An immediate
// that an immediate sets runs at the end of the next turn. Only inside the loop; elsewhere ErrOutside. ErrClosed after
// Close.
func (l *Loop) Immediate(fn func()) (*Immediate, error) {
	if err := l.checkInside(fn); err != nil {
		return nil, err
	}
	if l.timers.closed {
		return nil, millrace.ErrClosed
	}
	immediate := &Immediate{loop: l, fn: fn}
	l.immediates = append(l.immediates, immediate)
	l.live.Add(1)
	return immediate, nil
}

// Stop cancels the immediate; false when it has run or was stopped before. Only inside the loop.
func (i *Immediate) Stop() bool { return i.loop.Inside() && i.take() != nil }

func (i *Immediate) take() func() {
	fn := i.fn
	if fn != nil {
		i.fn = nil
		i.loop.live.Add(-1)
	}
	return fn
}

func (l *Loop) nextImmediate() func() {
	if !l.inCheck {
		l.inCheck = true
		l.checking, l.immediates = l.immediates, l.checking[:0]
		l.checked = 0
	}
	for l.checked < len(l.checking) {
		immediate := l.checking[l.checked]
		l.checking[l.checked] = nil
		l.checked++
		if fn := immediate.take(); fn != nil {
			return fn
		}
	}
	if cap(l.checking) > ringKept {
		// A burst is over: give its memory back.
		l.checking, l.checked = nil, 0
	}
	return nil
}
