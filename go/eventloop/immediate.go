package eventloop

// phase says how far a turn has come.
type phase uint8

const (
	beforeCheck phase = iota
	inCheck           // the immediates of this turn are being run
)

// Immediate is a function that runs at the end of the turn.
type Immediate struct {
	loop *Loop
	fn   func()
}

// Immediate runs fn at the end of this turn of the loop, when the tasks that waited at its start have run. What an
// immediate sets itself runs at the end of the next turn. Only inside the loop; elsewhere ErrOutside. ErrClosed after
// Close.
func (l *Loop) Immediate(fn func()) (*Immediate, error) {
	if err := l.checkInside(fn); err != nil {
		return nil, err
	}
	if l.timers.closed {
		return nil, ErrClosed
	}
	immediate := &Immediate{loop: l, fn: fn}
	l.immediates = append(l.immediates, immediate)
	l.live.Add(1)
	return immediate, nil
}

// Stop takes the immediate back; false when it has run or was taken back before. Only inside the loop.
func (i *Immediate) Stop() bool {
	if !i.loop.Inside() {
		return false
	}
	return i.take() != nil
}

func (i *Immediate) take() func() {
	fn := i.fn
	if fn != nil {
		i.fn = nil
		i.loop.live.Add(-1)
	}
	return fn
}

// nextImmediate returns the next function of this turn's end.
func (l *Loop) nextImmediate() func() {
	if l.phase == beforeCheck {
		l.phase = inCheck
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
