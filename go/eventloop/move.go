package eventloop

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

// remove takes a timer out, if it is in it.
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
