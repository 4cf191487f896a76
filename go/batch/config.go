package batch

import (
	"fmt"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/batch/internal/engine"
)

// Policy decides when a batch leaves.
type Policy uint8

const (
	// Adaptive (the default): a batch leaves at once when idle, at the end of the turn when busy; held for as long as
	// it pays, up to MaxDelay.
	Adaptive Policy = iota + 1
	// Fixed: a batch leaves when full, or MaxDelay after its oldest event. A predictable cadence.
	Fixed
	// Direct: no batching, each event leaves alone. The control arm of a comparison, and a kill switch.
	Direct
)

// Order of the events in a batch, within a priority.
type Order uint8

const (
	// ByArrival is the default.
	ByArrival Order = iota + 1
	// ByType groups a batch by type, the type with the oldest event first.
	ByType
)

// Hold selects whether holding tunes itself, under Adaptive.
type Hold uint8

const (
	// HoldTuned (the default) compares holding with not holding, stops where that saves nothing or slows the senders down,
	// and tries again later.
	HoldTuned Hold = iota + 1
	// HoldAlways holds without comparing.
	HoldAlways
)

// None is 0 for MaxDelay, MinSaving, MaxBatchTime, Threshold and MaxDeferral, where an omitted field means the default,
// or in Set the previous value.
const None = -1

// Config has the settings of New. The zero value of each field stands for its default.
type Config[K, V any] struct {
	// Policy decides when a batch leaves: Adaptive (the default), Fixed or Direct.
	Policy Policy
	// Hold is HoldTuned (the default), or HoldAlways to hold even where it does not pay. Only under Adaptive.
	Hold Hold
	// MaxBatch bounds a batch: 1 to 1,000,000 calls, by default 1024.
	MaxBatch int
	// MaxDelay is the longest hold, from the oldest call in a batch: up to a minute, by default 0 (None), and 50 ms under
	// Fixed. Every call in the batch waits for it. Adaptive holds as long as it pays: while the calls of the bulk function
	// that a hold saves are worth more than the delay.
	MaxDelay time.Duration
	// MinSaving is the share of the bulk function's time that each ms of delay has to save, under Adaptive: 0 (None) to
	// 1, by default 0.005. Lower: longer holds; with None all of MaxDelay is used wherever a hold saves anything. The
	// busier the function, the less a ms has to save.
	MinSaving float64
	// Threshold ends a hold at that many queued calls: up to 1,000,000, by default 0 (None): off.
	Threshold int
	// MaxQueue bounds the queue: 1 to 100,000,000 calls, by default 65,536. One more is refused with ErrOverload. Under
	// Direct nothing waits, so it has no effect.
	MaxQueue int
	// MaxQueueBytes bounds the queue in bytes, as reported by Size: 1 to 2^53-1, by default 64 MiB.
	MaxQueueBytes int64
	// Concurrency bounds the batches in flight: 1 to 65,536, by default 1. At the bound, calls queue; 1 makes the
	// largest batches. Under Direct it has no effect.
	Concurrency int
	// Key lets calls share a key and its result, if they wait for the same batch and their identities are equal. KeyOf
	// makes one. Sharing calls take no place in the queue; up to MaxQueue of them may wait. Default: none share.
	Key Key[K]
	// Size gives the bytes of a key, at least 0, towards MaxQueueBytes. It runs on the caller of Do. Default: 0 bytes.
	Size func(key K) int
}

func (c *Config[K, V]) queue() engine.Options {
	return engine.Options{
		Policy: engine.PolicyName(c.Policy), Hold: engine.Hold(c.Hold), MaxBatch: c.MaxBatch, MaxDelay: c.MaxDelay,
		MinSaving: c.MinSaving, Threshold: c.Threshold, MaxQueue: c.MaxQueue, MaxQueueBytes: c.MaxQueueBytes,
		// A call of the bulk function keeps no loop, and the longer it takes, the more is to be gained by a large batch.
		MaxBatchTime: engine.None,
	}
}

