package eventloop

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
	l.take(High, &l.high)
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
	if task := l.next(&l.high, High); task != nil {
		return task
	}
	if task := l.timers.nextDue(); task != nil {
		return task
	}
	return l.poll.nextReady()
}

// nextTask returns the next of this turn's tasks.
func (l *Loop) nextTask() func() {
	if l.low.empty() {
		return l.next(&l.normal, Normal)
	}
	if l.lowTurn < lowShare {
		if task := l.next(&l.normal, Normal); task != nil {
			l.lowTurn++
			return task
		}
		if l.state.Load()&pending != 0 && l.waits(Normal) {
			// The LOW ones that are left wait for the next turn, or all of them would run before the next NORMAL one.
			return nil
		}
	}
	l.lowTurn = 0
	if task := l.next(&l.low, Low); task != nil {
		return task
	}
	return l.next(&l.normal, Normal)
}

// waits reports whether tasks of a class have come since the turn began.
func (l *Loop) waits(priority Priority) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lanes[priority].first != nil
}

// next takes a task out of chunks that were taken from the lanes.
func (l *Loop) next(q *chunks, priority Priority) func() {
	task := q.pop()
	// The last chunk stays until the next tasks are taken.
	if task != nil || q.first == q.last {
		return task
	}
	l.recycle(q.shift())
	l.begin(q, priority)
	if l.told {
		l.mu.Lock()
		l.relieve()
		l.mu.Unlock()
	}
	return q.pop()
}

// take moves what waits in a lane to the owner's chunks; the mutex is held.
func (l *Loop) take(priority Priority, to *chunks) {
	if l.lanes[priority].first == nil {
		return
	}
	begun := to.first
	if begun != nil && begun.read == begun.written {
		l.reuse(to.shift())
	}
	to.join(l.lanes[priority].take())
	if to.first != begun {
		l.begin(to, priority)
		l.relieve()
	}
}

// begin counts the first chunk's tasks as no longer queued: they are run now. Without the mutex, once for a chunk.
func (l *Loop) begin(q *chunks, priority Priority) {
	c := q.first
	if c == nil {
		return
	}
	l.begun.Store(l.begun.Load() + uint64(c.written-c.read))
	if c.since != 0 {
		worst := &l.worstWait[priority]
		worst.Store(max(worst.Load(), clock()-c.since))
	}
}

// relieve sees whether the queue has fallen to half of its high-water mark; the mutex is held. Before the hook was told
// of a rise there is nothing to do: tellPressure looks for itself.
func (l *Loop) relieve() {
	if l.told && l.pressed && l.queued() <= l.pressureHigh/2 {
		l.pressed = false
		l.ops = append(l.ops, l.tellPressure)
		l.notify(urgent)
	}
}

// nextTurn ends the turn and begins another with what waits by then. It sleeps while nothing does; false when the loop
// is to end.
func (l *Loop) nextTurn() bool {
	l.phase = beforeCheck
	for {
		if l.state.Load()&pending != 0 {
			l.mu.Lock()
			l.state.And(^pending)
			l.take(Normal, &l.normal)
			l.take(Low, &l.low)
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
				l.poll.turn(1)
				return true
			}
		}
		l.poll.turn(0)
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
		l.snooze()
		if l.soon > 0 || len(l.immediates) > 0 {
			// A Do has run inline meanwhile, and that was a turn: it ends with these immediates.
			return true
		}
	}
}

// snooze is sleep, by the clock if somebody wants to know.
func (l *Loop) snooze() {
	if !l.timed.Load() {
		l.sleep()
		return
	}
	l.load.sleeps(clock())
	l.sleep()
	l.load.wakes(clock())
}

// restless: nothing keeps the loop alive and somebody waits for that.
func (l *Loop) restless() bool {
	return l.live.Load() == 0 && l.idleCalls.Load()
}
