package engine

import (
	"slices"
	"sync"
	"time"

	"millrace.dev/go/internal/inner"
)

// Loss is how an event can end without a handler.
type Loss int8

const (
	// Unhandled: there was none, and the type does not retain.
	Unhandled Loss = iota
	// NotRetained: there was none, and no room to retain it.
	NotRetained
	// Expired, Ended, TurnedOff: retained until its age was reached, the queue closed, its type's retention went off.
	Expired
	Ended
	TurnedOff
	// Discarded by Close.
	Discarded
)

// Hooks are told of what happens to events. Each may be nil.
type Hooks[T any] struct {
	// Failed: a handler failed for the event. Lost: it ended without one. Both are called without the lock and must not
	// panic. The event is theirs until they return.
	Failed func(err error, event *Event[T])
	Lost   func(event *Event[T], why Loss)
	// The others are for tests, and called with the lock held: a batch leaves; an event is retained, or is about to be
	// given to a late handler.
	Batch          func(batch Batch[T])
	Held, Replayed func(event *Event[T])
	// ArmExpiry asks for one call of Expire at this time; negative: takes it back.
	ArmExpiry func(deadline time.Duration)
	// End: the queue is closed and everything is over.
	End func()
}

// Dispatcher is the sink that hands the events of a batch to handlers, one after the other: it looks handlers up when
// an event's turn comes, lets a failure concern its event alone, retains or counts what nobody handles, and replays
// what was retained. The lock is held in all of its methods, and not while a handler or a hook runs.
//
// A batch on its way is a delivery: rest is what has not had its turn, current the event whose handlers run, over what
// is done with. The usual event costs one atomic load (Type.ready) and its handlers, without the lock; one recover
// serves a whole batch until a handler fails. Events whose type has something due, a handler for once, or none go
// through deliverSpecial. If a handler ends its goroutine, the engine gets the rest back as a batch to resume.
type Dispatcher[T any] struct {
	engine *Engine[T]
	lock   sync.Locker
	hooks  Hooks[T]
	retention[T]
}

// NewDispatcher makes a dispatcher. With `retain`, types without a setting of their own retain like that.
func NewDispatcher[T any](lock sync.Locker, hooks Hooks[T], retain *Retain) *Dispatcher[T] {
	return &Dispatcher[T]{lock: lock, hooks: hooks, retention: retention[T]{fallback: retain, deadline: never}}
}

// Attach names the engine, which is made with its sink.
func (d *Dispatcher[T]) Attach(e *Engine[T]) { d.engine = e }

// PushKeyed is the engine's Push, with a key that the language can compare: the event supersedes the queued one of its
// type and key, or is merged with it. O(1), and the type's merge, which runs without the lock.
func (d *Dispatcher[T]) PushKeyed(t *Type[T], key any, data T, priority Priority, bytes int64) (Ref[T], error) {
	e := d.engine
	for {
		older := e.keyed(t, key)
		if older == nil || t.merge == nil {
			return e.pushKeyed(t, key, older, data, priority, bytes)
		}
		ref := Ref[T]{older, older.seq}
		merged, size, failure := d.merged(t.merge, older.Data, data, bytes)
		if failure != nil {
			// Both stay, and it is the newer one that the next event of the key supersedes.
			newer, err := e.pushKeyed(t, key, nil, data, priority, bytes)
			if err == nil {
				// The event itself may leave while the hook runs.
				d.failed(failure, &Event[T]{Type: t, Data: data})
			}
			return newer, err
		}
		// Meanwhile other goroutines may have pushed, or the event may have left: then once more, with the one that is there.
		if e.keyed(t, key) == older && e.queue.names(ref) {
			return e.pushKeyed(t, key, older, merged, priority, size)
		}
	}
}

func (d *Dispatcher[T]) merged(merge Merge[T], older, newer T, bytes int64) (data T, size int64, err error) {
	d.lock.Unlock()
	returned := false
	defer func() {
		if !returned {
			err = inner.Caught(recover())
		}
		d.lock.Lock()
	}()
	data, size, err = merge(older, newer, bytes)
	returned = true
	return data, size, err
}

// Prepare is the sink's: what is due before anything leaves.
func (d *Dispatcher[T]) Prepare(now time.Duration) {
	d.expire(now)
	d.replayDue()
}

// delivery is a batch on its way through its handlers.
type delivery[T any] struct {
	trigger Trigger
	rest    *Event[T]
	// The event whose turn it is.
	current   *Event[T]
	over      chain[T]
	delivered uint64
	linked    bool // events are linked by type
	// The lock is held, as it is not while a handler runs.
	locked bool
	done   bool
}

