// Package engine is one queue with its policy. The other files hold its parts: queue keeps and orders events, policy
// says when a batch leaves, dispatch runs handlers, retention keeps events for late ones, host names what it needs from
// outside.
//
// conformance/README.md states its rules, event by event, and every vector there passes.
package engine

import (
	"slices"
	"time"

	"millrace.dev/go"
)

// This file is the life of a batch: intake, bounds, dispatch points, switch and close.
//
// An engine owns no clock, timer, goroutine or lock. The first three are the [Host]'s, so that the same code runs on a
// virtual clock, at the end of a loop turn, and whenever a bulk function has returned; the lock is the caller's, who
// holds it in every call. Control runs one way: push, queue, dispatch point, sink. A dispatch point never nests.
//
// A push asks the host for one dispatch point (scheduled). There, run lets batches leave until nothing is due or its
// budget is used up; judge gives each its trigger, or holds the open batch (hold >= 0) and arms the host's timer.
// Flush, a switch of policy or order, and close cut what is queued into batches beforehand (cuts), which leave first.
// While a batch is with the sink (busy), or a direct push runs its handlers (nested), what handlers ask for waits until
// that is over (afterBatch).
//
// closing goes one way: open, closingDeliver (what is queued is to be cut), closingDelivering (it has been), closed; or
// from any of the first three to closingDiscard, and then closed. Only Close, Hurry, Abandon, afterBatch and finish
// change it.

type closing int8

const (
	open closing = iota
	closingDeliver
	closingDelivering
	closingDiscard
	closed
)

// batchesPerTurn may leave at one dispatch point, so that handlers that keep pushing cannot keep the loop.
const batchesPerTurn = 8

// Engine is one queue with its policy. Its methods may be called by handlers.
type Engine[T any] struct {
	host Host
	sink Sink[T]
	// The options that were set, the complete set that follows from them, and what a handler switched, to be applied
	// when the current batch is over.
	given   Options
	options Options
	pending *Options
	direct  bool

	queue    Queue[T]
	advisor  advisor[T]
	recycler recycler[T]
	seq      uint64
	counters Stats
	waits    [priorities]time.Duration // the worst wait from push to leaving

	scheduled bool // a dispatch point at the end of this turn has been asked for
	busy      bool // a batch is with the sink, or what is due before it
	missed    bool // a dispatch point came while it was: the end of the batch has to be one
	// Direct pushes that are running their handlers, one inside the other.
	nested  int
	cuts    cuts[T]
	flushTo uint64        // events up to this arrival number leave with the next batches, whatever the policy says
	budget  int           // batches that may still leave at the dispatch point that is running; 0 when none is
	hold    time.Duration // the hold that the policy gave the open batch; negative: it is not held
	again   bool          // options were set since: the policy is asked once more
	armed   bool
	// Nothing is taken any more; closing says what is left to do.
	closed    bool
	closing   closing
	abandoned bool // what was cut to be delivered by close is discarded after all
	finishing bool // finish is under way: a hook of it may close once more

	// OnHold is told when a dispatch point asked the policy and left the batch open, OnSuperseded when a newer event of its
	// key has superseded a queued one, whose data is gone afterwards. They may be nil.
	OnHold       func(hold time.Duration)
	OnSuperseded func(older *Event[T])
}

// New makes an engine, or returns a *millrace.OptionError.
func New[T any](host Host, sink Sink[T], options Options) (*Engine[T], error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	e := &Engine[T]{host: host, sink: sink, given: options, hold: never}
	e.options = options.complete()
	e.recycler.limit = keptAlways
	e.queue = Queue[T]{byType: e.options.Order == ByType, types: map[string]*Type[T]{}, sweepAt: fewTypes}
	e.advisor = newAdvisor[T](&e.options)
	e.note()
	return e, nil
}

// Queue is where types are looked up.
func (e *Engine[T]) Queue() *Queue[T] { return &e.queue }

// Options that are in force.
func (e *Engine[T]) Options() Options { return e.options }

