package eventloop

import "runtime"

// A loss is a rejection that nobody has seen yet, of a promise that another goroutine has made: whoever holds it may be
// about to look. When nobody holds it any more, nobody will.
type loss struct {
	loop   *Loop
	reason error
	seen   chan struct{} // not empty: somebody has seen it
}

// reportIfLost lets the loop be told when the promise is collected without having been seen. The mutex is held.
func (p *Promise[T]) reportIfLost() {
	p.done = make(chan struct{}, 1)
	runtime.AddCleanup(p, loss.report, loss{p.loop, p.err, p.done})
}

// report is called by the collector, which belongs to no bubble of testing/synctest and so must neither receive nor
// send on the channels of a loop that does.
func (s loss) report() {
	if len(s.seen) == 0 {
		s.loop.lost(s.reason)
	}
}

// lost does not wake the loop, for the same reason: the loop deals with it when it next wakes.
func (l *Loop) lost(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		l.ops = append(l.ops, func() { l.reportUnhandled(reason) })
		l.state.Or(urgent)
		return
	}
	l.reported.Add(1)
	go safely(func() { l.onRejection(reason) })
}

// reportUnhandled tells of a rejection without a handler, on the loop.
func (l *Loop) reportUnhandled(reason error) {
	l.reported.Add(1)
	l.hook(func() { l.onRejection(reason) })
}
