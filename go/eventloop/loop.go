package eventloop

import (
	"sync"
	"sync/atomic"
	"time"
)

// Loop runs tasks one after another, as the event loop of JavaScript does: each task, timer, immediate or readiness
// callback, then the functions given to NextTick, then all microtasks. Make one with New.
type Loop struct {
	config

	// state says who owns the loop; see owner.go.
	state     atomic.Uintptr
	wake      chan struct{}
	goroutine atomic.Uintptr // gid of the loop's goroutine
	live      atomic.Int64   // what keeps the loop alive besides tasks: timers, immediates, handles, watchers
	idleCalls atomic.Bool    // somebody wants to know when nothing keeps the loop alive: Run or Drain
	timed     atomic.Bool    // the clock is read for utilization and waits

	mu        sync.Mutex
	lanes     [3]chunks
	queued    int // tasks that wait, without those of the chunk that is being worked through
	submitted uint64
	refused   uint64
	spares    *chunk
	spareN    int
	ops       []func() // what other goroutines want done by the owner, ahead of tasks
	pressed   bool     // the queue has reached the high-water mark
	running   bool
	toIdle    bool // Run: the loop ends when nothing keeps it alive
	ending    ending
	closed    bool
	done      chan struct{}   // closed when the Run or Start under way has ended
	drains    []chan struct{} // closed when nothing keeps the loop alive
	gone      chan struct{}   // closed when a closed loop will not run anything any more
	left      []func()        // what a closed loop has not run
	worstWait [3]int64        // ns
	published counts

	// What follows belongs to the owner.
	high, normal, low chunks // tasks of this turn
	lowTurn           int    // NORMAL tasks run since the last LOW one
	soon              int    // functions in ticks and micros
	ticks, micros     ring
	immediates        []*Immediate // for the end of this turn
	checking          []*Immediate // those of this turn, being run
	checked           int
	phase             phase
	special           bool  // something comes before tasks
	failure           error // of the last task: to be reported before the next
	reporting         bool  // the error handler runs
	end               bool  // the loop is to end when it can
	spareOps          []func()
	timers            timers
	poll              *poller
	rejections        []func() // rejected promises to look at when the microtasks have run
	load              load
	counts            counts
}

// New makes a loop. It runs nothing, and starts no goroutine, until Run or Start; what is submitted before waits.
//
// An error wraps ErrOption and names the option, its value and its range.
func New(options ...Option) (*Loop, error) {
	l := &Loop{config: defaults(), wake: make(chan struct{}, 1), gone: make(chan struct{})}
	for _, option := range options {
		if err := option(&l.config); err != nil {
			return nil, err
		}
	}
	if l.onRejection == nil {
		l.onRejection = l.onError
	}
	l.state.Store(stopped)
	l.timers.init(l)
	if l.timing {
		l.timed.Store(true)
	}
	return l, nil
}

// Alive reports whether anything is left to do: tasks that wait or run, and timers, immediates, handles and watchers
// that are not unreferenced. A task that asks does not count itself.
func (l *Loop) Alive() bool {
	if l.live.Load() > 0 {
		return true
	}
	inside := l.Inside()
	owner := l.state.Load() &^ bits
	if !inside && owner != nobody && owner != stopped {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queued > 0 || len(l.ops) > 0 {
		return true
	}
	// Whoever is inside, or sees a loop that has stopped, may look at what belongs to the owner.
	return (inside || owner == stopped) && (l.soon > 0 || l.taken() > 0)
}

// taken counts tasks that were taken out of the lanes and have not run, but for whole chunks, which count as queued.
func (l *Loop) taken() int {
	n := 0
	for _, q := range []*chunks{&l.high, &l.normal, &l.low} {
		if q.first != nil {
			n += q.first.written - q.first.read
		}
	}
	return n
}

// clock is ns since some moment, on the clock of timers.
func clock() int64 {
	return int64(time.Since(epoch))
}

// epoch is read from a clock that does not jump.
var epoch = time.Now()