// Pushed is the arrival number of the last event.
func (e *Engine[T]) Pushed() uint64 { return e.seq }

// Closed: no event is taken any more.
func (e *Engine[T]) Closed() bool { return e.closed }

// ---- push

// Push takes an event in, or refuses it with ErrOverload, ErrClosed or the host's error, and then nothing has changed.
// O(1). The priority may be OfType.
func (e *Engine[T]) Push(t *Type[T], data T, priority Priority, bytes int64) (Ref[T], error) {
	if e.closed {
		e.counters.RefusedTotal.Closed++
		return Ref[T]{}, millrace.ErrClosed
	}
	inside := e.host.Inside()
	if e.direct && inside {
		if !e.busy && e.queue.count == 0 {
			return e.pushDirect(t, data, priority, bytes), nil
		}
	} else if q, o := &e.queue, &e.options; q.count >= o.MaxQueue || bytes > o.MaxQueueBytes ||
		q.bytes > o.MaxQueueBytes-bytes {
		return Ref[T]{}, e.overloaded(q.count, q.bytes, bytes)
	}
	// At a dispatch point that is running, what handlers push is judged there. First, for the host may keep the time
	// that is read from then on.
	if e.budget == 0 && !(e.scheduled && inside) && (e.hold < 0 || e.mayEndHold(t, priority)) {
		if err := e.Wake(); err != nil {
			return Ref[T]{}, err
		}
	}
	event := e.stamp(t, data, priority, bytes)
	e.queue.push(event)
	if e.advisor.estimating {
		e.advisor.pushed(t)
	}
	return Ref[T]{event, event.seq}, nil
}

func (e *Engine[T]) overloaded(queued int, queuedBytes, bytes int64) error {
	e.counters.RefusedTotal.Overloaded++
	return &overload{queued, e.options.MaxQueue, queuedBytes, bytes, e.options.MaxQueueBytes}
}

// keyed is the queued event that a push with this key supersedes, or nil: keys count where events are queued, open and
// not under Direct.
func (e *Engine[T]) keyed(t *Type[T], key any) *Event[T] {
	if e.closed || e.direct {
		return nil
	}
	return e.queue.keyed(t, key)
}

// pushKeyed is Push with a key that the language can compare; `older` is what keyed returned for it, or nil: then the event
// supersedes nothing.
func (e *Engine[T]) pushKeyed(t *Type[T], key any, older *Event[T], data T, priority Priority, bytes int64) (Ref[T], error) {
	if older == nil {
		ref, err := e.Push(t, data, priority, bytes)
		if err == nil && !e.direct {
			e.queue.setKey(t, key, ref.event)
		}
		return ref, err
	}
	q, o := &e.queue, &e.options
	// It makes room.
	queued, queuedBytes := q.count-1, q.bytes-older.Bytes
	if queued >= o.MaxQueue || bytes > o.MaxQueueBytes || queuedBytes > o.MaxQueueBytes-bytes {
		return Ref[T]{}, e.overloaded(queued, queuedBytes, bytes)
	}
	if priority == OfType {
		priority = t.Priority
	}
	// There are no more events than before, so a hold goes on, unless a HIGH one has come.
	if e.budget == 0 && (priority == High && older.Priority != High || !e.host.MayHold()) {
		if err := e.Wake(); err != nil {
			return Ref[T]{}, err
		}
	}
	event := e.stamp(t, data, priority, bytes)
	if older.Priority == priority {
		q.replace(older, event)
	} else {
		q.remove(older)
		q.push(event)
	}
	q.setKey(t, key, event)
	older.stage = superseded
	e.counters.SupersededTotal++
	if e.OnSuperseded != nil {
		e.OnSuperseded(older)
	}
	// Its memory is not used again: the newer one has its number, and its Ref must not name a third one.
	*older = Event[T]{seq: older.seq, stage: superseded}
	if e.advisor.estimating {
		e.advisor.pushed(t)
	}
	return Ref[T]{event, event.seq}, nil
}