// EmitterConfig has the settings of NewEmitter and Set. A zero field stands for its default, in Set for the previous
// value.
type EmitterConfig[T any] struct {
	// Policy and Hold, as in Config.
	Policy Policy
	Hold   Hold
	// Order within a batch: ByArrival (the default) or ByType, to have the events of a type together.
	Order Order
	// MaxBatch bounds a batch: 1 to 1,000,000 events, by default 1024.
	MaxBatch int
	// MaxDelay is the longest hold, from the push of the oldest event in a batch: up to a minute, by default 0 (None), and
	// 50 ms under Fixed. Handlers get every event of the batch that much later. Adaptive holds as long as it pays: while
	// the loop's time that a hold saves is worth more than the delay.
	MaxDelay time.Duration
	// MinSaving is the share of a core that each ms of delay has to save, under Adaptive: 0 (None) to 1, by default 0.005.
	// Lower: longer holds; with None all of MaxDelay is used wherever a hold saves anything. The busier the loop, the less a
	// ms has to save.
	MinSaving float64
	// MaxBatchTime is the longest time that a batch that is not held may keep the loop, under Adaptive: up to a minute,
	// by default 0 (None): for as long as MaxBatch events take. When two such batches in a row have taken longer, the
	// next ones take fewer events, unless that makes the events dearer. Set it, for example to 5 ms, where bursts of
	// slow events must not keep timers and descriptors waiting.
	MaxBatchTime time.Duration
	// Threshold ends a hold at that many queued events: up to 1,000,000, by default 0 (None): off.
	Threshold int
	// MaxQueue bounds the queue: 1 to 100,000,000 events, by default 65,536. One more is refused with ErrOverload.
	// Under Direct, events emitted on the loop do not wait and have no bound.
	MaxQueue int
	// MaxQueueBytes bounds the queue in bytes, as reported by Size or EventConfig.Bytes: 1 to 2^53-1, by default 64
	// MiB.
	MaxQueueBytes int64
	// MaxDeferral is the wait after which an event counts as one class higher, and again after the next: up to an hour, by
	// default 100 ms. With None, classes do not order events.
	MaxDeferral time.Duration

	// The following cannot be changed by Set.

	// Size gives the bytes of an event's data, at least 0, towards MaxQueueBytes and Retain.MaxBytes. It runs on the
	// caller of Emit or Push. Default: 0 bytes.
	Size func(data T) int
	// Retain keeps events without a handler, of all types without a setting of their own. Default: they end as unhandled.
	Retain Retain
	// OnError is called with a *HandlerError for each event for which a handler failed. It runs on the loop. Default:
	// slog.Error.
	OnError func(error)
	// OnLost is called for each accepted event that ends without a handler, unless by Cancel or by a Key. It runs on
	// the loop, or on the caller that ended the event: of a Close after that of the loop, or of a SetType with
	// ReplayNever. Default: one warning by slog for each reason but ErrUnhandled; all are counted in Stats.
	OnLost func(Lost[T])
}

func (c *EmitterConfig[T]) queue() engine.Options {
	return engine.Options{
		Policy: engine.PolicyName(c.Policy), Hold: engine.Hold(c.Hold), Order: engine.Order(c.Order), MaxBatch: c.MaxBatch,
		MaxDelay: c.MaxDelay, MinSaving: c.MinSaving, MaxBatchTime: c.MaxBatchTime, Threshold: c.Threshold,
		MaxQueue: c.MaxQueue, MaxQueueBytes: c.MaxQueueBytes, MaxDeferral: c.MaxDeferral,
	}
}

// TypeConfig has the settings of one type of events, for SetType. A zero field leaves the setting unchanged.
type TypeConfig[T any] struct {
	// Priority of later events. By default it goes by the name of the type: signal, process and async are High; idle, work
	// and background Low; all others Normal.
	Priority millrace.Priority
	// MaxBatch bounds the events of the type in a batch: 1 to 1,000,000, by default no limit of its own.
	MaxBatch int
	// Size and Retain, as in EmitterConfig, for this type. ReplayNever turns its retention off.
	Size   func(data T) int
	Retain Retain
	// Merge combines the data of a queued event with that of a newer one of its EventConfig.Key: the newer one carries
	// the result. It runs on the caller of Push, without a lock, and once more if another goroutine was faster. When it
	// panics, both events stay, and OnError is called, on that caller; when it ends its goroutine, the newer event is
	// not queued. Default: the newer event replaces the older one.
	Merge func(older, newer T) T
}

