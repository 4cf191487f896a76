package batch

import (
	"fmt"
	"strings"
	"time"

	"millrace.dev/go/batch/internal/engine"
)

// Policy says when a batch leaves.
type Policy = engine.PolicyName

const (
	// Adaptive (the default): at once when idle, at the end of the turn when busy; held up to WithMaxDelay only while
	// that pays.
	Adaptive = engine.Adaptive
	// Fixed: when full, or WithMaxDelay after its oldest event. A predictable cadence.
	Fixed = engine.Fixed
	// Direct: each event on its own, with no batching. The control arm of a comparison, and a kill switch.
	Direct = engine.Direct
)

// Order of the events in a batch, within a priority.
type Order = engine.Order

const (
	// ByArrival is the default.
	ByArrival = engine.ByArrival
	// ByType groups a batch by type, the type with the oldest event first.
	ByType = engine.ByType
)

// Hold says whether holding tunes itself, under Adaptive.
type Hold = engine.Hold

const (
	// HoldTuned (the default) stops holding that does not bring more events into a batch, and tries again later.
	HoldTuned = engine.Tuned
	// HoldAlways goes on.
	HoldAlways = engine.Always
)

// Priority is the class of an event: High leaves first and ends any hold; when a limit cuts a batch, Normal and Low
// share what High leaves 8 to 1. No class starves: see WithMaxDeferral.
type Priority = engine.Priority

// The priorities, the first one first.
const (
	High   = engine.High
	Normal = engine.Normal
	Low    = engine.Low
)

// Trigger is the reason why a batch left.
type Trigger = engine.Trigger

// The triggers: the batch was full, had reached the threshold or its delay; the turn was over, a High event came; Flush
// and Close were called.
const (
	TriggerSize      = engine.TriggerSize
	TriggerThreshold = engine.TriggerThreshold
	TriggerDelay     = engine.TriggerDelay
	TriggerTurn      = engine.TriggerTurn
	TriggerPriority  = engine.TriggerPriority
	TriggerFlush     = engine.TriggerFlush
	TriggerClose     = engine.TriggerClose
)

// Retain is how events without a handler are kept for one that registers late. Fields that are zero stand for their
// defaults: ReplayFirst, 1000 events, 1 MiB, one minute; each bound is for one type.
type Retain = engine.Retain

const (
	// ReplayFirst gives retained events to the first handler that registers.
	ReplayFirst = engine.ReplayFirst
	// ReplayEach gives them to every handler that registers until their age is reached.
	ReplayEach = engine.ReplayEach
)

// Stats are the depths and totals of one queue.
type Stats = engine.Stats

// Option is a setting. Which ones a function takes is in its comment; docs/go-batch.md has the table.
type Option struct {
	name  string
	where where
	apply func(*settings) error
}

// where an option has a meaning.
type where uint8

const (
	ofQueue   where = 1 << iota // New, NewEmitter and Set
	ofTypes                     // NewEmitter and Set: it needs several types or priorities
	ofEmitter                   // NewEmitter
	ofBatcher                   // New
	ofType                      // SetType
	ofEvent                     // Push
)

func (w where) String() string {
	return map[where]string{
		ofQueue | ofTypes: "Set", ofQueue | ofTypes | ofEmitter: "NewEmitter", ofQueue | ofBatcher: "New",
		ofType: "SetType", ofEvent: "Push",
	}[w]
}

// settings are what options set. Functions of a type parameter are kept as any, and checked where they are used.
type settings struct {
	changes     engine.Changes
	concurrency int
	key, keyFn  any
	size        any
	lost        any
	failed      func(error)
	priority    Priority
	bytes       int64
	maxBatch    int // 0: not given
	retain      *Retain
	retainGiven bool
}

func read(options []Option, at where) (settings, error) {
	s := settings{concurrency: 1, priority: engine.OfType, bytes: -1}
	for _, option := range options {
		if option.apply == nil {
			return s, fmt.Errorf("%w: an Option that is empty; make options with the With… functions", ErrOption)
		}
		if option.where&at == 0 {
			return s, fmt.Errorf("%w: %s is no option of %v", ErrOption, option.name, at)
		}
		if err := option.apply(&s); err != nil {
			return s, err
		}
	}
	if err := s.changes.Check(); err != nil {
		return s, err
	}
	if at&ofType != 0 && s.maxBatch != 0 {
		return s, engine.CheckMaxBatch(s.maxBatch)
	}
	return s, nil
}

