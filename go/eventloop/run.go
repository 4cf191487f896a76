package eventloop

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"millrace.dev/go"
	"millrace.dev/go/internal/inner"
)

// ending says how a run is to end.
type ending uint8

const (
	endNot   ending = iota
	endEmpty        // when nothing waits any more: Close
	endNow          // after the task that runs: Stop, or Close whose context has ended
)

// Run runs the loop on the calling goroutine until nothing keeps it alive: no task waits, and no timer, immediate,
// handle or watcher is left that is not unreferenced. It ends sooner by Stop, by Close (nil), and when ctx does
// (ctx.Err()); waiting tasks then stay, and a later Run or Start goes on with them.
//
// ErrRunning if the loop runs already, ErrClosed after Close.
func (l *Loop) Run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done, err := l.start(true)
	if err != nil {
		return err
	}
	unhook := context.AfterFunc(ctx, func() { l.endRun(done) })
	defer unhook()
	l.serve(done)
	if !unhook() {
		return ctx.Err()
	}
	return nil
}

// Start runs the loop on a goroutine of its own until Stop or Close, whether anything is left to do or not.
func (l *Loop) Start() error {
	done, err := l.start(false)
	if err == nil {
		go l.serve(done)
	}
	return err
}

func (l *Loop) start(toIdle bool) (chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed.Load() {
		return nil, millrace.ErrClosed
	}
	return l.startLocked(toIdle)
}

func (l *Loop) startLocked(toIdle bool) (chan struct{}, error) {
	if l.running {
		return nil, ErrRunning
	}
	l.running, l.toIdle = true, toIdle
	l.idleCalls.Store(toIdle || len(l.drains) > 0)
	l.done = make(chan struct{})
	// Taken back from what finish counts as queued: the turn goes on where it was.
	l.begun.Store(l.begun.Load() + uint64(l.taken()))
	return l.done, nil
}

// serve runs the loop on this goroutine until it ends.
func (l *Loop) serve(done chan struct{}) {
	if l.config.LockOSThread {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	l.reporting = false
	l.goroutine.Store(gid())
	l.load.wakes(clock())
	l.poll.resume()
	l.become(theLoop, pending|urgent)
	exits := true
	defer func() {
		if exits {
			l.escape(done)
		}
	}()
	for !l.attempt() || !l.finish(done, false) {
	}
	exits = false
}

// escape is called when a task has ended this goroutine, or its panic is to.
func (l *Loop) escape(done chan struct{}) {
	if l.config.PropagatePanics {
		l.finish(done, true)
		return
	}
	l.failure = millrace.ErrGoexit
	if l.reporting {
		// It was the error handler, which would only fail again.
		l.failure = nil
	}
	if l.toIdle || l.config.LockOSThread {
		// Neither the caller of Run nor the thread may end before the loop does: it goes on in this deferred call.
		l.serve(done)
		return
	}
	l.goroutine.Store(0)
	go l.serve(done)
}

// become changes the owner where nobody else can, and sets bits.
func (l *Loop) become(owner, why uintptr) {
	for {
		state := l.state.Load()
		if l.state.CompareAndSwap(state, owner|state&bits|why) {
			return
		}
	}
}

// attempt works until the loop may end or a task fails; false when there is more to do. One deferred call serves all
// the tasks that do not fail.
func (l *Loop) attempt() (ended bool) {
	exits := true
	defer func() {
		if exits && !l.config.PropagatePanics {
			// With runtime.Goexit escape follows.
			l.failure = inner.Caught(recover())
		}
	}()
	if failure := l.failure; failure != nil {
		l.failure = nil
		l.report(failure)
	}
	l.work()
	exits = false
	return true
}

// report tells the error handler. If that fails itself, nothing stops, and nobody is told.
func (l *Loop) report(err error) {
	l.reported.Add(1)
	l.reporting = true
	_ = safely(func() { l.config.OnError(err) })
	l.reporting = false
}

// hook calls a function of the user between two tasks.
func (l *Loop) hook(fn func()) {
	if err := safely(fn); err != nil {
		l.report(err)
	}
}

// mayEnd reports whether the end that was asked for has come.
func (l *Loop) mayEnd() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = l.ending != endNot
	return l.end && l.over()
}

// over reports whether nothing is to be run before the end; the mutex is held.
func (l *Loop) over() bool {
	return l.ending == endNow || l.empty() && len(l.immediates) == 0 && l.checked == len(l.checking)
}

// idle is called when nothing keeps the loop alive: it tells those who wait in Drain, and is true when Run is to end.
func (l *Loop) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queued() > 0 || len(l.ops) > 0 || l.live.Load() > 0 {
		return false
	}
	l.tellDrained()
	l.idleCalls.Store(l.toIdle)
	return l.toIdle
}

func (l *Loop) tellDrained() {
	for _, drained := range l.drains {
		close(drained)
	}
	l.drains = nil
}

