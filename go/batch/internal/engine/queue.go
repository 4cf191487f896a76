package engine

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// This file is long because it is one structure: events, lanes, types and the choice of a batch change the same links
// and counts, which nothing else may touch.

const (
	// normalPerLow NORMAL events are chosen for one LOW one when a limit cuts a batch.
	normalPerLow = 8
	// fewTypes: up to this many types the map is never swept.
	fewTypes = 1024
	// noTime stands for the push of an event that is not there.
	noTime time.Duration = -1
)

// Queue is the hybrid queue-map: lanes keep the order, a map finds a type's events and settings. Push, removal and
// look-up by type are O(1); taking a batch is O(1) per event, plus, with ByType, the lanes that have events. Events are
// linked through themselves and reused, so a push allocates nothing once as many have been queued before.
//
// It knows no policy and no clock: the caller says how many events a batch can hold and what time it is. An event is in
// one list at a time: a lane (queued), a batch (left), the free list, or what its type retains; stage says which.
//
// Aging, so that nothing starves: an event counts as one class higher for each MaxDeferral that it has waited. No event
// is moved for that, and no timer runs. A lane is first in, first out, so its aged events are its first ones, and a
// batch merges the heads of the lanes. First leave, by arrival, all events that count as HIGH: the HIGH ones, the
// NORMAL ones that have waited once, the LOW ones that have waited twice. When they are gone, each LOW event that
// counts as NORMAL is older than every NORMAL one, so those come next and nothing is compared. As long as the oldest
// NORMAL and the oldest LOW event are young, no event has aged: a batch looks at these two, and that is all it costs.
//
// Keys: a type has a map from a key to the queued event that had it last, made for its first event with a key. A newer
// event of the same class is linked in the place of the older one, with its number; one of another class goes to the end
// of its own lane, and the older one is removed as by a cancel. Events know nothing of their keys and cost nothing for
// them: an entry whose event is not queued any more is stale. All are when the type has no events, and a map that has
// doubled is swept, so it is bounded as the queue is.
type Queue[T any] struct {
	byType bool
	types  map[string]*Type[T]
	// The type that was asked for last: events of one type tend to come one after the other.
	recent  *Type[T]
	sweepAt int

	// ByArrival: the one lane of each class. ByType: the lanes with events of each class, oldest first unless unsorted.
	lanes    [priorities]lane[T]
	listed   [priorities][]*lane[T]
	unsorted bool

	normalSinceLow int
	fullTypes      int
	batchNumber    uint64
	queued         typeList[T] // types that have events

	count int
	bytes int64
	depth [priorities]int
	// Events up to this arrival number have left: when everything leaves, no event is touched before its turn.
	left uint64
	// For each class, the push of the oldest event in the batch that was taken last.
	taken [priorities]time.Duration
}

// reorder changes the order of an empty queue.
func (q *Queue[T]) reorder(order Order) {
	// Lanes that were emptied one by one still think that they are listed.
	q.sortLanes()
	q.byType = order == ByType
}

// ---- events

// Priority is the class of an event: High ends any hold and leaves first. After each MaxDeferral, a waiting event
// counts as one class higher.
type Priority int8

const (
	High Priority = iota
	Normal
	Low
	// OfType is the class of the event's type.
	OfType Priority = -1
)

const priorities = 3

// PriorityOf is the class of a type that nobody gave one: by its name, as libuv names kinds of event, or Normal.
func PriorityOf(name string) Priority {
	switch name {
	case "signal", "process", "async":
		return High
	case "idle", "work", "background":
		return Low
	}
	return Normal
}

type stage uint8

const (
	queued stage = iota
	left
	cancelled
	superseded
	retained
)

