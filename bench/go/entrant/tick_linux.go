package entrant

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
	"weak"
)

var errEnded = errors.New("the loop has ended")

// Tick is the report's "Main", which asks in all places whether it may go on. A tick has these phases, between any two of
// which it asks for the loop's state:
//
//	timers; internal tasks; at most 1,024 external tasks, each followed by its microtasks; microtasks; the poll;
//	microtasks; a look at some of the promises, of which it keeps a registry
//
// Both lanes are lock-free queues, from which a tick pops a batch. The states and the transitions between them are a table;
// each transition is a compare and exchange. A submit while the loop sleeps writes to a descriptor, which the tick reads.
type Tick struct {
	*poller
	microtasks
	state    stateMachine
	waking   atomic.Bool
	timers   timers
	registry registry
	ended    chan struct{}

	internal lockFreeQueue
	external lockFreeQueue
	batch    [budget]func() // the loop's
}

type state = int32

const (
	awake state = iota
	running
	sleeping
	terminating
	terminated
)

// stateMachine refuses transitions that the design does not have.
type stateMachine struct{ value atomic.Int32 }

var transitions = [...][]state{
	awake:       {running, terminating},
	running:     {sleeping, terminating},
	sleeping:    {running, terminating},
	terminating: {terminated},
	terminated:  {},
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
	poller.readsWakes = true
	l := &Tick{poller: poller, ended: make(chan struct{})}
	l.internal.init()
	l.external.init()
	go l.run()
	return l, nil
}

func (l *Tick) run() {
	defer close(l.ended)
	l.state.transition(awake, running)
	for !l.state.ending() {
		l.tick()
	}
	for l.queued() > 0 {
		l.drain(&l.internal)
		l.drain(&l.external)
	}
	l.registry.rejectAll(errEnded)
	for l.microtasks.length() > 0 {
		l.microtasks.drain(budget)
	}
	l.state.transition(terminating, terminated)
}

func (l *Tick) tick() {
	l.timers.run(uptime(), l.microtasksOfTask)
	if l.state.ending() {
		return
	}
	l.drain(&l.internal)
	if l.state.ending() {
		return
	}
	l.drain(&l.external)
	if l.state.ending() {
		return
	}
	l.microtasksOfTask()
	if l.state.ending() {
		return
	}
	l.poll()
	if l.state.ending() {
		return
	}
	l.microtasksOfTask()
	l.registry.scavenge()
}

func (l *Tick) microtasksOfTask() { l.microtasks.drain(budget) }

// drain runs as many tasks of a lane as the budget allows.
func (l *Tick) drain(queue *lockFreeQueue) {
	n := queue.popBatch(l.batch[:])
	for i, task := range l.batch[:n] {
		safely(task)
		l.batch[i] = nil
		l.microtasksOfTask()
	}
}

func (l *Tick) queued() int64 { return l.internal.length.Load() + l.external.length.Load() }

func (l *Tick) poll() {
	if !l.state.transition(running, sleeping) {
		return
	}
	if l.queued() == 0 && l.microtasks.length() == 0 {
		l.wait(l.timers.wait())
		l.waking.Store(false)
	}
	l.state.transition(sleeping, running)
}

// Submit implements Entrant.
func (l *Tick) Submit(task func()) error { return l.submit(&l.external, task) }

func (l *Tick) submit(queue *lockFreeQueue, task func()) error {
	if l.state.ending() {
		return errEnded
	}
	queue.push(task)
	if l.state.value.Load() == sleeping && l.waking.CompareAndSwap(false, true) {
		l.wake()
	}
	return nil
}

// After implements Timer.
func (l *Tick) After(delay time.Duration, callback func()) (cancel func(), err error) {
	one := newTimer(delay, callback)
	if err := l.submit(&l.internal, func() { l.timers.add(one) }); err != nil {
		return nil, err
	}
	return func() { l.submit(&l.internal, func() { l.timers.remove(one) }) }, nil
}

// Promise implements Promiser.
func (l *Tick) Promise() Promise {
	p := newPromise(l)
	l.registry.add(p)
	return p
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

// registry knows the promises that are pending, to reject them at the end, without keeping them: the loop looks at some
// of them in each tick, and forgets those that are settled or gone.
type registry struct {
	promises []weak.Pointer[simplePromise]
	next     int
}

const scavengedAtOnce = 20

func (r *registry) add(p *simplePromise) { r.promises = append(r.promises, weak.Make(p)) }

func (r *registry) scavenge() {
	for range min(scavengedAtOnce, len(r.promises)) {
		if r.next >= len(r.promises) {
			r.next = 0
		}
		if p := r.promises[r.next].Value(); p != nil && p.state == pending {
			r.next++
			continue
		}
		last := len(r.promises) - 1
		r.promises[r.next] = r.promises[last]
		r.promises = r.promises[:last]
	}
}

func (r *registry) rejectAll(reason error) {
	for _, each := range r.promises {
		if p := each.Value(); p != nil {
			p.Reject(reason)
		}
	}
	r.promises = nil
}
