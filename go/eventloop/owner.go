package eventloop

// One word says who runs the loop now and whether somebody wants it to look up. Everything that is not guarded by the
// mutex (timers, microtasks, immediates, tasks that were taken) belongs to the owner alone; whoever becomes the owner
// sees what the last one wrote, because the word is atomic.
//
//	nobody    the loop sleeps: nothing waits, and its goroutine is parked on l.wake
//	gid       a caller of Do runs a function inline; the loop's goroutine is parked
//	theLoop   the loop's goroutine runs, or has been woken
//	stopped   no Run or Start is under way
//
// Bits may be set without waking a sleeping loop, for what can wait until something else wakes it.
//
// Whoever changes the word from nobody or a caller's gid to theLoop sends on l.wake exactly once, so that the send
// never blocks.
const (
	pending uintptr = 1 << iota // tasks wait in the lanes, or there may be a reason to end
	urgent                      // something has to be done before the next task
	_

	bits = pending | urgent

	nobody  uintptr = 0
	theLoop uintptr = 1 << 3
	stopped uintptr = 2 << 3
)

// Inside reports whether the calling goroutine is running the loop: in a task, a timer, a microtask, or a function
// given to Do. Takes a few ns.
func (l *Loop) Inside() bool {
	switch owner := l.state.Load() &^ bits; owner {
	case nobody, stopped:
		return false
	case theLoop:
		return l.goroutine.Load() == gid()
	default:
		return owner == gid()
	}
}

// notify makes the owner look up, and wakes the loop if it sleeps. Any goroutine.
func (l *Loop) notify(why uintptr) {
	if l.mark(why) {
		l.wake <- struct{}{}
	}
}

// mark is notify but for the waking: when it is true, the caller has to send on l.wake.
func (l *Loop) mark(why uintptr) bool {
	for {
		state := l.state.Load()
		if state&^bits == nobody {
			if l.state.CompareAndSwap(state, theLoop|state&bits|why) {
				return true
			}
		} else if state&why == why || l.state.CompareAndSwap(state, state|why) {
			return false
		}
	}
}

// sleep gives the loop up until somebody has work for it; false when somebody has already.
func (l *Loop) sleep() bool {
	if !l.state.CompareAndSwap(theLoop, nobody) {
		return false
	}
	<-l.wake
	return true
}

// borrow makes a caller of Do the owner of a loop that sleeps.
func (l *Loop) borrow(me uintptr) bool {
	return l.state.CompareAndSwap(nobody, me)
}

// giveBack ends a loan. The loop's goroutine is woken if there is anything for it to do.
func (l *Loop) giveBack(me uintptr) {
	busy := len(l.immediates) > 0 || l.soon > 0 || l.restless() || l.timers.changed && l.timers.look()
	if !busy && l.state.CompareAndSwap(me, nobody) {
		return
	}
	for {
		state := l.state.Load()
		if l.state.CompareAndSwap(state, theLoop|state&bits|pending) {
			l.wake <- struct{}{}
			return
		}
	}
}
