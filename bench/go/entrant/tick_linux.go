package entrant

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var errEnded = errors.New("the loop has ended")

// Tick is the report's "Main": each turn goes through all phases, asks for the loop's state between any two of them, takes
// the tasks of each lane one by one under a lock, and ends in a poll.
type Tick struct {
	*poller
	state  stateMachine
	waking atomic.Bool
	now    atomic.Int64
	start  time.Time
	timers []time.Time // in order of their deadlines; the cases of the tournament set none
	ended  chan struct{}

	mu    sync.Mutex
	lanes [3]taskList
}

const (
	internalLane = iota
	externalLane
	microtaskLane
)

type state = int32

const (
	running state = iota
	sleeping
	terminating
	terminated
)

// stateMachine refuses transitions that the design does not have.
type stateMachine struct{ value atomic.Int32 }

var transitions = [...][]state{
	running:     {sleeping, terminating},
	sleeping:    {running, terminating},
	terminating: {terminated},
}

func (s *stateMachine) transition(from, to state) bool {
	for _, allowed := range transitions[from] {
		if allowed == to {
			return s.value.CompareAndSwap(from, to)
		}
	}
	panic("tick: a transition that there is not")
}

func (s *stateMachine) ending() bool { return s.value.Load() >= terminating }

// NewTick starts a Tick.
func NewTick(int) (Entrant, error) {
	poller, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &Tick{poller: poller, start: time.Now(), ended: make(chan struct{})}
	go l.run()
	return l, nil
}

func (l *Tick) run() {
	defer close(l.ended)
	for !l.state.ending() {
		l.tick()
	}
	l.drain(internalLane)
	for l.drain(externalLane) {
	}
	l.drain(microtaskLane)
	l.state.transition(terminating, terminated)
}

func (l *Tick) tick() {
	l.now.Store(int64(time.Since(l.start)))
	l.runTimers()
	for lane := internalLane; lane <= microtaskLane; lane++ {
		if l.state.ending() {
			return
		}
		l.drain(lane)
	}
	if l.state.ending() {
		return
	}
	l.poll()
	if l.state.ending() {
		return
	}
	l.drain(microtaskLane)
}

func (l *Tick) runTimers() {
	now := l.start.Add(time.Duration(l.now.Load()))
	for len(l.timers) > 0 && !l.timers[0].After(now) {
		l.timers = l.timers[1:]
	}
}

// drain runs as many tasks of a lane as the budget allows, and says whether that was all of the budget.
func (l *Tick) drain(lane int) bool {
	for range budget {
		task := l.take(lane)
		if task == nil {
			return false
		}
		safely(task)
	}
	return true
}

func (l *Tick) take(lane int) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lanes[lane].pop()
}

func (l *Tick) poll() {
	if !l.state.transition(running, sleeping) {
		return
	}
	l.mu.Lock()
	queued := l.lanes[internalLane].length + l.lanes[externalLane].length + l.lanes[microtaskLane].length
	l.mu.Unlock()
	if queued == 0 {
		l.wait(forever)
		l.waking.Store(false)
	}
	l.state.transition(sleeping, running)
}

// Submit implements Entrant.
func (l *Tick) Submit(task func()) error {
	if l.state.ending() {
		return errEnded
	}
	l.mu.Lock()
	l.lanes[externalLane].push(task)
	l.mu.Unlock()
	if l.state.value.Load() == sleeping && l.waking.CompareAndSwap(false, true) {
		l.wake()
	}
	return nil
}

// Close implements Entrant.
func (l *Tick) Close() error {
	for !l.state.transition(l.state.value.Load(), terminating) {
		runtime.Gosched()
	}
	l.wake()
	<-l.ended
	l.close()
	return nil
}
