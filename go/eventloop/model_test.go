package eventloop

import (
	"slices"
	"time"

	"millrace.dev/go"
)

// model is the loop as it is documented, on plain slices, one goroutine and a clock of its own: what FuzzLoop compares
// the real one with.
//
// One task, then all that was given to NextTick, then all microtasks. A task is, in this order: a HIGH one; a timer
// that is due; a NORMAL or LOW one that waited when the turn began, eight to one; an immediate that was set before the
// end of the turn. Whether timers are due is looked up when a turn begins, and between two tasks when something urgent
// has come, a timer was set, or those that were due have fired and another task has had its turn.
type model struct {
	now int64

	lanes      [4][]func() // submitted
	turn       [4][]func() // taken, to be run in this turn
	orders     []func()    // from outside, for the loop to see to
	moves      []*modelTimer
	ticks      []func()
	micros     []func()
	immediates []*modelImmediate // for the end of this turn
	checking   []*modelImmediate // this is the end of the turn
	check      bool
	lowTurn    int

	timers    []*modelTimer
	set       int // so many times a timer was set
	changed   bool
	due       bool
	dueTime   int64
	dueBefore int

	urgent, running, toIdle, stop, inside, asleep bool

	handles int
	report  func(error)
}

type modelImmediate struct{ fn func() }

type modelTimer struct {
	fn                          func()
	every                       int64
	active, weak, placed, moved bool
	when, target                int64
	order                       int
}

// exit is thrown where the real thing calls runtime.Goexit.
type exit struct{}

func (m *model) submit(priority millrace.Priority, fn func()) {
	m.lanes[priority] = append(m.lanes[priority], fn)
	m.urgent = m.urgent || priority == millrace.High
}

func (m *model) order(fn func()) {
	m.orders = append(m.orders, fn)
	m.urgent = true
}

// begin makes the loop run; it goes on in resume.
func (m *model) begin(toIdle bool) {
	m.running, m.toIdle, m.urgent, m.asleep = true, toIdle, true, false
	m.resume()
}

// resume runs the loop until it sleeps or ends.
func (m *model) resume() {
	if m.asleep && len(m.ticks)+len(m.micros)+len(m.immediates) == 0 {
		// What a Do has left behind belongs to the turn that it was.
		m.begins()
	}
	m.asleep = false
	for m.running {
		if failure := m.guard(m.checkpoint); failure != nil {
			m.tell(failure)
			continue
		}
		if m.urgent {
			m.urgent = false
			m.turn[millrace.High] = append(m.turn[millrace.High], m.lanes[millrace.High]...)
			m.lanes[millrace.High] = nil
			for len(m.moves) > 0 {
				m.see(shift(&m.moves))
			}
			for len(m.orders) > 0 {
				shift(&m.orders)()
			}
			m.look()
		}
		if m.stop {
			m.running, m.stop = false, false
			return
		}
		if task := m.next(); task != nil {
			if failure := m.guard(task); failure != nil {
				m.tell(failure)
			}
			continue
		}
		m.begins()
		if len(m.turn[millrace.Normal])+len(m.turn[millrace.Low])+len(m.immediates) > 0 || m.due || m.urgent {
			continue
		}
		m.asleep = true
		if m.toIdle && !m.live() {
			m.running = false
		}
		return
	}
}

// begins is the beginning of a turn.
func (m *model) begins() {
	m.check = false
	m.turn[millrace.Normal] = append(m.turn[millrace.Normal], m.lanes[millrace.Normal]...)
	m.turn[millrace.Low] = append(m.turn[millrace.Low], m.lanes[millrace.Low]...)
	m.lanes[millrace.Normal], m.lanes[millrace.Low] = nil, nil
	m.look()
}

func shift[T any](queue *[]T) T {
	first := (*queue)[0]
	*queue = (*queue)[1:]
	return first
}

func (m *model) next() func() {
	if len(m.turn[millrace.High]) > 0 {
		return shift(&m.turn[millrace.High])
	}
	if task := m.timer(); task != nil {
		return task
	}
	if len(m.turn[millrace.Normal]) > 0 && (len(m.turn[millrace.Low]) == 0 || m.lowTurn < 8) {
		if len(m.turn[millrace.Low]) > 0 {
			m.lowTurn++
		}
		return shift(&m.turn[millrace.Normal])
	}
	if len(m.turn[millrace.Low]) > 0 && (m.lowTurn == 8 || len(m.lanes[millrace.Normal]) == 0) {
		m.lowTurn = 0
		return shift(&m.turn[millrace.Low])
	}
	if !m.check {
		m.check = true
		m.checking, m.immediates = m.immediates, nil
	}
	for len(m.checking) > 0 {
		if immediate := shift(&m.checking); immediate.fn != nil {
			fn := immediate.fn
			immediate.fn = nil
			return fn
		}
	}
	return nil
}

