package eventloop

import (
	"cmp"
	"context"
)

// Close ends the loop for good. From now on work is refused with ErrClosed; what waits is run, by the goroutine of Run
// or Start, or by this one if there is none; timers, watchers and handles are let go. It returns when that is done.
// When ctx ends first, the loop ends after the task that runs, and the tasks that were not run are returned, in their
// order, with ctx.Err(): each task that was accepted has been run or is returned, to the first caller of Close. With a
// context that has ended already nothing more is run.
//
// Called again it waits for the first; the end of its context counts as well. Inside the loop it does not wait; the
// loop then ends when the queue is empty. Without an end of a context tasks are left over only by a panic that leaves
// Run (see WithPanicPropagation); err is then ErrClosed.
func (l *Loop) Close(ctx context.Context) (left []func(), err error) {
	l.mu.Lock()
	first := !l.closed
	done, idle := l.done, !l.running
	if first {
		l.closed = true
		if idle {
			done, _ = l.startLocked(true)
		}
		// Whatever else was to end the loop.
		l.ending = endEmpty
		if ctx.Err() != nil {
			l.ending = endNow
		}
		l.ops = append(l.ops, l.letGo)
	}
	l.mu.Unlock()
	if first {
		l.notify(urgent)
	}
	if first && idle {
		unhook := context.AfterFunc(ctx, l.hurry)
		defer unhook()
		l.serve(done)
	}
	if l.Inside() {
		return nil, nil
	}
	select {
	case <-l.gone:
	case <-ctx.Done():
		l.hurry()
		<-l.gone
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	left, l.left = l.left, nil
	if len(left) > 0 {
		err = cmp.Or(ctx.Err(), ErrClosed)
	}
	return left, err
}

// hurry makes a loop that is being closed end after the task that runs.
func (l *Loop) hurry() {
	l.mu.Lock()
	l.ending = endNow
	l.mu.Unlock()
	l.notify(urgent)
}

// letGo releases what would keep a closed loop alive.
func (l *Loop) letGo() {
	l.timers.clear()
	l.poll.close()
}

// abandon collects what a closed loop has not run; the mutex is held.
func (l *Loop) abandon() {
	for l.ticks.n > 0 {
		l.left = append(l.left, l.ticks.pop())
	}
	for l.micros.n > 0 {
		// Reactions of promises make no sense without their loop.
		if fn, is := l.micros.pop().(function); is {
			l.left = append(l.left, fn)
		}
	}
	l.soon, l.rejections = 0, ring[rejected]{}
	for priority, q := range []*chunks{High: &l.high, Normal: &l.normal, Low: &l.low} {
		for q.join(&l.lanes[priority]); q.first != nil; q.shift() {
			for task := q.pop(); task != nil; task = q.pop() {
				l.left = append(l.left, task)
			}
		}
	}
	for _, immediate := range append(l.checking[l.checked:], l.immediates...) {
		if fn := immediate.take(); fn != nil {
			l.left = append(l.left, fn)
		}
	}
	l.checking, l.immediates, l.checked = nil, nil, 0
	l.ops, l.orders, l.ordered = nil, nil, 0
	l.queued, l.spares, l.spareN = 0, nil, 0
	l.cut = len(l.left) > 0
	if !l.cut {
		l.tellDrained()
	}
	l.drains = nil
	close(l.gone)
}

// waitGone waits for the end of a loop that was closed.
func (l *Loop) waitGone(ctx context.Context) error {
	select {
	case <-l.gone:
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.cut {
			return ErrClosed
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
