package eventloop

import (
	"cmp"
	"fmt"
	"slices"

	"millrace.dev/go"
)

// Submit queues a task. Any goroutine, also a task; it never runs the task itself, so the caller may hold locks that
// the task wants. Tasks of one goroutine run in the order in which it submitted them.
//
// Costs no allocation beyond the caller's closure, and a system call only if the loop sleeps and the Go scheduler has
// to wake a thread for it. Errors: millrace.ErrOverload, millrace.ErrClosed, ErrNilTask; the task is then not taken.
func (l *Loop) Submit(task func()) error {
	if task == nil {
		return ErrNilTask
	}
	return l.submit(laneNormal, task, true)
}

// SubmitPriority is Submit with a class. Within a class the order of submission holds. High tasks run before all
// waiting tasks, also between two tasks of a batch: while there are some, nothing else runs. Low tasks get one turn for
// eight of Normal while both wait.
func (l *Loop) SubmitPriority(priority millrace.Priority, task func()) error {
	if task == nil {
		return ErrNilTask
	}
	if err := priority.Check(); err != nil {
		return err
	}
	return l.submit(classes[priority], task, true)
}

var (
	classes = [...]int{0: laneNormal, millrace.High: laneHigh, millrace.Normal: laneNormal, millrace.Low: laneLow}
	reasons = [...]uintptr{laneNormal: pending, laneHigh: urgent, laneLow: pending}
)

// submit queues a task, within the bound of the queue or, for what must not be refused, beyond it.
func (l *Loop) submit(class int, task func(), bounded bool) error {
	l.mu.Lock()
	if lane := &l.lanes[class]; lane.n < lane.limit {
		lane.add(task)
		l.mu.Unlock()
		return nil
	}
	queued := l.queued()
	if l.closed.Load() || bounded && queued >= l.config.MaxQueue {
		err := l.refuse(1)
		l.mu.Unlock()
		return err
	}
	wake := l.put(class, task, queued)
	l.mu.Unlock()
	if wake {
		l.wake <- struct{}{}
	}
	return nil
}

// SubmitBatch queues tasks in one go: one lock and at most one wake-up for all. It returns the number of tasks
// accepted, which are the first ones; with an error the others were refused.
func (l *Loop) SubmitBatch(tasks []func()) (int, error) {
	if i := slices.IndexFunc(tasks, func(task func()) bool { return task == nil }); i >= 0 {
		n, err := l.SubmitBatch(tasks[:i])
		return n, cmp.Or(err, ErrNilTask)
	}
	var err error
	wake := false
	l.mu.Lock()
	n := len(tasks)
	// The queue may be above its bound: Stop puts back what the loop had begun to work through.
	if room := max(0, l.config.MaxQueue-l.queued()); n > room || l.closed.Load() {
		if l.closed.Load() {
			room = 0
		}
		err = l.refuse(n - room)
		n = room
	}
	lane := &l.lanes[laneNormal]
	for _, task := range tasks[:n] {
		if lane.n < lane.limit {
			lane.add(task)
		} else if l.put(laneNormal, task, l.queued()) {
			wake = true
		}
	}
	l.mu.Unlock()
	if wake {
		l.wake <- struct{}{}
	}
	return n, err
}

// put appends to a lane when so many tasks are queued; the mutex is held. It tells the owner if the lane was empty or
// the queue has reached its high-water mark; when it is true, the caller has to send on l.wake as soon as it has given
// the mutex up. The state is marked before that, since a Do that finds the loop asleep would get ahead of what waits.
//
// It then lets the next tasks enter the chunk without all this, by lane.add alone, unless they could reach a bound.
// With room for a chunk of each lane they cannot. Nor has the owner to be told: it was told when the lane was empty,
// and then takes the whole lane.
func (l *Loop) put(class int, task func(), queued int) bool {
	lane := &l.lanes[class]
	why := uintptr(0)
	if lane.first == nil {
		why = reasons[class]
	}
	if lane.first == nil || lane.n == chunkSize {
		lane.grow(l.newChunk())
	}
	lane.add(task)
	queued++
	if queued >= l.config.PressureMark && !l.pressed {
		l.pressed = true
		l.ops = append(l.ops, l.tellPressure)
		why |= urgent
	}
	room := l.config.MaxQueue - queued
	if !l.pressed {
		room = min(room, l.config.PressureMark-queued)
	}
	lane.limit = chunkSize
	if room < len(l.lanes)*chunkSize {
		l.tighten()
	}
	return why != 0 && l.mark(why)
}

// refuse counts a refusal and says why; the mutex is held.
func (l *Loop) refuse(tasks int) error {
	l.refused += uint64(tasks)
	if l.closed.Load() {
		return millrace.ErrClosed
	}
	if l.wake == nil {
		return fmt.Errorf("%w: the Loop is a zero value: make one with New", millrace.ErrOption)
	}
	return millrace.ErrOverload
}

func (l *Loop) newChunk() *chunk {
	c := l.spares
	if c == nil {
		c = l.freed.Swap(nil)
	}
	if c == nil {
		c = new(chunk)
	} else {
		l.spares, c.next = c.next, nil
	}
	c.read, c.written, c.since = 0, 0, 0
	if l.timed.Load() {
		c.since = clock()
	}
	return c
}

// reuse is recycle for the owner when it holds the mutex anyway: a loop that goes from task to task then gets its one
// chunk back without further ado.
func (l *Loop) reuse(c *chunk) {
	if l.spares == nil {
		l.spares = c
	} else {
		l.recycle(c)
	}
}

// recycle keeps an emptied chunk for the next tasks. As each empties: a burst of a million tasks is then gone from the
// heap when it has run, and not kept until the next one. Without the mutex, which the owner would have to wait for
// among the producers: it alone adds chunks, and whoever takes any takes all, so that the one on top cannot have gone
// and come back meanwhile.
func (l *Loop) recycle(c *chunk) {
	for {
		top := l.freed.Load()
		c.next, c.depth = top, 1
		if top != nil {
			c.depth += top.depth
		}
		if c.depth > sparesKept || l.freed.CompareAndSwap(top, c) {
			return
		}
	}
}

// tellPressure reports how things are by now: tasks may have come or gone since the mark was passed. A fall that is
// over is not reported, or the hook would be left with a long queue and no further call.
func (l *Loop) tellPressure() {
	l.mu.Lock()
	queued := l.queued()
	l.pressed = queued > l.config.PressureMark/2
	l.tighten() // the mark may be what bounds the lanes now
	news := l.pressed != l.told
	l.told = l.pressed
	l.mu.Unlock()
	if news {
		l.hook(func() { l.config.OnPressure(queued) })
	}
}
