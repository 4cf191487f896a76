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

	// Queued events, and its place among the types that have some.
	count                  int
	lanes                  [priorities]lane[T]
	nextQueued, prevQueued *Type[T]
	// Its events in the batch that is being taken, valid for the batch of that number.
	chosen   int
	chosenIn uint64

	// Events pushed since the rate was last updated, and the next type that has some.
	fresh     int
	nextFresh *Type[T]
	rate      rate
	givenRate float64

	// The slice is never changed in place. `ready` is the same for whoever has no lock; nil when a look at the rest
	// of the type is needed before a handler may run.
	handlers []*Handler[T]
	ready    atomic.Pointer[handlerSet[T]]

	// Retention: nil is the dispatcher's own, unless it is off.
	retain    *Retain
	retainOff bool
	kept      lane[T]
	keptBytes int64
	nextKeeps *Type[T]
	prevKeeps *Type[T]
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

// Queued is the number of its queued events.
func (t *Type[T]) Queued() int { return t.count }

// idle: nothing would be missed if it were made anew.
func (t *Type[T]) idle() bool {
	return t.count == 0 && !t.Pinned && len(t.handlers) == 0 && t.kept.count == 0 && !t.due
}