func queueOption(name string, has engine.Fields, set func(*engine.Options)) Option {
	return Option{name, ofQueue, func(s *settings) error {
		s.changes.Has |= has
		set(&s.changes.Options)
		return nil
	}}
}

// WithPolicy says when a batch leaves: Adaptive (the default), Fixed or Direct.
func WithPolicy(p Policy) Option {
	return queueOption("WithPolicy", engine.HasPolicy, func(o *engine.Options) { o.Policy = p })
}

// WithOrder, for NewEmitter and Set, is the order within a batch: ByArrival (the default) or ByType, to have the events
// of a type together.
func WithOrder(order Order) Option {
	option := queueOption("WithOrder", engine.HasOrder, func(o *engine.Options) { o.Order = order })
	option.where = ofTypes
	return option
}

// WithHold, under Adaptive: HoldTuned (the default) or HoldAlways, to hold although it does not pay.
func WithHold(hold Hold) Option {
	return queueOption("WithHold", engine.HasHold, func(o *engine.Options) { o.Hold = hold })
}

// WithMaxBatch bounds a batch: 1 to 1,000,000 events or calls, by default 1024. For SetType: how many events of the
// type a batch can hold, by default no limit of its own.
func WithMaxBatch(n int) Option {
	option := queueOption("WithMaxBatch", engine.HasMaxBatch, func(o *engine.Options) { o.MaxBatch = n })
	inner := option.apply
	option.where |= ofType
	option.apply = func(s *settings) error {
		s.maxBatch = n
		if n == 0 {
			return engine.CheckMaxBatch(n)
		}
		return inner(s)
	}
	return option
}

// WithMaxDelay is the longest hold, from the push of the oldest event in a batch: 0 to a minute, by default 0, and 50
// ms under Fixed. Under Adaptive it is used only while the loop, or the bulk function, is busy for more than 60 % of
// the time, more is expected, and holding has paid.
func WithMaxDelay(d time.Duration) Option {
	return queueOption("WithMaxDelay", engine.HasMaxDelay, func(o *engine.Options) { o.MaxDelay = d })
}

// WithThreshold ends a hold at that many queued events: 0 (off, the default) to 1,000,000.
func WithThreshold(n int) Option {
	return queueOption("WithThreshold", engine.HasThreshold, func(o *engine.Options) { o.Threshold = n })
}

// WithMaxQueue bounds what may wait: 1 to 100,000,000 events or calls, by default 65,536. One more is refused with
// ErrOverload. Under Direct nothing waits: events emitted on the loop, and the keys of a Batcher, have no bound.
func WithMaxQueue(n int) Option {
	return queueOption("WithMaxQueue", engine.HasMaxQueue, func(o *engine.Options) { o.MaxQueue = n })
}

// WithMaxQueueBytes is the same in bytes, as far as WithSize or WithBytes give them: 1 to 2^53-1, by default 64 MiB.
func WithMaxQueueBytes(n int64) Option {
	return queueOption("WithMaxQueueBytes", engine.HasMaxQueueBytes, func(o *engine.Options) { o.MaxQueueBytes = n })
}

// WithMaxDeferral, for NewEmitter and Set, is the wait after which an event counts as one class higher, and again after
// the next: 0 to an hour, by default 100 ms.
func WithMaxDeferral(d time.Duration) Option {
	option := queueOption("WithMaxDeferral", engine.HasMaxDeferral, func(o *engine.Options) { o.MaxDeferral = d })
	option.where = ofTypes
	return option
}

// WithConcurrency, for New: how many batches may be in flight at once, 1 to 65,536, by default 1. While that many are,
// calls gather; one gathers best. Under Direct it has no effect.
func WithConcurrency(n int) Option {
	return Option{"WithConcurrency", ofBatcher, func(s *settings) error {
		s.concurrency = n
		if n < 1 || n > 65_536 {
			return &engine.OptionError{Name: "Concurrency", Value: n, Allowed: "from 1 to 65536"}
		}
		return nil
	}}
}

// WithKey, for New: calls whose identities are equal and which wait for the same batch share one key and its result.
// They take no place in the queue; as many of them may wait as WithMaxQueue says. The function runs on the caller of
// Do, once for each call, so the key may change later. An identity that is not equal to itself, such as NaN, is never
// shared.
func WithKey[K any, ID comparable](identity func(key K) ID) Option {
	return Option{"WithKey", ofBatcher, func(s *settings) error {
		s.key, s.keyFn = newIdentities(identity), identity
		return noNil("WithKey", identity == nil)
	}}
}

