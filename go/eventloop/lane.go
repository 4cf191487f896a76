package eventloop

// The lanes, by class. That of NORMAL tasks comes first: it is in the cache line of the mutex.
const (
	laneNormal = iota
	laneHigh
	laneLow
)

// A lane is where the tasks of a class wait until the owner takes them all. Under the loop's mutex.
type lane struct {
	first, last *chunk
	// n tasks are in the last chunk, and before were in the lane's earlier chunks. That n is not in the
	// chunk itself keeps what a producer writes to two cache lines: the one of the mutex, and the task's.
	n      int
	before uint64
	// While n is below limit a task may be added with no look at anything but the lane; see put.
	limit int
}

// add puts a task into the last chunk, which has room.
func (q *lane) add(task func()) {
	q.last.tasks[q.n] = task
	q.n++
}

// grow appends an empty chunk.
func (q *lane) grow(c *chunk) {
	if q.last == nil {
		q.first = c
	} else {
		q.close()
		q.last.next = c
	}
	q.last = c
}

// take empties the lane.
func (q *lane) take() chunks {
	if q.last == nil {
		return chunks{}
	}
	q.close()
	all := chunks{q.first, q.last}
	q.first, q.last = nil, nil
	return all
}

// close ends the last chunk: nothing is added to it any more.
func (q *lane) close() {
	q.last.written = q.n
	q.before += uint64(q.n)
	q.n, q.limit = 0, 0
}

// accepted counts the tasks that have ever been queued; the mutex is held.
func (l *Loop) accepted() uint64 {
	n := uint64(0)
	for i := range l.lanes {
		n += l.lanes[i].before + uint64(l.lanes[i].n)
	}
	return n
}

// queued counts the tasks that wait, without those of the chunk that is being worked through; the mutex is held.
func (l *Loop) queued() int {
	return int(l.accepted() - l.begun.Load())
}

// tighten makes the next task of every lane look at the bounds, and at whether the loop is closed; the mutex is held.
func (l *Loop) tighten() {
	for i := range l.lanes {
		l.lanes[i].limit = 0
	}
}
