package eventloop

import (
	"context"
	"runtime"
	"runtime/debug"
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
// (ctx.Err()); what waits then stays, and a later Run or Start goes on with it.
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
	if l.closed {
		return nil, ErrClosed
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
	l.resume()
	return l.done, nil
}

// serve runs the loop on this goroutine until it ends.
func (l *Loop) serve(done chan struct{}) {
	if l.lockThread {
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
	if l.propagate {
		l.finish(done, true)
		return
	}
	l.failure = ErrGoexit
	if l.reporting {
		// It was the error handler, which would only fail again.
		l.failure = nil
	}
	if l.toIdle || l.lockThread {
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
		if exits && !l.propagate {
			// With runtime.Goexit there is nothing to recover, and escape follows.
			l.failure = &PanicError{Value: recover(), Stack: debug.Stack()}
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
	_ = safely(func() { l.onError(err) })
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
	case !l.closed:
		l.suspend()
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

// suspend lets what was taken out of the lanes and not run count as queued again while the loop is stopped, and resume
// takes it back: the turn goes on where it was. The mutex is held.
func (l *Loop) suspend() {
	l.begun.Store(l.begun.Load() - uint64(l.taken()))
	l.tighten()
}

func (l *Loop) resume() {
	l.begun.Store(l.begun.Load() + uint64(l.taken()))
}

// endRun asks for the end of this run, not of a later one. A loop that is being closed ends when Close says so.
func (l *Loop) endRun(done chan struct{}) {
	l.mu.Lock()
	current := l.running && l.done == done && !l.closed
	if current {
		l.ending = endNow
	}
	l.mu.Unlock()
	if current {
		l.notify(urgent)
	}
}

// Stop ends Run or Start when the task that runs now is over, and waits for that; inside the loop it does not wait.
// What waits stays: a later Run or Start goes on with it. On a loop that does not run it does nothing, and on one that
// is being closed it waits for the end that Close has set.
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
	if l.closed {
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
		l.forgetDrain(drained)
		return ctx.Err()
	}
}

func (l *Loop) forgetDrain(drained chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, each := range l.drains {
		if each == drained {
			l.drains = append(l.drains[:i], l.drains[i+1:]...)
			return
		}
	}
}