// Event is one event on its way. Its memory is reused for another one when it is over.
type Event[T any] struct {
	// Neighbours in its lane, in its batch (next only; see link for prev), or among what its type retains.
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
	grouped          bool // batch handlers have had it, together with the first of its type
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

// Recycle takes an event that is over.
func (e *Engine[T]) Recycle(event *Event[T]) {
	var none T
	event.Data, event.next, event.prev = none, nil, nil
	e.recycler.put(chain[T]{event, event, 1})
}

// ---- lanes

// lane is a first-in-first-out list of queued events, linked through the events themselves: nothing is allocated, and
// any of them can be taken out in O(1). One for each class, or for each class of each type (ByType).
type lane[T any] struct {
	head, tail *Event[T]
	count      int
	listed     bool // ByType: it stands in its class's list of lanes with events
}

func (l *lane[T]) append(event *Event[T]) {
	event.next, event.prev = nil, l.tail
	if l.tail == nil {
		l.head = event
	} else {
		l.tail.next = event
	}
	l.tail = event
	l.count++
}

func (l *lane[T]) remove(event *Event[T]) {
	if event.prev == nil {
		l.head = event.next
	} else {
		event.prev.next = event.next
	}
	if event.next == nil {
		l.tail = event.prev
	} else {
		event.next.prev = event.prev
	}
	l.count--
}

// replace puts an event in the place of another.
func (l *lane[T]) replace(older, newer *Event[T]) {
	newer.next, newer.prev = older.next, older.prev
	if newer.prev == nil {
		l.head = newer
	} else {
		newer.prev.next = newer
	}
	if newer.next == nil {
		l.tail = newer
	} else {
		newer.next.prev = newer
	}
}

// chain is a list of events that leave together, linked by next.
type chain[T any] struct {
	first, last *Event[T]
	count       int
}

func (c *chain[T]) append(event *Event[T]) {
	event.next = nil
	if c.last == nil {
		c.first = event
	} else {
		c.last.next = event
	}
	c.last = event
	c.count++
}

func (c *chain[T]) join(other chain[T]) {
	if other.first == nil {
		return
	}
	if c.last == nil {
		c.first = other.first
	} else {
		c.last.next = other.first
	}
	c.last = other.last
	c.count += other.count
}

// ---- types

// Type is what the map holds for a type of event: its settings, how many of its events are queued, its rate, its
// handlers, and what is retained of it.
type Type[T any] struct {
	Name     string
	Priority Priority
	maxBatch int
	// Pinned: somebody set something for it, so it stays when it has no events.
	Pinned bool
	gone   bool // it was forgotten; events that left before have to look it up again

	place [typeLists]int // its places in the lists that it is in

	// Queued events.
	count int
	lanes [priorities]lane[T]
	// Its events in the batch that is being taken, valid for the batch of that number.
	chosen   int
	chosenIn uint64
	linked   *Event[T] // the last one seen, while a batch is being linked

	// Events pushed since the rate was last updated, and the next type that has some.
	fresh     int
	nextFresh *Type[T]
	rate      rate
	givenRate float64
	// Number of the sample of the costs for which it was counted last.
	countedFor int

	// Queued events by key, and how many entries there may be before stale ones are looked for.
	keys        map[any]Ref[T]
	sweepKeysAt int
	merge       Merge[T]

	// The slice is never changed in place. `ready` is the same for those without the lock; nil when the rest of
	// the type has to be looked at before a handler may run.
	handlers []*Handler[T]
	ready    atomic.Pointer[handlerSet[T]]

	// Retention: nil is the dispatcher's own, unless it is off.
	retain    *Retain
	retainOff bool
	kept      lane[T]
	keptBytes int64
	due       bool
}

// idle: nothing would be lost if it were dropped and made again.
func (t *Type[T]) idle() bool {
	return t.count == 0 && !t.Pinned && len(t.handlers) == 0 && t.kept.count == 0 && !t.due
}

// typeList is a set of types in no order; the number of a list says which of a type's places is meant.
type typeList[T any] []*Type[T]

const (
	queuing = iota
	keeping
	typeLists
)

func (l *typeList[T]) add(t *Type[T], list int) {
	t.place[list] = len(*l)
	*l = append(*l, t)
}

func (l *typeList[T]) remove(t *Type[T], list int) {
	last := len(*l) - 1
	moved := (*l)[last]
	(*l)[t.place[list]], (*l)[last] = moved, nil
	moved.place[list], *l = t.place[list], (*l)[:last]
}

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
		t = &Type[T]{Name: name, Priority: PriorityOf(name), maxBatch: Unlimited, givenRate: math.NaN()}
		q.types[name] = t
	}
	q.recent = t
	return t
}

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

