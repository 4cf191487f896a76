package eventloop

// Microtask runs fn when the current task, and every microtask before it, is over: before any other task, timer or
// readiness callback. Only inside the loop; elsewhere ErrOutside, for there is no current task.
//
// Microtasks that add microtasks without end keep the loop from everything but its end by Stop or Close.
func (l *Loop) Microtask(fn func()) error {
	if err := l.checkInside(fn); err != nil {
		return err
	}
	l.micros.push(fn)
	l.soon++
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
				l.micros.pop()()
			}
		default:
			// Promises that are still without a handler when all others have had their turn.
			rejection := l.rejections[0]
			l.rejections = l.rejections[1:]
			l.soon--
			rejection()
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

// ring is a FIFO of functions that reuses its room.
type ring struct {
	slots []func()
	first int
	n     int
}

func (r *ring) push(fn func()) {
	if r.n == len(r.slots) {
		r.grow()
	}
	r.slots[(r.first+r.n)&(len(r.slots)-1)] = fn
	r.n++
}

func (r *ring) pop() func() {
	fn := r.slots[r.first]
	r.slots[r.first] = nil
	r.first = (r.first + 1) & (len(r.slots) - 1)
	r.n--
	if r.n == 0 && len(r.slots) > ringKept {
		// A burst is over.
		*r = ring{}
	}
	return fn
}

// ringKept is the size that an empty ring keeps.
const ringKept = 4096

func (r *ring) grow() {
	slots := make([]func(), max(16, 2*len(r.slots)))
	n := copy(slots, r.slots[r.first:])
	copy(slots[n:], r.slots[:r.first])
	r.slots, r.first = slots, 0
}
