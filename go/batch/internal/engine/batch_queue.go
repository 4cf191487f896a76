package engine

import (
	"slices"
	"time"
)

const (
	// normalPerLow NORMAL events are chosen for one LOW one when a limit cuts a batch.
	normalPerLow = 8
	// fewTypes: up to this many types the map is never swept.
	fewTypes = 1024
	// noTime stands for the push of an event that is not there.
	noTime time.Duration = -1
)

// Queue is the hybrid queue-map: lanes keep the order, a map finds a type's events and settings. Push, removal and
// look-up by type are O(1); taking a batch is O(1) an event, plus, with ByType, the lanes that have events.
//
// It knows no policy and no clock: the caller says how many events a batch can hold and what time it is.
//
// Aging, so that nothing starves: an event counts as one class higher for each MaxDeferral that it has waited. No event
// is moved for that, and no timer runs. A lane is first in, first out, so its aged events are its first ones, and a batch
// merges the heads of the lanes. First leave, by arrival, all events that count as HIGH: the HIGH ones, the NORMAL ones
// that have waited once, the LOW ones that have waited twice. When they are gone, each LOW event that counts as NORMAL is
// older than every NORMAL one, so those come next and nothing is compared. As long as the oldest NORMAL and the oldest
// LOW event are young, no event has aged: a batch looks at these two, and that is all it costs.
type Queue[T any] struct {
	byType bool
	types  map[string]*Type[T]
	// The type that was asked for last: events of one type tend to come one after the other.
	recent  *Type[T]
	sweepAt int

	// ByArrival: the one lane of each class. ByType: the lanes with events of each class, the one with the oldest event
	// first unless unsorted.
	lanes    [priorities]lane[T]
	listed   [priorities][]*lane[T]
	unsorted bool

	normalSinceLow int
	fullTypes      int
	batchNumber    uint64
	// Types that have events.
	queued typeList[T]

	count int
	bytes int64
	depth [priorities]int
	// Events up to this arrival number have left: when everything leaves, no event is touched before its turn.
	left uint64
	// For each class, the push of the oldest event in the batch that was taken last.
	taken [priorities]time.Duration
}

func (q *Queue[T]) init(order Order) {
	q.byType = order == ByType
	q.types = map[string]*Type[T]{}
	q.sweepAt = fewTypes
	for p := range q.lanes {
		q.lanes[p].priority = Priority(p)
	}
}

// reorder changes the order of an empty queue.
func (q *Queue[T]) reorder(order Order) {
	// Lanes that were emptied one by one still think that they are listed.
	q.sortLanes()
	q.byType = order == ByType
}

// ---- types

// Type is the entry of a type, made if there is none.
func (q *Queue[T]) Type(name string) *Type[T] {
	if q.recent != nil && q.recent.Name == name {
		return q.recent
	}
	t := q.types[name]
	if t == nil {
		if len(q.types) >= q.sweepAt {
			q.sweep()
		}
		t = newType[T](name)
		q.types[name] = t
	}
	q.recent = t
	return t
}

// Find is the entry of a type, or nil.
func (q *Queue[T]) Find(name string) *Type[T] { return q.types[name] }

// sweep forgets the types that have no events, no settings and no handlers, so that names made up as the application
// runs do not add up. The next one waits until the map has doubled, which makes the cost O(1) a type.
func (q *Queue[T]) sweep() {
	q.recent = nil
	for name, t := range q.types {
		if t.idle() {
			t.gone = true
			t.ready.Store(nil)
			delete(q.types, name)
		}
	}
	q.sweepAt = max(fewTypes, 2*len(q.types))
}

// SetMaxBatch limits how many events of a type a batch can hold.
func (q *Queue[T]) SetMaxBatch(t *Type[T], n int) {
	if t.count >= t.maxBatch {
		q.fullTypes--
	}
	t.maxBatch = n
	if t.count >= t.maxBatch {
		q.fullTypes++
	}
}

// ---- push and removal

func (q *Queue[T]) laneOf(event *Event[T]) *lane[T] {
	if q.byType {
		return &event.Type.lanes[event.Priority]
	}
	return &q.lanes[event.Priority]
}

func (q *Queue[T]) push(event *Event[T]) {
	lane, t := q.laneOf(event), event.Type
	if q.byType {
		// The new event is the youngest of all, so the end of the list is its lane's place.
		if !lane.listed {
			lane.listed = true
			q.listed[lane.priority] = append(q.listed[lane.priority], lane)
		} else if lane.head == nil {
			q.unsorted = true
		}
	}
	lane.append(event)
	if t.count == 0 {
		q.queued.add(t, queuing)
	}
	if t.count++; t.count == t.maxBatch {
		q.fullTypes++
	}
	q.count++
	q.depth[event.Priority]++
	q.bytes += event.Bytes
}

// has tells whether an event that was pushed is still queued.
func (q *Queue[T]) has(event *Event[T]) bool { return event.stage == queued && event.seq > q.left }

// remove takes a queued event out.
func (q *Queue[T]) remove(event *Event[T]) {
	lane := q.laneOf(event)
	// A lane that loses its oldest event may have to give way to another.
	if q.byType && lane.head == event {
		q.unsorted = true
	}
	lane.remove(event)
	q.gone(event)
}

func (q *Queue[T]) gone(event *Event[T]) {
	t := event.Type
	if t.count == t.maxBatch {
		q.fullTypes--
	}
	if t.count--; t.count == 0 {
		q.queued.remove(t, queuing)
	}
	q.count--
	q.depth[event.Priority]--
	q.bytes -= event.Bytes
}

// headOf is the oldest event of a class, or nil; its lanes are sorted.
func (q *Queue[T]) headOf(p Priority) *Event[T] {
	if !q.byType {
		return q.lanes[p].head
	}
	if len(q.listed[p]) == 0 {
		return nil
	}
	return q.listed[p][0].head
}

// oldest is the queued event that arrived first, or nil.
func (q *Queue[T]) oldest() *Event[T] {
	q.sortLanes()
	var oldest *Event[T]
	for p := High; p <= Low; p++ {
		oldest = earlier(oldest, q.headOf(p))
	}
	return oldest
}

// sortLanes drops emptied lanes and sorts the rest: after a cut or a removal only, so that a removal itself stays O(1).
func (q *Queue[T]) sortLanes() {
	if !q.unsorted {
		return
	}
	q.unsorted = false
	for p := range q.listed {
		q.listed[p] = slices.DeleteFunc(q.listed[p], func(l *lane[T]) bool {
			l.listed = l.head != nil
			return !l.listed
		})
		slices.SortFunc(q.listed[p], func(a, b *lane[T]) int { return byArrival(a.head, b.head) })
	}
}

func byArrival[T any](a, b *Event[T]) int {
	if a.seq < b.seq {
		return -1
	}
	return 1
}