// WithSize, for New, NewEmitter and SetType: the bytes of a key or of an event's data, at least 0, towards
// WithMaxQueueBytes and Retain.MaxBytes. It runs on the caller of Do, Emit or Push. Default: 0 bytes.
func WithSize[T any](size func(T) int) Option {
	return Option{"WithSize", ofBatcher | ofEmitter | ofType, func(s *settings) error {
		s.size = size
		return noNil("WithSize", size == nil)
	}}
}

// WithRetain, for NewEmitter (all types that have no setting of their own) and SetType: keep events without a handler.
// Default: they end, counted as unhandled. To turn it off for one type: WithoutRetain.
func WithRetain(retain Retain) Option {
	return Option{"WithRetain", ofEmitter | ofType, func(s *settings) error {
		fill(&retain.Max, engine.RetainDefaults.Max)
		fill(&retain.MaxBytes, engine.RetainDefaults.MaxBytes)
		fill(&retain.MaxAge, engine.RetainDefaults.MaxAge)
		s.retain, s.retainGiven = &retain, true
		return retain.Check()
	}}
}

func fill[N comparable](field *N, value N) {
	var zero N
	if *field == zero {
		*field = value
	}
}

// WithoutRetain, for SetType: its events are not kept, whatever the emitter's are; those that are expire.
func WithoutRetain() Option {
	return Option{"WithoutRetain", ofType, func(s *settings) error {
		s.retain, s.retainGiven = nil, true
		return nil
	}}
}

// WithPriority, for SetType (of later events) and Push (of this one). Default: by the name of the type: signal, process
// and async are High; idle, work and background Low; all others Normal.
func WithPriority(p Priority) Option {
	return Option{"WithPriority", ofType | ofEvent, func(s *settings) error {
		s.priority = p
		if p < High || p > Low {
			return &engine.OptionError{Name: "Priority", Value: int(p), Allowed: "High, Normal or Low"}
		}
		return nil
	}}
}

// WithBytes, for Push: the event's size, in place of what WithSize would say. At least 0.
func WithBytes(n int) Option {
	return Option{"WithBytes", ofEvent, func(s *settings) error {
		s.bytes = int64(n)
		return checkBytes(n)
	}}
}

// WithErrorHandler, for NewEmitter: told of each event for which a handler failed, by a *HandlerError. It runs on the
// loop. Default: slog.Error.
func WithErrorHandler(handler func(error)) Option {
	return Option{"WithErrorHandler", ofEmitter, func(s *settings) error {
		s.failed = handler
		return noNil("WithErrorHandler", handler == nil)
	}}
}

// Lost is an event that was accepted and ended without a handler.
type Lost[T any] struct {
	Type string
	Data T
	// Why is ErrUnhandled, ErrRetention, ErrExpired or ErrCancelled.
	Why error
}

// WithLost, for NewEmitter: told of each event that was accepted and ended without a handler. It runs on the loop, or
// on the caller of what ended it: a Close after that of the loop, or a SetType with WithoutRetain. Default: one
// warning by slog for each reason but ErrUnhandled; all are counted in Stats.
func WithLost[T any](hook func(Lost[T])) Option {
	return Option{"WithLost", ofEmitter, func(s *settings) error {
		s.lost = hook
		return noNil("WithLost", hook == nil)
	}}
}

func noNil(name string, isNil bool) error {
	if isNil {
		return fmt.Errorf("%w: %s(nil): leave the option out for the default", ErrOption, name)
	}
	return nil
}

func checkBytes(n int) error {
	if n < 0 {
		return fmt.Errorf("%w: a size of %d bytes; it must be at least 0", ErrOption, n)
	}
	return nil
}

// typed is an option's function, if it was given and is of the type that is needed.
func typed[F any](name string, given any) (F, error) {
	fn, is := given.(F)
	if given != nil && !is {
		return fn, wrongType(name, given, nameOf[F]())
	}
	return fn, nil
}

func wrongType(name string, given any, needed string) error {
	return fmt.Errorf("%w: the function of %s is a %T, where a %s is needed", ErrOption, name, given, needed)
}

func nameOf[T any]() string { return strings.TrimPrefix(fmt.Sprintf("%T", new(T)), "*") }
