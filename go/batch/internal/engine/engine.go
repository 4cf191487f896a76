package engine

import "time"

type closing int8

const (
	open closing = iota
	// closingDeliver: what is queued is to be cut; closingDelivering: it has been.
	closingDeliver
	closingDelivering
	closingDiscard
	closed
)

// Engine is one queue with its policy. Its methods may be called by handlers.
type Engine[T any] struct {
	host Host
	sink Sink[T]
	// The options that were set, the complete set that follows from them, and what a handler switched, to be applied
	// when the current batch is over.
	given   Changes
	options Options
	pending Changes
	direct  bool

	queue    Queue[T]
	advisor  advisor[T]
	recycler recycler[T]
	seq      uint64
	counters Stats

	// A dispatch point at the end of this turn has been asked for.
	scheduled bool
	// A batch is with the sink, or what is due before it.
	busy bool
	// A dispatch point came while it was: the end of the batch has to be one.
	missed bool
	// Direct pushes that are running their handlers, one inside the other.
	nested int
	cuts   cuts[T]
	// Events up to this arrival number leave with the next batches, whatever the policy says.
	flushTo uint64
	// Batches that may still leave at the dispatch point that is running; 0 when none is.
	budget int
	// Whether that one may ask the policy about the open batch.
	ask bool
	// The hold that the policy gave the open batch; negative: it was not held.
	hold time.Duration
	// Events queued when the hold of the open batch began.
	heldFrom int
	armed    bool
	// Nothing is taken any more; closing says what is left to do.
	closed  bool
	closing closing

	// OnHold is told when a dispatch point asked the policy and left the batch open. It may be nil.
	OnHold func(hold time.Duration)
}

// New makes an engine, or returns an *OptionError.
func New[T any](host Host, sink Sink[T], options Changes) (*Engine[T], error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	e := &Engine[T]{host: host, sink: sink, given: options, hold: never}
	e.options = options.complete()
	e.recycler.limit = keptAlways
	e.queue.init(e.options.Order)
	e.advisor.init()
	e.note()
	return e, nil
}

// Queue is where types are looked up.
func (e *Engine[T]) Queue() *Queue[T] { return &e.queue }

// Options that are in force.
func (e *Engine[T]) Options() Options { return e.options }

// Count is the number of queued events, Pushed that of all that were taken in.
func (e *Engine[T]) Count() int { return e.queue.count }

// Pushed is the arrival number of the last event.
func (e *Engine[T]) Pushed() uint64 { return e.seq }

// Closed: no event is taken any more.
func (e *Engine[T]) Closed() bool { return e.closed }

// Cancel takes a queued event back; false if it has left already, or after Close. The event is over.
func (e *Engine[T]) Cancel(ref Ref[T]) bool { return !e.closed && e.Withdraw(ref) }

// Withdraw is Cancel, but it works after Close as well.
func (e *Engine[T]) Withdraw(ref Ref[T]) bool {
	event := ref.event
	if event == nil || event.seq != ref.seq || !e.queue.has(event) {
		return false
	}
	e.queue.remove(event)
	event.stage = cancelled
	e.counters.CancelledTotal++
	e.Recycle(event)
	if e.queue.count == 0 {
		e.endHold()
	}
	return true
}

// Recycle takes an event that is over.
func (e *Engine[T]) Recycle(event *Event[T]) {
	var none T
	event.Data, event.next, event.prev = none, nil, nil
	e.recycler.put(chain[T]{event, event, 1})
}

// Set changes options, or returns an *OptionError, and then nothing has changed. A change of policy or order flushes
// first.
func (e *Engine[T]) Set(changes Changes) error {
	if err := changes.Check(); err != nil {
		return err
	}
	if e.closing != open {
		return ErrClosed
	}
	coming := e.options
	coming.apply(&e.pending)
	isSwitch := changes.Has&HasPolicy != 0 && changes.Policy != coming.Policy ||
		changes.Has&HasOrder != 0 && changes.Order != coming.Order
	switch {
	case !isSwitch:
		// These two are as they are, or on their way: see pending.
		changes.Has &^= HasPolicy | HasOrder
		e.apply(&changes)
		// A switch that is still to come must not undo what is set here.
		if e.pending.Has != 0 {
			e.pending.merge(&changes)
		}
		if e.queue.count > 0 && e.budget == 0 {
			return e.Wake()
		}
	case e.inHandler():
		e.pending.merge(&changes)
	case !e.host.Inside():
		e.pending.merge(&changes)
		return e.Wake()
	default:
		e.switchTo(&changes)
		e.drainCuts()
	}
	return nil
}

// switchTo cuts what is queued under the old options and applies the new ones.
func (e *Engine[T]) switchTo(changes *Changes) {
	e.cutAll(TriggerFlush)
	order := e.options.Order
	e.apply(changes)
	if order != e.options.Order {
		e.queue.reorder(e.options.Order)
	}
}

func (e *Engine[T]) apply(changes *Changes) {
	e.given.merge(changes)
	e.options = e.given.complete()
	e.note()
}

func (e *Engine[T]) note() {
	e.direct = e.options.Policy == Direct
	e.advisor.configure(&e.options)
}

// Close delivers what is queued, or discards it, and refuses every later push. Closing again does nothing. An error
// says that the host takes no calls any more: everything queued has been discarded.
func (e *Engine[T]) Close(discard bool) error {
	if e.closing != open {
		return nil
	}
	e.closed = true
	e.closing = closingDeliver
	if discard {
		e.closing = closingDiscard
	}
	if e.inHandler() {
		return nil
	}
	if !e.host.Inside() {
		err := e.Wake()
		if err != nil {
			e.Abandon()
		}
		return err
	}
	e.afterBatch()
	e.deliverCut()
	return nil
}

// finish ends what is left, one event after the other: a hook that ends its goroutine takes no other event with it.
func (e *Engine[T]) finish() {
	ended := false
	defer func() {
		if !ended {
			e.finish()
		}
	}()
	for e.closing == closingDiscard && e.queue.count > 0 {
		e.cuts.append(cut[T]{events: e.queue.take(e.options.MaxBatch, e.host.Now(), e.options.MaxDeferral)})
	}
	for !e.cuts.empty() {
		rest := &e.cuts.all[e.cuts.taken].events
		if event := rest.first; event != nil {
			rest.first = event.next
			e.discard(event)
		} else {
			e.cuts.next()
		}
	}
	if e.closing != closed {
		e.closing = closed
		e.endHold()
	}
	e.sink.End()
	ended = true
}

// Counters are the totals, for sinks that count themselves.
func (e *Engine[T]) Counters() *Stats { return &e.counters }

// Abandon discards what a close under way has not delivered yet.
func (e *Engine[T]) Abandon() {
	if e.closing == open || e.closing == closed {
		return
	}
	// If a call that was asked for comes after all, it finds nothing to do.
	e.scheduled = false
	e.closing = closingDiscard
	e.finish()
}

func (e *Engine[T]) discard(event *Event[T]) {
	e.counters.RefusedTotal.Cancelled++
	e.sink.Discard(event)
	e.Recycle(event)
}
