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
//   - one lock for all lanes, taken for each task that comes and for each that leaves
//   - all lanes are checked before and after each change; a chunk is cleared as a whole before it is used again
//   - every change of the loop's state takes a lock, and one that the design does not have is a panic
//   - the loop looks at the queue under the lock before it sleeps
//   - each task has a number, which its panic reports together with the stack
//   - the end has phases, one after the other: refuse new tasks, run each lane until it is empty
//
// The states, phases and poll are those of Tick. Only the loop's goroutine takes tasks and sleeps.
type Safe struct {
	*poller
	queue  safeQueue
	state  safeState
	waking atomic.Bool
	now    atomic.Int64
	start  time.Time
	timers safeTimers
	ended  chan struct{}
}

// NewSafe starts a Safe.
func NewSafe(int) (Entrant, error) {
	poller, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &Safe{poller: poller, start: time.Now(), ended: make(chan struct{})}
	go l.run()
	return l, nil
}

func (l *Safe) run() {
	defer close(l.ended)
	for !l.state.ending() {
		l.tick()
	}
	l.queue.close()
	for _, lane := range []int{externalLane, internalLane, microtaskLane} {
		for l.drain(lane) {
		}
	}
	l.state.transition(terminating, terminated)
}

func (l *Safe) tick() {
	l.now.Store(int64(time.Since(l.start)))
	l.timers.expire(l.start.Add(time.Duration(l.now.Load())))
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

// drain runs as many tasks of a lane as the budget allows, and reports whether that was all of the budget.
func (l *Safe) drain(lane int) bool {
	for range budget {
		task, found := l.queue.take(lane)
		if !found {
			return false
		}
		task.run()
	}
	return true
}

func (l *Safe) poll() {
	if !l.state.transition(running, sleeping) {
		return
	}
	if l.queue.length() == 0 {
		l.wait(forever)
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
	if l.state.value.Load() == sleeping && l.waking.CompareAndSwap(false, true) {
		l.wake()
	}
	return nil
}

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

// safeTimers are in order of their deadlines; the cases of the tournament set none.
type safeTimers struct {
	mu  sync.Mutex
	due []time.Time
}

func (t *safeTimers) expire(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.due) > 0 && !t.due[0].After(now) {
		t.due = t.due[1:]
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
	q.check()
	defer q.check()
	q.last++
	q.lanes[lane].push(safeTask{call, q.last})
	return nil
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

func (q *safeQueue) close() {
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
