package entrant

import (
	"fmt"
	"log"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Safe is the report's "AlternateOne", safety first. It does nothing cleverly and checks everything:
//
//   - one lock for all lanes, that of microtasks too, taken for each task that comes and for each that leaves
//   - all lanes are checked before and after each change; a chunk is cleared as a whole before it is used again; so are timers
//   - every change of the loop's state takes a lock, and one that the design does not have is a panic
//   - the loop looks at the queue under the lock before it sleeps
//   - each task has a number, which its panic reports together with the stack
//   - the end has phases, one after the other: refuse new tasks, run each lane until it is empty
//
// The states and phases are those of Tick, but for its registry. Only the loop's goroutine takes tasks and sleeps.
type Safe struct {
	*poller
	queue  safeQueue
	state  safeState
	waking atomic.Bool
	timers safeTimers
	ended  chan struct{}
}

const (
	internalLane = iota
	externalLane
	microtaskLane
)

// NewSafe starts a Safe.
func NewSafe(int) (Entrant, error) {
	poller, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &Safe{poller: poller, ended: make(chan struct{})}
	go l.run()
	return l, nil
}

func (l *Safe) run() {
	defer close(l.ended)
	l.state.transition(awake, running)
	for !l.state.ending() {
		l.tick()
	}
	l.queue.refuse()
	for l.queue.length() > 0 {
		l.drain(externalLane)
		l.drain(internalLane)
		l.drain(microtaskLane)
	}
	l.state.transition(terminating, terminated)
}

func (l *Safe) tick() {
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

func (l *Safe) runTimers() {
	now := uptime()
	for one := l.timers.take(now); one != nil; one = l.timers.take(now) {
		l.queue.number(one.callback).run()
		l.drain(microtaskLane)
	}
}

// drain runs as many tasks of a lane as the budget allows, each with its microtasks.
func (l *Safe) drain(lane int) {
	for range budget {
		task, found := l.queue.take(lane)
		if !found {
			return
		}
		task.run()
		if lane != microtaskLane {
			l.drain(microtaskLane)
		}
	}
}

func (l *Safe) poll() {
	if !l.state.transition(running, sleeping) {
		return
	}
	if l.queue.length() == 0 {
		l.wait(l.timers.wait())
		l.waking.Store(false)
	}
	l.state.transition(sleeping, running)
}

// Submit implements Entrant.
func (l *Safe) Submit(task func()) error {
	if l.state.ending() {
		return errEnded
	}
	if err := l.queue.push(externalLane, task); err != nil {
		return err
	}
	l.wakeSleeping()
	return nil
}

func (l *Safe) wakeSleeping() {
	if l.state.value.Load() == sleeping && l.waking.CompareAndSwap(false, true) {
		l.wake()
	}
}

// After implements Timer.
func (l *Safe) After(delay time.Duration, callback func()) (cancel func(), err error) {
	if l.state.ending() {
		return nil, errEnded
	}
	one := newTimer(delay, callback)
	l.timers.change(func(timers *timers) { timers.add(one) })
	l.wakeSleeping() // for less long
	return func() { l.timers.change(func(timers *timers) { timers.remove(one) }) }, nil
}

// Microtask implements Microtasker. At the end, too, it is part of the task that is running.
func (l *Safe) Microtask(fn func()) { l.queue.pushMicrotask(fn) }

// Promise implements Promiser.
func (l *Safe) Promise() Promise { return newPromise(l) }

// Close implements Entrant.
func (l *Safe) Close() error {
	for !l.state.transition(l.state.value.Load(), terminating) {
		runtime.Gosched()
	}
	l.wake()
	<-l.ended
	l.poller.close()
	return nil
}

// safeState is read without the lock and changed under it.
type safeState struct {
	mu    sync.Mutex
	value atomic.Int32
}

func (s *safeState) ending() bool { return s.value.Load() >= terminating }

func (s *safeState) transition(from, to state) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, allowed := range transitions[from] {
		if allowed == to {
			return s.value.CompareAndSwap(from, to)
		}
	}
	panic(fmt.Sprintf("safe: there is no transition from %d to %d", from, to))
}

// safeTimers are changed under a lock, and looked at before and after.
type safeTimers struct {
	mu     sync.Mutex
	timers timers
}

func (t *safeTimers) change(change func(timers *timers)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.check()
	defer t.check()
	change(&t.timers)
}

func (t *safeTimers) take(now time.Duration) (one *timer) {
	t.change(func(timers *timers) { one = timers.take(now) })
	return one
}

func (t *safeTimers) wait() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.timers.wait()
}

