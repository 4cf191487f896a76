package entrant

import (
	"sync"
	"sync/atomic"
)

// lockFreeQueue is a linked list to which a producer appends by one exchange (the queue of many producers and one consumer
// by Dmitry Vyukov), with nodes from a pool. Two of the report's designs have it. The loop alone reads head.
type lockFreeQueue struct {
	head   *taskNode // its task has been taken, that of its next has not
	_      [64]byte
	tail   atomic.Pointer[taskNode]
	_      [56]byte
	length atomic.Int64
	_      [56]byte
}

type taskNode struct {
	task func()
	next atomic.Pointer[taskNode]
}

var taskNodes = sync.Pool{New: func() any { return new(taskNode) }}

func (q *lockFreeQueue) init() {
	q.head = new(taskNode)
	q.tail.Store(q.head)
}

func (q *lockFreeQueue) push(task func()) {
	node := taskNodes.Get().(*taskNode)
	node.task = task
	q.tail.Swap(node).next.Store(node) // until it is linked, the loop sees the end before it
	q.length.Add(1)
}

func (q *lockFreeQueue) popBatch(batch []func()) int {
	for i := range batch {
		next := q.head.next.Load()
		if next == nil {
			if i > 0 {
				q.length.Add(int64(-i))
			}
			return i
		}
		batch[i], next.task = next.task, nil
		q.head.next.Store(nil)
		taskNodes.Put(q.head)
		q.head = next
	}
	q.length.Add(int64(-len(batch)))
	return len(batch)
}