// mayEndHold tells whether one more event may end the hold of the open batch. Others need no dispatch point: a turn of the
// loop and a new timer for each would cost much of what the hold saves.
func (e *Engine[T]) mayEndHold(t *Type[T], priority Priority) bool {
	q, threshold := &e.queue, e.options.Threshold
	return priority == High || priority == OfType && t.Priority == High ||
		q.count+1 >= e.options.MaxBatch || q.fullTypes > 0 || t.count+1 >= t.maxBatch ||
		threshold > 0 && q.count+1 >= threshold || !e.host.MayHold()
}

func (e *Engine[T]) stamp(t *Type[T], data T, priority Priority, bytes int64) *Event[T] {
	event := e.recycler.get()
	if priority == OfType {
		priority = t.Priority
	}
	e.seq++
	event.Type, event.Data, event.Priority, event.Bytes = t, data, priority, bytes
	event.Time, event.seq = e.host.Now(), e.seq
	event.stage, event.grouped = queued, false
	return event
}

// pushDirect lets the event leave at once, as a batch of its own; its handlers run inside a handler that pushes.
func (e *Engine[T]) pushDirect(t *Type[T], data T, priority Priority, bytes int64) Ref[T] {
	event := e.stamp(t, data, priority, bytes)
	event.stage, event.next, event.prev = left, nil, nil
	ref := Ref[T]{event, event.seq}
	e.nested++
	e.leave(chain[T]{event, event, 1}, TriggerSize, Sample{})
	if e.nested--; e.nested == 0 {
		e.afterBatch()
		e.deliverCut()
	}
	return ref
}

