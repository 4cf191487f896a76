package eventloop

import (
	"sync"
	"sync/atomic"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/internal/inner"
)

// Loop runs tasks one after another, as the event loop of JavaScript does: each task, timer, immediate or readiness
// callback, then the functions given to NextTick, then all microtasks. Make one with New.
type Loop struct {
	// Two cache lines that the producers write with every task, and nothing else that is used at that time: the mutex
	// first, so that it is in the same line as the lane of NORMAL tasks.
	mu    sync.Mutex
	lanes [3]lane

	config Config

	// state says who owns the loop; see owner.go.
	state     atomic.Uintptr
	wake      chan struct{}
	goroutine atomic.Uintptr        // gid of the loop's goroutine
	live      atomic.Int64          // what keeps the loop alive besides tasks: timers, immediates, handles, watchers
	idleCalls atomic.Bool           // somebody wants to know when nothing keeps the loop alive: Run or Drain
	timed     atomic.Bool           // the clock is read for utilization and waits
	closed    atomic.Bool           // work is refused; becomes true under the mutex
	begun     atomic.Uint64         // tasks of the chunks that were begun; the owner's to write
	freed     atomic.Pointer[chunk] // those that the owner has emptied, for reuse

	// Under the mutex, as the lanes are.
	refused uint64
	spares  *chunk   // what producers have taken out of freed
	ops     []func() // what the owner is to do ahead of tasks: the loop's own affairs
	moves   moves
	pressed bool // the queue has reached the high-water mark, and not fallen to its half since
	running bool
	toIdle  bool // Run: the loop ends when nothing keeps it alive
	ending  ending
	done    chan struct{}   // closed when the Run or Start under way has ended
	drains  []chan struct{} // closed when nothing keeps the loop alive
	gone    chan struct{}   // closed once a closed loop is not going to run anything any more
	left    []func()        // what a closed loop has not run, for Left
	cut     bool            // there was something left

	// What follows belongs to the owner.
	high, normal, low chunks // tasks of this turn
	lowTurn           int    // NORMAL tasks run since the last LOW one
	soon              int    // what is in the next three
	ticks             ring[func()]
	micros            ring[inner.Job]
	rejections        ring[inner.Rejection] // to be looked at when the microtasks have run
	immediates        []*Immediate          // for the end of this turn
	checking          []*Immediate          // those of this turn, being run
	checked           int
	told              bool     // the last call of the pressure hook was that of the high-water mark
	inCheck           bool     // the immediates of this turn are being run
	special           bool     // something comes before tasks
	failure           error    // of the last task: to be reported before the next
	reporting         bool     // the error handler runs
	end               bool     // the loop is to end when it can
	orders            []func() // ops that were taken, being done
	ordered           int      // how many of them are done
	timers            timers
	poll              poller
	load              load
	turns             uint64          // under the mutex
	worstWait         [3]atomic.Int64 // ns
	fired             atomic.Uint64   // timers
	reported          atomic.Uint64   // errors
	calls             sync.Pool       // of *call; its own, since channels must not leave a bubble of testing/synctest
}

// New makes a loop. It runs nothing, and starts no goroutine, until Run or Start; tasks submitted before wait.
//
// An error wraps millrace.ErrOption and names the field, its value and its range.
func New(config Config) (*Loop, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	l := &Loop{config: config, wake: make(chan struct{}, 1), gone: make(chan struct{})}
	l.state.Store(stopped)
	l.load.sleeps(clock())
	l.timers.loop, l.poll.loop, l.poll.watchers = l, l, map[int]*Watcher{}
	l.timed.Store(config.Timing)
	return l, nil
}

// Alive reports whether anything is left to do: waiting or running tasks, and timers, immediates, handles and watchers
// that are not unreferenced. The task that calls it does not count. After Close has ended nothing is left.
func (l *Loop) Alive() bool {
	inside := l.Inside()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed.Load() && !l.running:
		return false
	case l.live.Load() > 0 || l.queued() > 0 || len(l.ops) > 0:
		return true
	case inside || !l.running:
		return !l.empty()
	}
	// What the owner has taken cannot be seen from here; but it does not sleep while it has anything to do.
	return l.state.Load()&^bits != nobody
}

// empty reports whether nothing but immediates waits. For the owner, or on a stopped loop; the mutex is held.
func (l *Loop) empty() bool {
	return l.queued() == 0 && l.taken() == 0 && l.soon == 0 && len(l.ops) == 0 && l.ordered == len(l.orders)
}

// taken counts tasks that were taken out of the lanes and have not run, except whole chunks, which count as queued.
func (l *Loop) taken() int { return l.high.begun() + l.normal.begun() + l.low.begun() }

// clock is ns since some moment, on the clock of timers.
func clock() int64 { return int64(time.Since(epoch)) }

// epoch is read from a clock that does not jump. It is long ago because time begins in 2000 in a bubble of
// testing/synctest, and 0 is to come before all times.
var epoch = time.Now().Add(-100 * 365 * 24 * time.Hour)

// Handle stands for work that goes on elsewhere, and that the loop waits for.
type Handle struct {
	loop *Loop
	mu   sync.Mutex
	gone bool
}

// KeepAlive keeps Run, Drain and Alive waiting for work that goes on outside the loop, until the handle is completed or
// released. Any goroutine; usually the task that starts the work, since a loop that has become idle may end meanwhile.
func (l *Loop) KeepAlive() (*Handle, error) {
	if l.closed.Load() {
		return nil, millrace.ErrClosed
	}
	l.live.Add(1)
	return &Handle{loop: l}, nil
}

// Complete queues fn as a task, with the result of the work, and releases the handle once it is in the queue. Errors as
// for Submit; on ErrOverload the handle stays, so that Complete can be tried again. ErrReleased when the handle was
// released before.
func (h *Handle) Complete(fn func()) error {
	if fn == nil {
		return ErrNilTask
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return ErrReleased
	}
	err := h.loop.Submit(fn)
	if err != millrace.ErrOverload {
		h.letGo()
	}
	return err
}

// Release lets the handle go without a task. A second call does nothing.
func (h *Handle) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.letGo()
}

func (h *Handle) letGo() {
	if !h.gone {
		h.gone = true
		h.loop.unref()
	}
}

// unref takes back one reason to live; the owner is told when it was the last one and somebody waits for that.
func (l *Loop) unref() {
	if l.live.Add(-1) != 0 || !l.idleCalls.Load() {
		return
	}
	l.notify(pending)
	if l.state.Load()&^bits == stopped {
		// Without an owner, those who wait are told by whoever next takes the mutex, which the caller may hold.
		go func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.rested()
		}()
	}
}