// finish leaves the loop without an owner. Unless it must end, it refuses while Close, which may have been called since
// the end was decided on, wants more to be run.
func (l *Loop) finish(done chan struct{}, must bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.closed.Load():
		// What was taken out of the lanes and not run counts as queued while the loop is stopped.
		l.begun.Store(l.begun.Load() - uint64(l.taken()))
		l.tighten()
		l.timers.pause()
		l.poll.suspend()
	case must || l.over():
		l.letGo() // unless the order of Close was carried out
		l.abandon()
	default:
		return false
	}
	l.running, l.ending, l.end = false, endNot, false
	l.goroutine.Store(0)
	l.load.sleeps(clock())
	l.become(stopped, 0)
	l.rested()
	close(done)
	return true
}

// rested tells those who wait in Drain when nothing is left on a loop that does not run; the mutex is held.
func (l *Loop) rested() {
	if l.running {
		return
	}
	if l.live.Load() == 0 && l.empty() {
		l.tellDrained()
	}
	l.idleCalls.Store(len(l.drains) > 0)
}

// endRun asks for the end of this run, not of a later one. A loop that is being closed ends when Close says so.
func (l *Loop) endRun(done chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running && l.done == done && !l.closed.Load() {
		l.ending = endNow
		l.notify(urgent)
	}
}

// Stop ends Run or Start when the task that runs now is over, and waits for that; inside the loop it does not wait.
// Waiting tasks stay: a later Run or Start goes on with them. On a loop that does not run it does nothing, and on one
// that is being closed it waits until Close is done.
func (l *Loop) Stop() {
	l.mu.Lock()
	running, done := l.running, l.done
	l.mu.Unlock()
	if !running {
		return
	}
	l.endRun(done)
	if !l.Inside() {
		<-done
	}
}

// Drain waits until nothing waits and nothing keeps the loop alive. It does not keep others from submitting, nor run
// the loop itself. ErrInside inside the loop; ctx.Err() when ctx ends first; ErrClosed if the loop is closed meanwhile
// and did not run everything.
func (l *Loop) Drain(ctx context.Context) error {
	if l.Inside() {
		return ErrInside
	}
	l.mu.Lock()
	if l.closed.Load() {
		l.mu.Unlock()
		return l.waitGone(ctx)
	}
	drained := make(chan struct{})
	l.drains = append(l.drains, drained)
	l.idleCalls.Store(true)
	l.rested()
	l.mu.Unlock()
	l.notify(pending)
	select {
	case <-drained:
		return nil
	case <-l.gone:
		return l.waitGone(ctx)
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drains = slices.DeleteFunc(l.drains, func(each chan struct{}) bool { return each == drained })
		return ctx.Err()
	}
}

// ---- close

// Close ends the loop for good. From now on work is refused with millrace.ErrClosed; waiting tasks are run, by the
// goroutine of Run or Start, or by a new one if there is none; timers, watchers and handles are released. It returns
// when that is done. When ctx ends first, the loop ends after the task that runs: each task that was accepted has been
// run, or Left returns it. With a context that has ended already nothing more is run.
//
// Any number of calls may wait for the end, and the context of each can bring it forward. They all get nil if every
// task was run. Otherwise they all get an error, that of their context or millrace.ErrClosed, also those that come
// later.
//
// Inside the loop Close does not wait, and returns nil; the loop then ends when the queue is empty, or ctx ends. A loop
// with LockOSThread or PropagatePanics that does not run runs its waiting tasks on the caller of Close, as Run does.
// Unless a context ends, tasks are left over only by a panic that is let out of Run.
func (l *Loop) Close(ctx context.Context) error {
	l.mu.Lock()
	done, begin := l.done, false
	if !l.closed.Load() {
		l.closed.Store(true)
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
		return nil
	case begin && (l.config.LockOSThread || l.config.PropagatePanics):
		go l.awaitEnd(ctx)
		l.serve(done)
	case begin:
		// Not on this goroutine, which a task may end by runtime.Goexit.
		go l.serve(done)
	}
	l.awaitEnd(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return cmp.Or(ctx.Err(), millrace.ErrClosed)
	}
	return nil
}

// Left returns the tasks that were accepted and that Close has not run, in their order, and forgets them: nil before
// the end, and for every call but the first.
func (l *Loop) Left() []func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.left
	l.left = nil
	return left
}

// Done is closed when the loop was closed and runs nothing any more.
func (l *Loop) Done() <-chan struct{} { return l.gone }

// awaitEnd waits for the end of a loop that is being closed, which comes sooner if ctx ends.
func (l *Loop) awaitEnd(ctx context.Context) {
	select {
	case <-l.gone:
	case <-ctx.Done():
		l.mu.Lock()
		l.ending = endNow
		l.mu.Unlock()
		l.notify(urgent)
		<-l.gone
	}
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
	l.soon, l.rejections = 0, ring[inner.Rejection]{}
	l.high.join(l.lanes[laneHigh].take())
	l.normal.join(l.lanes[laneNormal].take())
	l.low.join(l.lanes[laneLow].take())
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
			return millrace.ErrClosed
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