func (m *model) checkpoint() {
	for !m.stop && len(m.ticks)+len(m.micros) > 0 {
		for !m.stop && len(m.ticks) > 0 {
			shift(&m.ticks)()
		}
		for !m.stop && len(m.micros) > 0 {
			shift(&m.micros)()
		}
	}
}

// guard calls fn on the loop and returns what it failed with.
func (m *model) guard(fn func()) (failure error) {
	m.inside = true
	defer func() {
		m.inside = false
		switch value := recover().(type) {
		case nil:
		case exit:
			failure = millrace.ErrGoexit
		default:
			failure = &millrace.PanicError{Value: value}
		}
	}()
	fn()
	return nil
}

func (m *model) tell(err error) {
	m.inside = true
	m.report(err)
	m.inside = false
}

// do is Do, outside, of a loop that sleeps.
func (m *model) do(fn func()) (failure error) {
	failure = m.guard(fn)
	for !m.stop && len(m.ticks)+len(m.micros) > 0 {
		if err := m.guard(m.checkpoint); err == millrace.ErrGoexit {
			// The caller's goroutine has ended; the loop tells, and runs the others.
			m.order(func() { m.tell(millrace.ErrGoexit) })
			failure = millrace.ErrGoexit
			break
		} else if err != nil {
			m.tell(err)
		}
	}
	m.resume()
	return failure
}

func (m *model) live() bool {
	for _, t := range m.timers {
		if t.active && !t.weak {
			return true
		}
	}
	waits := func(immediate *modelImmediate) bool { return immediate.fn != nil }
	return m.handles > 0 || slices.ContainsFunc(m.immediates, waits) || slices.ContainsFunc(m.checking, waits)
}

func (m *model) reset(t *modelTimer, d time.Duration) {
	t.active = true
	when := m.now + max(0, int64(d))
	if m.inside {
		t.moved = false
		m.place(t, when)
		return
	}
	t.target = when
	m.move(t)
}

// move lets the loop see to a timer that was changed outside; until then its old time does not count.
func (m *model) move(t *modelTimer) {
	t.moved = true
	m.moves = slices.DeleteFunc(m.moves, func(other *modelTimer) bool { return other == t })
	m.moves = append(m.moves, t)
	m.urgent = true
}

func (m *model) see(t *modelTimer) {
	if t.moved {
		t.moved, t.placed = false, false
		if t.active {
			m.place(t, t.target)
		}
	}
}

func (m *model) place(t *modelTimer, when int64) {
	m.set++
	m.changed = true
	t.placed, t.when, t.order = true, when, m.set
}

func (m *model) cancel(t *modelTimer) bool {
	was := t.active
	t.active = false
	if m.inside {
		t.moved, t.placed = false, false
	} else if was {
		m.move(t)
	}
	return was
}

// first is the timer that is the first to fire.
func (m *model) first() (first *modelTimer) {
	for _, t := range m.timers {
		if t.placed && (first == nil || t.when < first.when || t.when == first.when && t.order < first.order) {
			first = t
		}
	}
	return first
}

func (m *model) look() {
	if m.due {
		return
	}
	m.changed = false
	if first := m.first(); first != nil && first.when <= m.now {
		m.due, m.dueTime, m.dueBefore = true, m.now, m.set
	}
}

// timer returns what the next timer that is due runs. Timers that are set meanwhile wait for the next look.
func (m *model) timer() func() {
	if m.changed {
		m.look()
	}
	for m.due {
		t := m.first()
		if t == nil || t.when > m.dueTime || t.order > m.dueBefore {
			m.due, m.changed = false, true
			break
		}
		t.placed = false
		if !t.active || t.moved {
			continue
		}
		if t.every > 0 {
			when := t.when + t.every
			for when <= m.dueTime {
				when += t.every
			}
			m.place(t, when)
		} else {
			t.active = false
		}
		return t.fn
	}
	return nil
}

// pass lets time go by.
func (m *model) pass(d time.Duration) {
	until := m.now + int64(d)
	m.sleep(until)
	m.now = until
}

// sleep lets time go by until then, or until the loop ends.
func (m *model) sleep(until int64) {
	for m.running {
		t := m.first()
		if t == nil || t.when > until {
			m.now = until
			return
		}
		m.now = max(m.now, t.when)
		m.urgent = true
		m.resume()
	}
}
