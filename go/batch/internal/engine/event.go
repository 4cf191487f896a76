package engine

import "time"

type stage uint8

const (
	queued stage = iota
	left
	cancelled
	retained
)

// Event is one event on its way. Its memory is reused for another one when it is over.
type Event[T any] struct {
	// Neighbours in its lane, in its batch (next only; see link for prev), or among what its type retains: it is in one
	// of them.
	next, prev *Event[T]
	Type       *Type[T]
	Data       T
	// Bytes is its size, as far as that is known; it counts towards bounds in bytes.
	Bytes int64
	// Time of the push.
	Time time.Duration
	// Arrival number: orders events of different lanes, and tells a use of this memory from another.
	seq uint64
	// Retained: from this time; its place among everything that was retained or registered; the newest handler that
	// got it.
	since            time.Duration
	number, received uint64
	Priority         Priority
	stage            stage
	// Batch handlers have had it, together with the first of its type.
	grouped bool
}

// Next is the event behind this one in its batch.
func (e *Event[T]) Next() *Event[T] { return e.next }

// Ref names an event that was pushed; it stays valid, and harmless, when the event is over.
type Ref[T any] struct {
	event *Event[T]
	seq   uint64
}

// recycler keeps events that are over for those to come, so that a push allocates nothing once as many have been queued
// before. It forgets what a burst has left behind when none like it has come for a while.
type recycler[T any] struct {
	free         chain[T]
	limit        int
	peak, points int
}

const (
	// keptAlways events are kept whatever was queued lately.
	keptAlways = 1024
	// pointsRemembered is the number of dispatch points after which the deepest queue is looked at.
	pointsRemembered = 64
)

func (r *recycler[T]) get() *Event[T] {
	event := r.free.first
	if event == nil {
		return new(Event[T])
	}
	r.free.first = event.next
	r.free.count--
	if r.free.first == nil {
		r.free.last = nil
	}
	return event
}

// put takes events whose data has been cleared.
func (r *recycler[T]) put(over chain[T]) {
	if r.free.count < r.limit {
		over.join(r.free)
		r.free = over
	}
}

// point is a dispatch point that finds so many events queued.
func (r *recycler[T]) point(depth int) {
	r.peak = max(r.peak, depth)
	r.limit = max(r.limit, depth, keptAlways)
	if r.points++; r.points < pointsRemembered {
		return
	}
	r.limit = max(r.peak, keptAlways)
	r.peak, r.points = 0, 0
	if r.free.count > r.limit {
		r.free = chain[T]{}
	}
}