// Deliver is the sink's.
func (d *Dispatcher[T]) Deliver(batch Batch[T]) bool {
	if d.hooks.Batch != nil {
		d.hooks.Batch(batch)
	}
	run := delivery[T]{rest: batch.First, trigger: batch.Trigger}
	if batch.Sample == (Sample{}) {
		d.deliver(run)
		return true
	}
	began := d.engine.host.Clock()
	d.deliver(run)
	d.engine.Spent(batch.Sample, batch.Count, d.engine.host.Clock()-began)
	return true
}

// resume goes on with a batch in which a handler ended the goroutine. Its batch handlers have had their events, except
// for types whose turn has not come, and for those the trigger is that of the leftover batch.
func (d *Dispatcher[T]) resume(rest *Event[T]) {
	d.deliver(delivery[T]{rest: rest, trigger: TriggerTurn})
}

func (d *Dispatcher[T]) deliver(run delivery[T]) {
	defer func() {
		d.engine.counters.DeliveredTotal += run.delivered
		d.engine.recycler.put(run.over)
		if !run.done {
			d.engine.interrupted(run.rest)
		}
	}()
	for !run.done {
		d.deliverRest(&run)
	}
}

// deliverRest has one recover for many events: it is entered again only after a failure.
func (d *Dispatcher[T]) deliverRest(run *delivery[T]) {
	d.lock.Unlock()
	defer func() { d.caught(run, recover()) }()
	for event := run.rest; event != nil; event = run.rest {
		run.rest, run.current = event.next, event
		if set := event.Type.ready.Load(); set == nil {
			d.deliverSpecial(run, event)
		} else {
			if len(set.groups) > 0 && !event.grouped {
				run.group(event, set.groups)
			}
			for _, fn := range set.ones {
				fn(event.Data)
			}
			run.handled(event)
		}
	}
	run.done = true
}

// caught takes the lock again, and reports how the current event's handler failed.
func (d *Dispatcher[T]) caught(run *delivery[T], value any) {
	if !run.locked {
		d.lock.Lock()
	}
	if run.done {
		return
	}
	// Without a value it is Goexit: nothing of what called this goes on. It was the event's handler, unless the lock is
	// held: then it was a hook or the handler of a replay, which has been reported.
	if value == nil && run.locked {
		return
	}
	// Even if the hook ends its goroutine.
	defer run.handled(run.current)
	d.failed(inner.Caught(value), run.current)
}

// group gives batch handlers all events of the type that are left in the batch, at the place of the first of them.
func (run *delivery[T]) group(event *Event[T], groups []func([]T, string, Trigger)) {
	if !run.linked {
		run.link(event)
	}
	n := 0
	for one := event; one != nil; one = one.prev {
		n++
	}
	items := make([]T, 0, n)
	for one := event; one != nil; one = one.prev {
		one.grouped = true
		items = append(items, one.Data)
	}
	for _, fn := range groups {
		fn(items, event.Type.Name, run.trigger)
	}
}

// link makes `prev`, which has no other meaning in a batch, the next event of the same type: once for all types, so
// that many of them do not each search the batch.
func (run *delivery[T]) link(first *Event[T]) {
	run.linked = true
	for one := first; one != nil; one = one.next {
		if last := one.Type.linked; last != nil {
			last.prev = one
		}
		one.prev, one.Type.linked = nil, one
	}
	for one := first; one != nil; one = one.next {
		one.Type.linked = nil
	}
}

func (run *delivery[T]) handled(event *Event[T]) {
	run.delivered++
	run.end(event)
}

func (run *delivery[T]) end(event *Event[T]) {
	var none T
	event.Data, event.prev = none, nil
	run.over.append(event)
}

// deliverSpecial is for events of a type without a ready set: something is due, a handler is for once, or none is.
func (d *Dispatcher[T]) deliverSpecial(run *delivery[T], event *Event[T]) {
	d.lock.Lock()
	// Until its own turn, whatever goes wrong is another event's.
	run.locked, run.rest = true, event
	if event.Type.gone {
		event.Type = d.engine.queue.Type(event.Type.Name)
	}
	t := event.Type
	// Once more if a replay has registered another handler, which gets what is kept before this event as well.
	for t.due {
		d.replay(t)
	}
	run.rest = event.next
	handlers := t.handlers
	if len(handlers) == 0 && !event.grouped {
		over := d.orphan(t, event)
		run.locked = false
		d.lock.Unlock()
		if over {
			run.end(event)
		}
		return
	}
	run.locked = false
	d.lock.Unlock()
	d.runSome(run, event, handlers)
	run.handled(event)
}

