package eventloop

import (
	"cmp"
	"context"
)

// Close ends the loop for good. From now on work is refused with ErrClosed; what waits is run, by the goroutine of Run
// or Start, or by a new one if there is none; timers, watchers and handles are released. It returns when that is done.
// When ctx ends first, the loop ends after the task that runs: each task that was accepted has been run or is returned.
// With a context that has ended already nothing more is run.
//
// Any number of calls may wait for the end, and the context of each can bring it forward. They all get nil if every
// task was run. Otherwise they all get an error, that of their context or ErrClosed, also those that come later; and
// the tasks that were not run, in their order, go to one of them, whichever returns first.
//
// Inside the loop Close does not wait, and returns nothing; the loop then ends when the queue is empty, or ctx ends. A
// loop with WithLockOSThread or WithPanicPropagation that does not run runs what waits on the caller of Close, as Run
// does. Unless a context ends, tasks are left over only by a panic that is let out of Run.
func (l *Loop) Close(ctx context.Context) (left []func(), err error) {
	l.mu.Lock()
	done, begin := l.done, false
	if !l.closed {
		l.closed = true
		l.tighten()
		if begin = !l.running; begin {
			done, _ = l.startLocked(true)
		}
		// Whatever else was going to end the loop.
		l.ending = endEmpty
		l.ops = append(l.ops, l.letGo)
	}
	if ctx.Err() != nil {
		l.ending = endNow
	}
	l.mu.Unlock()
	l.notify(urgent)
	switch {
	case l.Inside():
		go l.awaitEnd(ctx)
		return nil, nil
	case begin && (l.lockThread || l.propagate):
		go l.awaitEnd(ctx)
		l.serve(done)
	case begin:
		// Not on this goroutine, which a task may end by runtime.Goexit.
		go l.serve(done)
	}
	l.awaitEnd(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	left, l.left = l.left, nil
	if l.cut {
		err = cmp.Or(ctx.Err(), ErrClosed)
	}
	return left, err
}

// awaitEnd waits for the end of a loop that is being closed, which comes sooner if ctx ends.
func (l *Loop) awaitEnd(ctx context.Context) {
	select {
	case <-l.gone:
	case <-ctx.Done():
		l.hurry()
		<-l.gone
	}
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
	l.high.join(l.lanes[High].take())
	l.normal.join(l.lanes[Normal].take())
	l.low.join(l.lanes[Low].take())
	for _, q := range []*chunks{&l.high, &l.normal, &l.low} {
		for ; q.first != nil; q.shift() {
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
	l.moveTimers(l.moves.n)
	l.begun.Store(l.accepted())
	l.spares = nil
	l.freed.Store(nil)
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
