package engine

import "time"

// Host is what an engine needs from the world. It is called with the engine's lock held.
type Host interface {
	// Now is the time since some start. It may be read once and kept for the rest of a loop turn.
	Now() time.Duration
	// Inside tells whether the caller may run handlers. An operation from elsewhere waits for the next dispatch point.
	Inside() bool
	// Schedule asks for one call of Turn at the dispatch point; more do no harm. An error refuses the push.
	Schedule() error
	// Alive tells whether a call that was asked for may still come: a loop may have been closed in between.
	Alive() bool
	// MayHold tells whether a hold can still end at its time. Otherwise nothing joins a batch that is held: Schedule refuses
	// the event, or lets all of them leave.
	MayHold() bool
	// Arm asks for one call of HoldEnded at this time, or earlier; it replaces the last request. Negative: takes it
	// back. An error lets the batch that was to be held leave now.
	Arm(deadline time.Duration) error
	// Clock is Now, read anew.
	Clock() time.Duration
	// Utilization is the busy share of the loop, 0 to 1, and Busy for how long it has been busy so far. Asked only under
	// Adaptive with a MaxDelay.
	Utilization(now time.Duration) float64
	Busy(now time.Duration) time.Duration
	// HoldCost is what a hold costs: the timer, and the turn at its end.
	HoldCost() time.Duration
}

// never is a deadline that takes the request for a call back.
const never time.Duration = -1

// Batch is a list of events that leave together.
type Batch[T any] struct {
	Trigger Trigger
	First   *Event[T]
	Count   int
	// Unless Sample is zero, the sink says with Spent for how long the handlers had the batch.
	Sample Sample
}

// Sink is where batches go.
type Sink[T any] interface {
	// Deliver hands a batch on. False: it is not done yet, and no other batch leaves until Delivered is called.
	Deliver(batch Batch[T]) bool
	// Prepare runs at the start of each dispatch point, before anything leaves.
	Prepare(now time.Duration)
	// Discard is told of an event that close discards.
	Discard(event *Event[T])
	// End is told that the queue is closed and everything has been delivered or discarded.
	End()
}
