package engine

import (
	"math"
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
	QueueDepth   millrace.ByPriority[int]
	QueueBytes   int64
	QueueWaitMax millrace.ByPriority[time.Duration]
	BatchHold    time.Duration
	Policy       struct {
		Rate, Total                    float64
		BatchCost, EventCost, HoldCost time.Duration
		Utilization                    float64
		Hold                           time.Duration
		Saving                         float64
		SavingMeasured                 bool
		Why                            string
		Limit                          int
	}
	PushedTotal, DeliveredTotal, CancelledTotal uint64
	SupersededTotal                             uint64
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
	a, p := &e.advisor, &stats.Policy
	own := a.estimate(e.host, nil, e.host.Now())
	p.Rate, p.Total, p.Utilization = a.rate, own.Total, own.Utilization
	p.BatchCost, p.EventCost, p.HoldCost = duration(own.BatchCost), duration(own.EventCost), e.host.HoldCost()
	p.SavingMeasured = !math.IsNaN(own.Saving)
	p.Saving = given(own.Saving, 0)
	p.Hold, p.Why = a.chosen, a.why
	if e.options.MaxDelay == 0 || e.direct {
		p.Hold, p.Why = 0, noDelay
	}
	if a.timing {
		p.Limit = a.byTime.limit
	}
	return stats
}

// Counters are the totals, for sinks that count themselves.
func (e *Engine[T]) Counters() *Stats { return &e.counters }