// check panics when the first timer does not know its place, or another one is due before it.
func (t *safeTimers) check() {
	heap := t.timers.heap
	for i := range heap[:min(len(heap), 3)] {
		if heap[i].place != i || heap.Less(i, 0) {
			panic("safe: the timers are damaged")
		}
	}
}

type safeTask struct {
	call   func()
	number uint64
}

func (t safeTask) run() {
	defer func() {
		if reason := recover(); reason != nil {
			log.Printf("task %d panicked: %v\n%s", t.number, reason, debug.Stack())
		}
	}()
	t.call()
}

// safeQueue has one lock for all of its lanes.
type safeQueue struct {
	mu     sync.Mutex
	lanes  [3]safeLane
	last   uint64 // number of the last task
	closed bool
}

func (q *safeQueue) push(lane int, call func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errEnded
	}
	q.add(lane, call)
	return nil
}

func (q *safeQueue) pushMicrotask(call func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(microtaskLane, call)
}

func (q *safeQueue) add(lane int, call func()) {
	q.check()
	defer q.check()
	q.last++
	q.lanes[lane].push(safeTask{call, q.last})
}

// number makes a task of what was in no lane.
func (q *safeQueue) number(call func()) safeTask {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last++
	return safeTask{call, q.last}
}

func (q *safeQueue) take(lane int) (task safeTask, found bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes[lane].check()
	defer q.lanes[lane].check()
	return q.lanes[lane].pop()
}

func (q *safeQueue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	sum := 0
	for i := range q.lanes {
		sum += q.lanes[i].length
	}
	return sum
}

// refuse ends the lanes but for microtasks.
func (q *safeQueue) refuse() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

func (q *safeQueue) check() {
	for i := range q.lanes {
		q.lanes[i].check()
	}
}

// safeLane is a list of chunks.
type safeLane struct {
	head, tail *safeChunk
	length     int
}

type safeChunk struct {
	tasks      [128]safeTask
	next       *safeChunk
	read, used int
}

var safeChunks = sync.Pool{New: func() any { return new(safeChunk) }}

func (q *safeLane) push(task safeTask) {
	if q.tail == nil {
		q.tail = safeChunks.Get().(*safeChunk)
		q.head = q.tail
	} else if q.tail.used == len(q.tail.tasks) {
		q.tail.next = safeChunks.Get().(*safeChunk)
		q.tail = q.tail.next
	}
	q.tail.tasks[q.tail.used] = task
	q.tail.used++
	q.length++
}

func (q *safeLane) pop() (task safeTask, found bool) {
	if q.length == 0 {
		return safeTask{}, false
	}
	c := q.head
	task, c.tasks[c.read] = c.tasks[c.read], safeTask{}
	c.read++
	q.length--
	if c.read == c.used {
		q.release(c)
	}
	return task, true
}

// release clears a chunk as a whole: no slot keeps a closure alive, whatever became of it.
func (q *safeLane) release(c *safeChunk) {
	next := c.next
	*c = safeChunk{}
	if c == q.tail {
		return
	}
	q.head = next
	safeChunks.Put(c)
}

// check panics when a lane contradicts itself.
func (q *safeLane) check() {
	if q.length < 0 || (q.head == nil) != (q.tail == nil) || (q.head == nil && q.length != 0) {
		panic("safe: the queue is damaged")
	}
}
