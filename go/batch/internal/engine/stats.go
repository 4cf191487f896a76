package engine

import (
	"time"

	"millrace.dev/go"
)

// Trigger is the reason why a batch left, as package batch explains it.
type Trigger uint8

const (
	TriggerSize Trigger = iota
	TriggerThreshold
	TriggerDelay
	TriggerTurn
	TriggerPriority
	TriggerFlush
	TriggerClose
)

const triggers = 7

func (t Trigger) String() string {
	if int(t) >= triggers {
		return "unknown"
	}
	return [triggers]string{"size", "threshold", "delay", "turn", "priority", "flush", "close"}[t]
}

// Stats are the depths and totals of one queue. Those of package batch, which explains them, have the same fields.
type Stats struct {
	QueueDepth                                  millrace.ByPriority[int]
	QueueBytes                                  int64
	QueueWaitMax                                millrace.ByPriority[time.Duration]
	BatchHold                                   time.Duration
	PushedTotal, DeliveredTotal, CancelledTotal uint64
	BatchTotal                                  uint64
	BatchTriggerTotal                           [triggers]uint64
	ErrorsTotal                                 uint64
	UnhandledTotal                              uint64
	RefusedTotal                                struct{ Overloaded, Closed, Cancelled, Retention uint64 }
	Retained                                    struct {
		Count                   int
		Bytes                   int64
		Held, Replayed, Expired uint64
	}
}

// Stats is a snapshot.
func (e *Engine[T]) Stats() Stats {
	stats := e.counters
	depth, waits := &e.queue.depth, &e.waits
	stats.QueueDepth = millrace.ByPriority[int]{High: depth[High], Normal: depth[Normal], Low: depth[Low]}
	stats.QueueWaitMax = millrace.ByPriority[time.Duration]{High: waits[High], Normal: waits[Normal], Low: waits[Low]}
	stats.QueueBytes, stats.PushedTotal, stats.BatchHold = e.queue.bytes, e.seq, max(0, e.hold)
	return stats
}

// Counters are the totals, for sinks that count themselves.
func (e *Engine[T]) Counters() *Stats { return &e.counters }
