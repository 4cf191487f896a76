package engine

import (
	"math"
	"sync/atomic"
)

// Type is what the map holds for a type of event: its settings, how many of its events are queued, its rate, its
// handlers, and what is retained of it.
type Type[T any] struct {
	Name     string
	Priority Priority
	maxBatch int
	// Pinned: somebody set something for it, so it stays when it has no events.
	Pinned bool
	// It was forgotten; events that left before have to look it up again.
	gone bool

	// Its neighbours in the lists that it is in.
	next, prev [typeLists]*Type[T]

	// Queued events.
	count int
	lanes [priorities]lane[T]
	// Its events in the batch that is being taken, valid for the batch of that number.
	chosen   int
	chosenIn uint64
	// The last one seen, while a batch is being linked.
	linked *Event[T]

	// Events pushed since the rate was last updated, and the next type that has some.
	fresh     int
	nextFresh *Type[T]
	rate      rate
	givenRate float64

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

func newType[T any](name string) *Type[T] {
	t := &Type[T]{Name: name, Priority: PriorityOf(name), maxBatch: Unlimited, givenRate: math.NaN()}
	for p := range t.lanes {
		t.lanes[p].priority = Priority(p)
	}
	return t
}

// MaxBatch is the number of events of the type a batch can hold.
func (t *Type[T]) MaxBatch() int { return t.maxBatch }

// idle: nothing would be lost if it were dropped and made again.
func (t *Type[T]) idle() bool {
	return t.count == 0 && !t.Pinned && len(t.handlers) == 0 && t.kept.count == 0 && !t.due
}

// typeList is a list of types, newest first; its number says which of a type's neighbours are meant.
type typeList[T any] struct{ first *Type[T] }

const (
	queuing = iota
	keeping
	typeLists
)

func (l *typeList[T]) add(t *Type[T], list int) {
	t.prev[list], t.next[list] = nil, l.first
	if l.first != nil {
		l.first.prev[list] = t
	}
	l.first = t
}

func (l *typeList[T]) remove(t *Type[T], list int) {
	if prev := t.prev[list]; prev == nil {
		l.first = t.next[list]
	} else {
		prev.next[list] = t.next[list]
	}
	if next := t.next[list]; next != nil {
		next.prev[list] = t.prev[list]
	}
	t.next[list], t.prev[list] = nil, nil
}
