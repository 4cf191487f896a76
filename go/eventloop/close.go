package eventloop

import "context"

// Close ends the loop for good. From now on work is refused with ErrClosed; what waits is run, by the goroutine of Run or
// Start, or by this one if there is none; timers, watchers and handles are let go. It returns when that is done. When ctx
// ends first, the loop ends after the task that runs, and the tasks that were not run are returned, in their order, with
// ctx.Err(): each task that was accepted has been run or is returned, to the first caller of Close. With a context that
// has ended already nothing more is run.
//
// Called again it waits for the first. Inside the loop it does not wait; the loop then ends when the queue is empty.
func (l *Loop) Close(ctx context.Context) (left []func(), err error) {
	how := endEmpty
	if ctx.Err() != nil {
		how = endNow
	}
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	running, done := l.running, l.done
	if first && !running {
		done, _ = l.startLocked(true)
	}
	l.mu.Unlock()
	if first {
		l.order(l.letGo)
		l.endBy(how, done)
		if !running {
			unhook := context.AfterFunc(ctx, func() { l.endBy(endNow, done) })
			l.serve(done)
			unhook()
		}
	}
	if l.Inside() {
		return nil, nil
	}
	select {
	case <-l.gone:
	case <-ctx.Done():
		l.endBy(endNow, done)
		<-l.gone
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	left, l.left = l.left, nil
	if len(left) > 0 {
		err = ctx.Err()
	}
	return left, err
}

// letGo releases what would keep a closed loop alive.
func (l *Loop) letGo() {
	l.timers.clear()
	l.poll.close()
}

// abandon collects what a closed loop has not run; the mutex is held.
func (l *Loop) abandon() {
	l.suspend()
	for priority := range l.lanes {
		for lane := &l.lanes[priority]; lane.first != nil; lane.shift() {
			for task := lane.pop(); task != nil; task = lane.pop() {
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
	l.queued, l.spares, l.spareN = 0, nil, 0
	l.tellDrained()
	close(l.gone)
}

// waitGone waits for the end of a loop that was closed.
func (l *Loop) waitGone(ctx context.Context) error {
	select {
	case <-l.gone:
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.left) > 0 {
			return ErrClosed
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