// Withdraw takes a queued event back, after Close as well; false if it has left already. The event is over.
func (e *Engine[T]) Withdraw(ref Ref[T]) bool {
	event := ref.event
	if !e.queue.names(ref) {
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

// ---- dispatch points

// Turn is the end of the turn that the host was asked for.
func (e *Engine[T]) Turn() {
	if e.scheduled {
		e.scheduled = false
		e.begin()
	}
}

// HoldEnded: the time that the host was asked for has come; being early does no harm.
func (e *Engine[T]) HoldEnded() {
	e.armed = false
	oldest := e.queue.oldest()
	if oldest == nil || e.hold < 0 {
		return
	}
	// The event that the hold began with was cancelled, or the timer came early.
	if deadline := oldest.Time + e.hold; deadline <= e.host.Now() || !e.arm(deadline) {
		e.begin()
	}
}

func (e *Engine[T]) arm(deadline time.Duration) bool {
	e.armed = e.host.Arm(deadline) == nil
	return e.armed
}

// Wake asks for a dispatch point at the end of this turn: something became due without a push.
func (e *Engine[T]) Wake() error {
	if e.closing == closed || e.scheduled && e.host.Alive() {
		return nil
	}
	err := e.host.Schedule()
	// An earlier call is not forgotten: whoever closed the host may still make it.
	e.scheduled = e.scheduled || err == nil
	return err
}

func (e *Engine[T]) begin() {
	if e.busy {
		e.missed = true
		return
	}
	e.missed = false
	now := e.host.Now()
	e.advisor.fold(now)
	e.recycler.point(e.queue.count)
	e.budget = batchesPerTurn
	if e.closing != closingDiscard {
		e.prepare(now)
	}
	e.run()
}

// run lets batches leave until nothing is due, the budget is used up, or the sink needs time.
func (e *Engine[T]) run() {
	for {
		if !e.deliverCut() {
			return
		}
		if e.queue.count == 0 {
			break
		}
		if e.direct {
			e.cutOneByOne()
			continue
		}
		if e.budget == 0 {
			// A host that takes no calls any more has no later dispatch point.
			if e.Wake() == nil {
				return
			}
			e.budget = batchesPerTurn
		}
		trigger, leaves := e.judge()
		if !leaves {
			break
		}
		e.budget--
		// A batch that was not held may be too large for the loop.
		bounded := e.hold <= 0 && trigger != TriggerFlush
		// A window that does not hold shows what not holding costs; trials of the limit would make it look dearer.
		limits := bounded && !(e.hold == 0 && e.advisor.compares())
		limit, most := e.options.MaxBatch, e.options.MaxBatch
		if bounded {
			limit = e.advisor.limit
		}
		batch := e.take(limit)
		e.endHold()
		if limit < most && batch.count == limit && e.queue.count > 0 {
			// The loop gets its turn before the rest.
			e.budget = 0
		}
		if !e.handOn(batch, trigger, e.advisor.sample(batch.count, limits)) {
			return
		}
	}
	e.budget = 0
}

// Delivered: the sink has finished the batch for which it returned false.
func (e *Engine[T]) Delivered() {
	e.busy = false
	e.advisor.fold(e.host.Now())
	e.afterBatch()
	if e.missed && !e.closed {
		e.begin()
		return
	}
	if e.budget == 0 {
		// Not within a dispatch point: this is one.
		e.budget = batchesPerTurn
	}
	e.run()
}

// judge says what the open batch leaves with, or that it stays open.
func (e *Engine[T]) judge() (Trigger, bool) {
	q, o := &e.queue, &e.options
	if e.flushTo > 0 && q.oldest().seq <= e.flushTo {
		return TriggerFlush, true
	}
	if q.count >= o.MaxBatch || q.fullTypes > 0 {
		return TriggerSize, true
	}
	now := e.host.Now()
	asked := e.hold < 0 || e.again
	if asked {
		e.hold, e.again = e.advisor.hold(e.host, now, e.seq), false
	}
	switch {
	case e.hold == 0 && q.count > e.advisor.limit:
		return TriggerSize, true
	case e.hold == 0:
		return TriggerTurn, true
	case q.depth[High] > 0:
		return TriggerPriority, true
	case o.Threshold > 0 && q.count >= o.Threshold:
		return TriggerThreshold, true
	}
	deadline := q.oldest().Time + e.hold
	if deadline <= now {
		return TriggerDelay, true
	}
	if !e.arm(deadline) {
		return TriggerFlush, true
	}
	if asked && e.OnHold != nil {
		e.OnHold(e.hold)
	}
	return 0, false
}

func (e *Engine[T]) endHold() {
	e.hold, e.again = never, false
	if e.armed {
		e.armed = false
		// Taking a request back does not fail.
		_ = e.host.Arm(never)
	}
}

// take takes a batch out of the queue and notes how long its events have waited.
func (e *Engine[T]) take(limit int) chain[T] {
	now := e.host.Now()
	batch := e.queue.take(limit, now, e.options.MaxDeferral)
	for p, pushed := range e.queue.taken {
		if pushed != noTime {
			e.waits[p] = max(e.waits[p], now-pushed)
		}
	}
	return batch
}

// handOn gives a batch to the sink; false when that needs time.
func (e *Engine[T]) handOn(batch chain[T], trigger Trigger, sample Sample) bool {
	e.busy = true
	if !e.leave(batch, trigger, sample) {
		return false
	}
	e.busy = false
	e.afterBatch()
	return true
}

func (e *Engine[T]) leave(batch chain[T], trigger Trigger, sample Sample) bool {
	e.counters.BatchTotal++
	e.counters.BatchTriggerTotal[trigger]++
	e.advisor.left += uint64(batch.count)
	return e.sink.Deliver(Batch[T]{trigger, batch.first, batch.count, sample})
}

// Spent says for how long the handlers had a batch of so many events.
func (e *Engine[T]) Spent(sample Sample, events int, took time.Duration) {
	e.advisor.spent(sample, events, took, e.host.Clock())
}

// prepare lets the sink do what is due before anything leaves; its handlers may do what those of a batch may.
func (e *Engine[T]) prepare(now time.Duration) {
	// Under Direct, what its handlers push runs inside the push, as always; otherwise it has to wait.
	direct := e.direct
	if direct {
		e.nested++
	} else {
		e.busy = true
	}
	returned := false
	defer func() {
		if !returned {
			e.interrupted(nil)
		}
	}()
	e.sink.Prepare(now)
	returned = true
	if direct {
		e.nested--
	} else {
		e.busy = false
	}
	e.afterBatch()
}

// afterBatch does what handlers asked for while their batch was running.
func (e *Engine[T]) afterBatch() {
	if e.pending != nil {
		// Batches that were cut under the old options leave under them.
		if !e.cuts.empty() {
			return
		}
		changes := *e.pending
		e.pending = nil
		e.switchTo(changes)
	}
	if e.closing == closingDeliver {
		e.closing = closingDelivering
		e.cutAll(TriggerClose)
	}
}

func (e *Engine[T]) inHandler() bool { return e.busy || e.nested > 0 }

// ---- batches that were cut beforehand

// cut is a batch that was cut by flush, close or a switch and has not left yet.
type cut[T any] struct {
	events  chain[T]
	trigger Trigger
	prepare bool // does what is due first: stands before each series, without events
	// The rest of a batch that left already.
	resumed bool
}

// cuts are taken from the front; the slice is used again when it is empty.
type cuts[T any] struct {
	all   []cut[T]
	taken int
}

func (c *cuts[T]) empty() bool { return c.taken == len(c.all) }

func (c *cuts[T]) next() cut[T] {
	one := c.all[c.taken]
	c.all[c.taken] = cut[T]{}
	if c.taken++; c.empty() {
		c.all, c.taken = c.all[:0], 0
	}
	return one
}

// deliverCut hands on the batches that were cut beforehand. False when the sink needs time.
func (e *Engine[T]) deliverCut() bool {
	for !e.cuts.empty() && !e.abandoned {
		one := e.cuts.next()
		switch {
		case one.prepare:
			e.prepare(e.host.Now())
		case one.resumed:
			e.busy = true
			e.sink.(resumer[T]).resume(one.events.first)
			e.busy = false
			e.afterBatch()
		case !e.handOn(one.events, one.trigger, Sample{}):
			return false
		}
	}
	if e.closing == closingDelivering || e.closing == closingDiscard {
		e.finish()
	}
	return true
}

// cutAll cuts everything queued into batches that leave for this reason.
func (e *Engine[T]) cutAll(trigger Trigger) {
	e.recycler.point(e.queue.count)
	e.cuts.all = append(e.cuts.all, cut[T]{prepare: true})
	for e.queue.count > 0 {
		e.cuts.all = append(e.cuts.all, cut[T]{events: e.take(e.options.MaxBatch), trigger: trigger})
	}
	e.endHold()
}

// cutOneByOne: under Direct, a switch cut batches, and their handlers pushed. That leaves as if pushed just now.
func (e *Engine[T]) cutOneByOne() {
	for event := e.take(e.queue.count).first; event != nil; {
		next := event.next
		event.next = nil
		e.cuts.all = append(e.cuts.all, cut[T]{events: chain[T]{event, event, 1}, trigger: TriggerSize})
		event = next
	}
}

// Flush delivers what is queued now: inside this call; in a handler, after its batch; from elsewhere as FlushSoon.
func (e *Engine[T]) Flush() error {
	switch {
	case e.closing != open:
		return nil
	case !e.host.Inside():
		return e.FlushSoon()
	}
	e.cutAll(TriggerFlush)
	e.drainCuts()
	return nil
}

// FlushSoon lets what is queued now leave at the next dispatch point; an error says that there is none. Until then it
// counts as queued, so that the bounds apply however often somebody flushes; what comes meanwhile may leave with it.
func (e *Engine[T]) FlushSoon() error {
	if e.closing != open {
		return nil
	}
	if e.budget == 0 {
		if err := e.Wake(); err != nil {
			return err
		}
	}
	e.flushTo = e.seq
	return nil
}

func (e *Engine[T]) drainCuts() {
	if e.inHandler() || !e.deliverCut() {
		return
	}
	// Under Direct what the handlers pushed must not stay behind.
	if e.direct && !e.busy {
		e.run()
	}
}

// resumer is a sink whose handlers may end their goroutine, and a batch with it.
type resumer[T any] interface {
	resume(rest *Event[T])
}

// interrupted: the goroutine that was delivering is ending (runtime.Goexit), and the engine's calls on its stack do not
// go on. What is left of its batch comes first at the next dispatch point.
func (e *Engine[T]) interrupted(rest *Event[T]) {
	if rest != nil {
		e.cuts.all = slices.Insert(e.cuts.all, e.cuts.taken, cut[T]{events: chain[T]{first: rest}, resumed: true})
	}
	e.busy, e.missed, e.nested, e.budget = false, false, 0, 0
	// Without a host that takes calls nothing can go on.
	_ = e.Wake()
}

// ---- switch and close

// Set changes the options that are given, or returns a *millrace.OptionError, and then nothing has changed. A change of
// policy or order flushes first.
func (e *Engine[T]) Set(changes Options) error {
	if err := changes.Check(); err != nil {
		return err
	}
	if e.closing != open {
		return millrace.ErrClosed
	}
	coming, later := e.options, changes
	if e.pending != nil {
		coming, later = coming.with(*e.pending), e.pending.with(changes)
	}
	isSwitch := changes.Policy != 0 && changes.Policy != coming.Policy || changes.Order != 0 && changes.Order != coming.Order
	switch {
	case !isSwitch:
		// These two are as they are, or on their way: see pending.
		changes.Policy, changes.Order = 0, 0
		e.apply(changes)
		e.again = e.hold >= 0
		// A switch that is still to come must not undo what is set here.
		if e.pending != nil {
			e.pending = &later
		}
		if e.queue.count > 0 && e.budget == 0 {
			return e.Wake()
		}
	case e.inHandler():
		e.pending = &later
	case !e.host.Inside():
		e.pending = &later
		return e.Wake()
	default:
		e.switchTo(changes)
		e.drainCuts()
	}
	return nil
}

// switchTo cuts what is queued under the old options and applies the new ones.
func (e *Engine[T]) switchTo(changes Options) {
	e.cutAll(TriggerFlush)
	order := e.options.Order
	e.apply(changes)
	if order != e.options.Order {
		e.queue.reorder(e.options.Order)
	}
}

func (e *Engine[T]) apply(changes Options) {
	e.given = e.given.with(changes)
	e.options = e.given.complete()
	e.note()
}

func (e *Engine[T]) note() {
	e.direct = e.options.Policy == Direct
	e.advisor.configure()
}

// Close delivers what is queued, or discards it, and refuses every later push. Closing again does nothing. An error
// says that the host takes no calls any more: everything queued has been discarded.
func (e *Engine[T]) Close(discard bool) error {
	if e.closing != open {
		return nil
	}
	e.closed, e.closing = true, closingDeliver
	if discard {
		e.closing = closingDiscard
	}
	return e.goOnClosing()
}

// Hurry discards what a close under way has not delivered yet, when it would deliver it. Errors as for Close.
func (e *Engine[T]) Hurry() error {
	if e.closing == open || e.closing == closed {
		return nil
	}
	e.closing, e.abandoned = closingDiscard, true
	return e.goOnClosing()
}

func (e *Engine[T]) goOnClosing() error {
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
// This run sees changes that a hook makes to the engine meanwhile.
func (e *Engine[T]) finish() {
	if e.finishing {
		return
	}
	e.finishing = true
	ended := false
	defer func() {
		e.finishing = false
		if !ended {
			e.finish()
		}
	}()
	for e.closing == closingDiscard && e.queue.count > 0 {
		e.cuts.all = append(e.cuts.all, cut[T]{events: e.queue.take(e.options.MaxBatch, e.host.Now(), e.options.MaxDeferral)})
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

func (e *Engine[T]) discard(event *Event[T]) {
	e.counters.RefusedTotal.Cancelled++
	e.sink.Discard(event)
	e.Recycle(event)
}

// Abandon discards at once what a close under way has not delivered yet.
func (e *Engine[T]) Abandon() {
	if e.closing == open || e.closing == closed {
		return
	}
	// If a call that was asked for comes after all, it finds nothing to do.
	e.scheduled = false
	e.closing = closingDiscard
	e.finish()
}