// EventConfig has the settings of one event, for Push.
type EventConfig struct {
	// Priority, by default that of the type.
	Priority millrace.Priority
	// Bytes is the event's size, by default from Size.
	Bytes int
	// Key lets the event supersede a queued one of its type with an equal key, whose place it takes: a slow handler
	// gets the latest of each key. With another priority it goes to the end of its own class instead. Superseded events
	// get no handler, and are counted in Stats.SupersededTotal. The key must be comparable, and lies in memory for as
	// long as the event is queued, or a little longer. Default (nil): none.
	Key any
}

// Replay selects the handlers that get retained events.
type Replay uint8

const (
	// ReplayFirst: the first handler that registers gets them, and then they are over.
	ReplayFirst Replay = iota + 1
	// ReplayEach: every handler that registers until their age is reached gets them.
	ReplayEach
	// ReplayNever, for SetType: events of the type are not kept, whatever the emitter retains; those already retained
	// expire.
	ReplayNever
)

// Retain keeps events without a handler for one that registers late. Without Replay nothing is kept; other fields that
// are zero stand for their defaults. Each bound is for one type.
type Retain struct {
	Replay Replay
	// Max bounds the events kept: 1 to 1,000,000, by default 1000. Beyond it the newest is refused.
	Max int
	// MaxBytes bounds the bytes kept: 1 to 2^53-1, by default 1 MiB.
	MaxBytes int64
	// MaxAge is the age at which an event expires: 1 ms to 2^31-1 ms, by default a minute. It does not keep the loop
	// alive.
	MaxAge time.Duration
}

// engine returns nil if nothing is to be kept.
func (r Retain) engine(most Replay) (*engine.Retain, error) {
	switch {
	case r == Retain{}:
		return nil, nil
	case r.Replay == ReplayNever && most == ReplayNever:
		return nil, nil
	case r.Replay == 0 || r.Replay > ReplayEach:
		return nil, &millrace.OptionError{Name: "Retain.Replay", Value: uint8(r.Replay), Allowed: "ReplayFirst or ReplayEach"}
	}
	return engine.Retain{Replay: engine.Replay(r.Replay), Max: r.Max, MaxBytes: r.MaxBytes, MaxAge: r.MaxAge}.Complete()
}

func checkBytes(n int) error {
	if n < 0 {
		return fmt.Errorf("%w: a size of %d bytes; it must be at least 0", millrace.ErrOption, n)
	}
	return nil
}

// Trigger is the reason why a batch left.
type Trigger uint8

const (
	// TriggerSize: MaxBatch events were queued, or more than fit into MaxBatchTime, or a type had its own MaxBatch; under
	// Direct every event.
	TriggerSize Trigger = iota
	// TriggerThreshold: Threshold events ended a hold.
	TriggerThreshold
	// TriggerDelay: the oldest event had waited as long as the hold.
	TriggerDelay
	// TriggerTurn: the loop turn ended and nothing was held.
	TriggerTurn
	// TriggerPriority: a High event ended a hold.
	TriggerPriority
	// TriggerFlush: Flush was called, or policy or order changed.
	TriggerFlush
	// TriggerClose: the queue was closed.
	TriggerClose
)

func (t Trigger) String() string { return engine.Trigger(t).String() }