func (q *Queue[T]) push(event *Event[T]) {
	lane, t := q.laneOf(event), event.Type
	if q.byType {
		// The new event is the youngest of all, so the end of the list is its lane's place.
		if !lane.listed {
			lane.listed = true
			q.listed[event.Priority] = append(q.listed[event.Priority], lane)
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
		t.forgetKeys()
	}
	q.count--
	q.depth[event.Priority]--
	q.bytes -= event.Bytes
}

// ---- keys

// Merge combines the data of a queued event with that of a newer one of its key, which has so many bytes. It returns the
// data of the event that stands for both, and its size.
type Merge[T any] func(older, newer T, bytes int64) (T, int64, error)

// fewKeys: up to this many entries the map of a type is never swept; it is kept for the next events up to keptAlways.
const fewKeys = 64

// SetMerge makes a type's newer events carry what the function returns. Nil: they supersede the older ones.
func (t *Type[T]) SetMerge(merge Merge[T]) { t.merge, t.Pinned = merge, true }

// keyed is the queued event that a newer one of the key supersedes, or nil.
func (q *Queue[T]) keyed(t *Type[T], key any) *Event[T] {
	if ref, found := t.keys[key]; found && q.names(ref) {
		return ref.event
	}
	return nil
}

// names tells whether the event of a ref is still queued.
func (q *Queue[T]) names(ref Ref[T]) bool {
	return ref.event != nil && ref.event.seq == ref.seq && q.has(ref.event)
}

// setKey notes that a queued event has the key.
func (q *Queue[T]) setKey(t *Type[T], key any, event *Event[T]) {
	if t.keys == nil {
		t.keys, t.sweepKeysAt = map[any]Ref[T]{}, fewKeys
	}
	if len(t.keys) >= t.sweepKeysAt {
		for key, ref := range t.keys {
			if !q.names(ref) {
				delete(t.keys, key)
			}
		}
		t.sweepKeysAt = max(fewKeys, 2*len(t.keys))
	}
	t.keys[key] = Ref[T]{event, event.seq}
}

// forgetKeys: the type has no events.
func (t *Type[T]) forgetKeys() {
	switch n := len(t.keys); {
	case n > keptAlways:
		t.keys = nil
	case n > 0:
		clear(t.keys)
	}
}

// replace puts an event in the place of a queued one of the same type and class.
func (q *Queue[T]) replace(older, newer *Event[T]) {
	newer.seq, newer.Time = older.seq, older.Time
	q.laneOf(older).replace(older, newer)
	q.bytes += newer.Bytes - older.Bytes
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

// ---- taking a batch

// take takes a batch of at most `limit` events out: those that count as HIGH at `now`, then as NORMAL, then as LOW.
func (q *Queue[T]) take(limit int, now, maxDeferral time.Duration) chain[T] {
	q.sortLanes()
	q.taken = [priorities]time.Duration{noTime, noTime, noTime}
	a := aged{math.MaxInt64, now - maxDeferral, now - 2*maxDeferral}
	agedNormal, agedLow := counts(q.headOf(Normal), High, &a), counts(q.headOf(Low), Normal, &a)
	if q.fullTypes == 0 {
		merges := q.depth[Low] > 0 || agedNormal && q.depth[High] > 0
		switch {
		case q.count <= limit && !agedNormal && !agedLow:
			return q.takeAll()
		case !q.byType && !merges:
			return q.takeFirst(limit, &a)
		}
	}
	return q.choose(limit, a)
}

// takeAll: everything leaves and no event has aged. There is no choice to make, only the order.
func (q *Queue[T]) takeAll() chain[T] {
	var batch chain[T]
	for p := High; p <= Low; p++ {
		// The first lane of a class has its oldest event.
		if head := q.headOf(p); head != nil {
			q.taken[p] = head.Time
		}
		if !q.byType {
			q.empty(&q.lanes[p], &batch)
			continue
		}
		for _, lane := range q.listed[p] {
			q.empty(lane, &batch)
			lane.listed = false
		}
		clear(q.listed[p])
		q.listed[p] = q.listed[p][:0]
	}
	for _, t := range q.queued {
		t.count = 0
		t.forgetKeys()
	}
	clear(q.queued)
	q.queued = q.queued[:0]
	q.countNormal(q.depth[Normal])
	if q.depth[Low] > 0 {
		q.normalSinceLow = 0
	}
	q.count, q.bytes, q.depth = 0, 0, [priorities]int{}
	return batch
}

func (q *Queue[T]) empty(l *lane[T], batch *chain[T]) {
	if l.tail != nil {
		q.left = max(q.left, l.tail.seq)
	}
	batch.join(chain[T]{l.head, l.tail, l.count})
	l.head, l.tail, l.count = nil, nil, 0
}

// takeFirst: there is no LOW event, no full type, and no NORMAL event that would go before a HIGH one, so nothing to
// choose between: the first of HIGH, then of NORMAL.
func (q *Queue[T]) takeFirst(limit int, a *aged) chain[T] {
	var batch chain[T]
	normals := 0
	for p := High; p <= Normal; p++ {
		for batch.count < limit && q.lanes[p].head != nil {
			event := q.lanes[p].head
			if !counts(event, High, a) {
				normals++
			}
			q.takeHead(event)
			batch.append(event)
		}
	}
	q.countNormal(normals)
	return batch
}

func (q *Queue[T]) choose(limit int, a aged) chain[T] {
	cut := q.count > limit
	q.batchNumber++
	var batch, low chain[T]
	next := cursor[T]{q: q, aged: a, lowAt: -1}
	highIsOver := false
	for batch.count+low.count < limit {
		var high *Event[T]
		if !highIsOver {
			high = next.high()
			highIsOver = high == nil
		}
		event, to := high, &batch
		if event == nil {
			event = next.normal()
		}
		if high == nil && (event == nil || cut && q.normalSinceLow >= normalPerLow) {
			if one := next.low(); one != nil {
				event, to = one, &low
			}
		}
		if event == nil {
			break
		}
		t := event.Type
		if t.chosenIn != q.batchNumber {
			t.chosenIn, t.chosen = q.batchNumber, 0
		}
		if t.chosen == t.maxBatch {
			break
		}
		t.chosen++
		q.takeHead(event)
		to.append(event)
		if to == &low {
			q.normalSinceLow = 0
		} else if high == nil {
			q.countNormal(1)
		}
	}
	// ByType: a lane that was cut may now be younger than others, an emptied one has to go.
	q.unsorted = q.byType
	batch.join(low)
	return batch
}

func (q *Queue[T]) countNormal(n int) { q.normalSinceLow = min(normalPerLow, q.normalSinceLow+n) }

// takeHead takes out an event that is the oldest of its lane.
func (q *Queue[T]) takeHead(event *Event[T]) {
	oldest := &q.taken[event.Priority]
	if *oldest == noTime || event.Time < *oldest {
		*oldest = event.Time
	}
	q.laneOf(event).remove(event)
	q.gone(event)
	event.stage = left
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

func (q *Queue[T]) laneOf(event *Event[T]) *lane[T] {
	if q.byType {
		return &event.Type.lanes[event.Priority]
	}
	return &q.lanes[event.Priority]
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

func byArrival[T any](a, b *Event[T]) int { return cmp.Compare(a.seq, b.seq) }

// ---- which event is next

// aged are the times of push up to which an event counts as its own class, as one class higher, as two.
type aged [priorities]time.Duration

// counts tells whether an event counts as this class or a higher one.
func counts[T any](event *Event[T], as Priority, a *aged) bool {
	return event != nil && event.Time <= a[event.Priority-as]
}

// cursor shows which event of each class would be chosen next, in either order. ByType, all events of a lane that count
// as one class are taken before another lane starts; the rest is placed anew, by its oldest event.
type cursor[T any] struct {
	q    *Queue[T]
	aged aged
	at   [priorities]int
	// The lane that HIGH events, and later NORMAL ones, are being taken from, and the one that LOW events are.
	group, lowGroup *lane[T]
	hasAged         bool // NORMAL or LOW lanes had events that count as HIGH
	// The next of the LOW lanes that had no aged event, below 0: not looked for; and those that lost theirs, the one
	// with the oldest event first.
	lowAt    int
	replaced []*lane[T]
}

// high, like normal and low, is the next event that counts as this class. Without one it is not asked again.
func (c *cursor[T]) high() *Event[T] {
	if !c.q.byType {
		return earlier(earlier(c.q.lanes[High].head, c.agedOf(Normal, High)), c.agedOf(Low, High))
	}
	if head := headOf(c.group); c.counts(head, High) {
		return head
	}
	first := c.next(High, High)
	for p := Normal; p <= Low; p++ {
		lane := c.next(p, High)
		if lane == nil {
			continue
		}
		c.hasAged = true
		if first == nil || lane.head.seq < first.head.seq {
			first = lane
		}
	}
	c.group = first
	if first == nil && c.hasAged {
		c.q.unsorted = true
		c.q.sortLanes()
		c.at = [priorities]int{}
	}
	return headOf(first)
}

func (c *cursor[T]) normal() *Event[T] {
	if !c.q.byType {
		return cmp.Or(c.agedOf(Low, Normal), c.q.lanes[Normal].head)
	}
	if c.lowAt < 0 {
		// LOW lanes are sorted by their oldest event: those with an aged one come first.
		c.lowAt = 0
		for c.lowAt < len(c.q.listed[Low]) && c.counts(c.q.listed[Low][c.lowAt].head, Normal) {
			c.lowAt++
		}
	}
	head := headOf(c.group)
	if c.counts(head, Normal) {
		return head
	}
	if head != nil {
		// What is left in a LOW lane counts as LOW from here on, and the lane is put in its new place.
		at, _ := slices.BinarySearchFunc(c.replaced, c.group, func(a, b *lane[T]) int { return byArrival(a.head, b.head) })
		c.replaced = slices.Insert(c.replaced, at, c.group)
	}
	next := c.next(Low, Normal)
	if next == nil {
		next = c.next(Normal, Normal)
	}
	c.group = next
	return headOf(next)
}

func (c *cursor[T]) low() *Event[T] {
	if !c.q.byType {
		if head := c.q.lanes[Low].head; !c.counts(head, Normal) {
			return head
		}
		return nil
	}
	if head := headOf(c.lowGroup); head != nil {
		return head
	}
	var listed *lane[T]
	if c.lowAt < len(c.q.listed[Low]) {
		listed = c.q.listed[Low][c.lowAt]
	}
	if len(c.replaced) > 0 && (listed == nil || c.replaced[0].head.seq < listed.head.seq) {
		c.lowGroup, c.replaced = c.replaced[0], c.replaced[1:]
	} else {
		c.lowGroup = listed
		c.lowAt++
	}
	return headOf(c.lowGroup)
}

func (c *cursor[T]) counts(event *Event[T], as Priority) bool { return counts(event, as, &c.aged) }

func (c *cursor[T]) agedOf(p, as Priority) *Event[T] {
	if head := c.q.lanes[p].head; c.counts(head, as) {
		return head
	}
	return nil
}

// next is the next lane of a class, if its oldest event counts as this one. Only the last group has given events.
func (c *cursor[T]) next(p, as Priority) *lane[T] {
	lanes := c.q.listed[p]
	if c.at[p] < len(lanes) && lanes[c.at[p]] == c.group {
		c.at[p]++
	}
	if c.at[p] < len(lanes) && c.counts(lanes[c.at[p]].head, as) {
		return lanes[c.at[p]]
	}
	return nil
}

func headOf[T any](l *lane[T]) *Event[T] {
	if l == nil {
		return nil
	}
	return l.head
}

// earlier is the one of two events that arrived first; each of them may be missing.
func earlier[T any](a, b *Event[T]) *Event[T] {
	if a == nil || b != nil && b.seq < a.seq {
		return b
	}
	return a
}
