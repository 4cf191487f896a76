package eventloop

// chunkSize is how many tasks a chunk holds: enough that what is done once a chunk costs next to nothing, few enough
// that a chunk is a kilobyte.
const chunkSize = 128

// sparesKept bounds the chunks kept for reuse: this many that the owner has emptied, and as many that the producers
// have taken back; half a megabyte in all.
const sparesKept = 256

type chunk struct {
	next  *chunk
	tasks [chunkSize]func()
	// tasks[read:written] wait.
	read, written int
	// depth is how many spare chunks there are from this one on. It is the owner's, even while a producer has the chunk.
	depth int
	// since is when the first task came, in ns of the loop's clock; 0 without Config.Timing.
	since int64
}

// chunks is a FIFO of tasks, in chunks.
type chunks struct {
	first, last *chunk
}

// pop takes the oldest task of the first chunk; nil when the chunk is empty or there is none.
func (q *chunks) pop() func() {
	c := q.first
	if c == nil || c.read == c.written {
		return nil
	}
	task := c.tasks[c.read]
	// Or the closure would live as long as the chunk.
	c.tasks[c.read] = nil
	c.read++
	return task
}

func (q *chunks) empty() bool {
	return q.first == nil || q.first == q.last && q.first.read == q.first.written
}

// begun is how many tasks of the first chunk wait.
func (q *chunks) begun() int {
	if q.first == nil {
		return 0
	}
	return q.first.written - q.first.read
}

// join moves all of other behind what is there.
func (q *chunks) join(other chunks) {
	if other.first == nil {
		return
	}
	if q.last == nil {
		q.first = other.first
	} else {
		q.last.next = other.first
	}
	q.last = other.last
}

// shift takes the first chunk out.
func (q *chunks) shift() *chunk {
	c := q.first
	q.first = c.next
	if q.first == nil {
		q.last = nil
	}
	c.next = nil
	return c
}
