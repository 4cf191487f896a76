package engine

import "time"

// Trigger is the reason why a batch left.
type Trigger int8

const (
	// TriggerSize: MaxBatch events were queued, or a type had its own MaxBatch; under Direct every event.
	TriggerSize Trigger = iota
	// TriggerThreshold: Threshold events ended a hold.
	TriggerThreshold
	// TriggerDelay: the oldest event had waited as long as the hold.
	TriggerDelay
	// TriggerTurn: the loop turn ended and nothing was held.
	TriggerTurn
	// TriggerPriority: a High event ended a hold.
	TriggerPriority
	// TriggerFlush and TriggerClose: the call of that name, or a change of policy or order.
	TriggerFlush
	TriggerClose
)

const triggers = 7

func (t Trigger) String() string {
	if t < 0 || int(t) >= triggers {
		return "unknown"
	}
	return [triggers]string{"size", "threshold", "delay", "turn", "priority", "flush", "close"}[t]
}

// Stats are the depths and totals of one queue. Names follow the project's metrics vocabulary; totals are since the
// start.
type Stats struct {
	// QueueDepth is the number of events queued now, by priority: QueueDepth[High].
	QueueDepth [priorities]int
	QueueBytes int64
	// QueueWaitMax is the worst wait from push to leaving, by priority.
	QueueWaitMax [priorities]time.Duration
	// BatchHold is the hold of the open batch; 0 when none is held.
	BatchHold time.Duration
	// PushedTotal events were taken in; DeliveredTotal of them had a handler, failed or not.
	PushedTotal, DeliveredTotal, CancelledTotal uint64
	// BatchTotal is the number of batches that left; DeliveredTotal / BatchTotal is about the mean batch_size.
	BatchTotal uint64
	// BatchTriggerTotal counts them by trigger: BatchTriggerTotal[TriggerSize].
	BatchTriggerTotal [triggers]uint64
	// ErrorsTotal handlers failed.
	ErrorsTotal uint64
	// UnhandledTotal events had no handler and were not retained.
	UnhandledTotal uint64
	RefusedTotal   Refused
	Retained       RetainedStats
}

// Refused counts events that were not taken, or not kept, by reason.
type Refused struct {
	// Overloaded: the queue was full. Closed: pushed after Close. Cancelled: discarded by Close. Retention: no room to
	// retain it.
	Overloaded, Closed, Cancelled, Retention uint64
}

// RetainedStats are about events that wait for a handler.
type RetainedStats struct {
	// Count and Bytes are kept now.
	Count int
	Bytes int64
	// Held, Replayed and Expired are totals: kept, given to a late handler, ended without one.
	Held, Replayed, Expired uint64
}

// Stats is a snapshot.
func (e *Engine[T]) Stats() Stats {
	stats := e.counters
	stats.QueueDepth, stats.QueueBytes, stats.PushedTotal = e.queue.depth, e.queue.bytes, e.seq
	stats.BatchHold = max(0, e.hold)
	return stats
}

// Estimate is how the engine sees its load; the rate is that of a type.
func (e *Engine[T]) Estimate(name string) Signals {
	return e.advisor.estimate(e.host, e.queue.Find(name), e.host.Now())
}

// GiveSignals puts signals in place of the engine's estimates, NaN: its own; for tests and replays. GiveRate does so
// for one type.
func (e *Engine[T]) GiveSignals(s Signals) { e.advisor.given = s }

func (e *Engine[T]) GiveRate(t *Type[T], rate float64) { t.givenRate, t.Pinned = rate, true }