// Stats are the depths and totals, since the start, of one queue. Names follow the project's metrics vocabulary.
type Stats struct {
	// QueueDepth is the number of events queued now.
	QueueDepth millrace.ByPriority[int]
	QueueBytes int64
	// QueueWaitMax is the worst wait from push to leaving.
	QueueWaitMax millrace.ByPriority[time.Duration]
	// BatchHold is the hold of the open batch; 0 when none is held.
	BatchHold time.Duration
	// Policy has the estimates of the policy Adaptive, and the reason why it does not hold. Estimates are kept while
	// MaxDelay is above 0.
	Policy struct {
		// Rate is the highest rate among the types that came last, Total the rate of all, in events per ms.
		Rate, Total float64
		// BatchCost is the cost per batch and type, beside the events; EventCost is the cost per event; both measured
		// over the last second or so. HoldCost is the cost per hold, a constant.
		BatchCost, EventCost, HoldCost time.Duration
		// Utilization is the busy share of the loop, and for New the share in use of the batches that may be in flight.
		Utilization float64
		// Hold is the longest hold of the batch about which the policy was asked last.
		Hold time.Duration
		// Saving is the share of the time per event that holding was last found to save, if SavingMeasured; it may be
		// negative.
		Saving         float64
		SavingMeasured bool
		// Why is empty while batches are held, and otherwise "no delay allowed", "not asked yet", "nothing to save", "saving
		// is below the price", "comparison window", "no saving measured" or "slows its senders down".
		Why string
		// Limit bounds the events in a batch that is not held, so that it keeps the loop for at most MaxBatchTime; 0:
		// no limit but MaxBatch.
		Limit int
	}
	// PushedTotal counts accepted events, DeliveredTotal those of them that had a handler, failed or not.
	PushedTotal, DeliveredTotal, CancelledTotal uint64
	// SupersededTotal counts events whose place a newer one of their key took.
	SupersededTotal uint64
	// BatchTotal is the number of batches that left; DeliveredTotal / BatchTotal is about the mean batch_size.
	BatchTotal uint64
	// BatchTriggerTotal counts batches by trigger: BatchTriggerTotal[TriggerSize].
	BatchTriggerTotal [7]uint64
	// ErrorsTotal counts handlers that failed.
	ErrorsTotal uint64
	// UnhandledTotal counts events that had no handler and were not retained.
	UnhandledTotal uint64
	// RefusedTotal counts events that were not accepted, or not retained. Overloaded: the queue was full. Closed:
	// pushed after Close. Cancelled: discarded by Close. Retention: no room to retain it.
	RefusedTotal struct{ Overloaded, Closed, Cancelled, Retention uint64 }
	// Retained has the counters of events without a handler. Count and Bytes are those retained now; Held, Replayed and
	// Expired are totals: retained, delivered to a late handler, ended without one.
	Retained struct {
		Count                   int
		Bytes                   int64
		Held, Replayed, Expired uint64
	}
}

// Key returns the identity of a key; KeyOf makes one.
type Key[K any] func() identities[K]

// KeyOf makes a Key of a function. It runs on the caller of Do, once for each call, so the key may change later. An
// identity that is not equal to itself, such as NaN, is never shared.
func KeyOf[K any, ID comparable](identity func(key K) ID) Key[K] {
	if identity == nil {
		return nil
	}
	return func() identities[K] { return &identityMap[K, ID]{identity, map[ID]any{}} }
}

// identities finds the call that waits for a key. Calls and identities are kept as any: they have more type parameters.
type identities[K any] interface {
	// of asks the function of KeyOf, once for each call and without the lock: it may panic, and the key may change
	// later. It uses the memory of an earlier identity. Nil: equal to nothing, not even to itself, like NaN.
	of(key K, again any) any
	get(id any) any
	set(id, call any)
	remove(id any)
}

type identityMap[K any, ID comparable] struct {
	fn    func(K) ID
	calls map[ID]any
}

func (m *identityMap[K, ID]) of(key K, again any) any {
	id, _ := again.(*ID)
	if id == nil {
		id = new(ID)
	}
	if *id = m.fn(key); *id != *id {
		return nil
	}
	return id
}

func (m *identityMap[K, ID]) get(id any) any   { return m.calls[*id.(*ID)] }
func (m *identityMap[K, ID]) set(id, call any) { m.calls[*id.(*ID)] = call }
func (m *identityMap[K, ID]) remove(id any)    { delete(m.calls, *id.(*ID)) }