// runSome runs handlers of which some may be used up.
func (d *Dispatcher[T]) runSome(run *delivery[T], event *Event[T], handlers []*Handler[T]) {
	if !event.grouped {
		var groups []func([]T, string, Trigger)
		for _, h := range handlers {
			if h.group != nil {
				groups = append(groups, h.group)
			}
		}
		if groups != nil {
			run.group(event, groups)
		}
	}
	for _, h := range handlers {
		if h.one == nil {
			continue
		}
		if h.once {
			d.lock.Lock()
			unused := d.Remove(h)
			d.lock.Unlock()
			if !unused {
				continue
			}
		}
		h.one(event.Data)
	}
}

// orphan: no handler. The event is retained if its type retains, else it is over.
func (d *Dispatcher[T]) orphan(t *Type[T], event *Event[T]) bool {
	switch {
	case d.options(t) == nil:
		d.engine.counters.UnhandledTotal++
		d.lost(event, Unhandled)
	case d.keep(t, event):
		return false
	default:
		d.engine.counters.RefusedTotal.Retention++
		d.lost(event, NotRetained)
	}
	return true
}

func (d *Dispatcher[T]) failed(err error, event *Event[T]) {
	d.engine.counters.ErrorsTotal++
	if d.hooks.Failed != nil {
		d.unlocked(func() { d.hooks.Failed(err, event) })
	}
}

func (d *Dispatcher[T]) lost(event *Event[T], why Loss) {
	if d.hooks.Lost != nil {
		d.unlocked(func() { d.hooks.Lost(event, why) })
	}
}

// unlocked runs a hook, which does not panic but may end its goroutine.
func (d *Dispatcher[T]) unlocked(hook func()) {
	d.lock.Unlock()
	defer d.lock.Lock()
	hook()
}

// Cancel takes an event back that is queued or retained; false if it has left.
func (d *Dispatcher[T]) Cancel(ref Ref[T]) bool {
	event := ref.event
	switch {
	case d.engine.closed:
		return false
	case d.engine.Withdraw(ref):
		return true
	case event == nil || event.seq != ref.seq || event.stage != retained:
		return false
	}
	d.takeOut(event)
	d.schedule()
	d.engine.counters.CancelledTotal++
	return true
}

// Discard is the sink's.
func (d *Dispatcher[T]) Discard(event *Event[T]) { d.lost(event, Discarded) }

// End is the sink's.
func (d *Dispatcher[T]) End() {
	d.closeRetention()
	if d.hooks.End != nil {
		d.hooks.End()
	}
}

// ---- handlers

// Handler is a function that gets the events of a type, one by one, or those of a batch at once.
type Handler[T any] struct {
	one   func(T)
	group func([]T, string, Trigger)
	once  bool // used up by the first event
	// Where it is registered.
	of    *Type[T]
	owner *Dispatcher[T]
	// Its place among everything that was retained or registered, while something kept is due to it.
	due uint64
}

// One makes a handler for single events, or with `once` for one event; Group makes one for all events of a batch.
func One[T any](fn func(T), once bool) *Handler[T] { return &Handler[T]{one: fn, once: once} }

func Group[T any](fn func([]T, string, Trigger)) *Handler[T] { return &Handler[T]{group: fn} }

// handlerSet is what an event needs of its type when there is nothing special to do. It is never changed.
type handlerSet[T any] struct {
	ones   []func(T)
	groups []func([]T, string, Trigger)
}

// Add registers a handler. What its type retains becomes due to it.
func (d *Dispatcher[T]) Add(name string, h *Handler[T]) {
	t := d.engine.queue.Type(name)
	h.of, h.owner = t, d
	// A new slice: whoever is running handlers of the type goes on with the old one.
	t.handlers = append(t.handlers[:len(t.handlers):len(t.handlers)], h)
	d.registered(t, h)
	t.note()
}

// Remove removes a handler; false when it is not registered, or is another dispatcher's.
func (d *Dispatcher[T]) Remove(h *Handler[T]) bool {
	t := h.of
	if t == nil || h.owner != d {
		return false
	}
	h.of = nil
	t.handlers = slices.DeleteFunc(slices.Clone(t.handlers), func(other *Handler[T]) bool { return other == h })
	t.note()
	return true
}

func (t *Type[T]) note() {
	if t.due || len(t.handlers) == 0 || slices.ContainsFunc(t.handlers, func(h *Handler[T]) bool { return h.once }) {
		t.ready.Store(nil)
		return
	}
	set := &handlerSet[T]{}
	for _, h := range t.handlers {
		if h.group != nil {
			set.groups = append(set.groups, h.group)
		} else {
			set.ones = append(set.ones, h.one)
		}
	}
	t.ready.Store(set)
}
