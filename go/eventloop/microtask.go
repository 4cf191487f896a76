package eventloop

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

// job is a microtask: a function, or a reaction of a promise, which needs no closure that way.
type job interface{ run() }

type function func()

func (fn function) run() { fn() }

// rejected is a promise without a handler: unhandled returns why, or nil if it has got one meanwhile.
type rejected interface{ unhandled() error }

// enqueue adds a microtask, inside the loop.
func (l *Loop) enqueue(j job) {
	l.micros.push(j)
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
				l.micros.pop().run()
			}
		default:
			// Promises that are still without a handler when all others have had their turn.
			l.soon--
			if reason := l.rejections.pop().unhandled(); reason != nil {
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
