package entrant

import (
	"sync"
	"sync/atomic"
)

// LockFree is the report's "AlternateTwo": a linked list to which a producer appends by one exchange (the queue of many
// producers and one consumer by Dmitry Vyukov), with nodes from a pool.
type LockFree struct {
	*poller

	head   *taskNode // of the loop alone: its task has been taken, that of its next has not
	_      [64]byte
	tail   atomic.Pointer[taskNode]
	_      [56]byte
	length atomic.Int64
	_      [56]byte

	sleeping atomic.Bool
	waking   atomic.Bool
	closed   atomic.Bool
	ended    chan struct{}
}

type taskNode struct {
	task func()
	next atomic.Pointer[taskNode]
}

var taskNodes = sync.Pool{New: func() any { return new(taskNode) }}

// NewLockFree starts a LockFree.
func NewLockFree(int) (Entrant, error) {
	poller, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &LockFree{poller: poller, head: new(taskNode), ended: make(chan struct{})}
	l.tail.Store(l.head)
	go l.run()
	return l, nil
}

func (l *LockFree) run() {
	defer close(l.ended)
	batch := make([]func(), budget)
	for {
		closed := l.closed.Load()
		n := l.popBatch(batch)
		for i, task := range batch[:n] {
			safely(task)
			batch[i] = nil
		}
		if n == budget {
			continue
		}
		if closed && l.length.Load() == 0 {
			return
		}
		l.poll()
	}
}

func (l *LockFree) popBatch(batch []func()) int {
	for i := range batch {
		next := l.head.next.Load()
		if next == nil {
			l.length.Add(int64(-i))
			return i
		}
		batch[i], next.task = next.task, nil
		l.head.next.Store(nil)
		taskNodes.Put(l.head)
		l.head = next
	}
	l.length.Add(int64(-len(batch)))
	return len(batch)
}

func (l *LockFree) poll() {
	l.sleeping.Store(true)
	if l.length.Load() == 0 && !l.closed.Load() {
		l.wait(forever)
		l.waking.Store(false)
	}
	l.sleeping.Store(false)
}

// Submit implements Entrant.
func (l *LockFree) Submit(task func()) error {
	node := taskNodes.Get().(*taskNode)
	node.task = task
	l.tail.Swap(node).next.Store(node) // until it is linked, the loop sees the end before it
	l.length.Add(1)
	if l.sleeping.Load() && l.waking.CompareAndSwap(false, true) {
		l.wake()
	}
	return nil
}

// Close implements Entrant.
func (l *LockFree) Close() error {
	l.closed.Store(true)
	l.wake()
	<-l.ended
	l.close()
	return nil
}
