package entrant

import (
	"log"
	"sync"
)

// taskList is a list of chunks of tasks.
type taskList struct {
	head, tail *taskChunk
	length     int
}

type taskChunk struct {
	tasks      [128]func()
	next       *taskChunk
	read, used int
}

var taskChunks = sync.Pool{New: func() any { return new(taskChunk) }}

func (q *taskList) push(task func()) {
	if q.tail == nil {
		q.tail = taskChunks.Get().(*taskChunk)
		q.head = q.tail
	} else if q.tail.used == len(q.tail.tasks) {
		q.tail.next = taskChunks.Get().(*taskChunk)
		q.tail = q.tail.next
	}
	q.tail.tasks[q.tail.used] = task
	q.tail.used++
	q.length++
}

// popInto fills batch with the next tasks and returns how many there were.
func (q *taskList) popInto(batch []func()) int {
	popped := 0
	for popped < len(batch) && q.length > 0 {
		c := q.head
		n := copy(batch[popped:], c.tasks[c.read:c.used])
		clear(c.tasks[c.read : c.read+n])
		c.read += n
		popped += n
		q.length -= n
		q.dropEmpty()
	}
	return popped
}

func (q *taskList) dropEmpty() {
	c := q.head
	if c.read < c.used {
		return
	}
	c.read, c.used = 0, 0
	if c != q.tail {
		q.head, c.next = c.next, nil
		taskChunks.Put(c)
	}
}

// safely runs a task: as in the report's designs, one that panics does not end the loop.
func safely(task func()) {
	defer func() {
		if reason := recover(); reason != nil {
			log.Printf("a task panicked: %v", reason)
		}
	}()
	task()
}
