package engine

import (
	"cmp"
	"slices"
	"time"

	"millrace.dev/go/internal/inner"
)

// retention keeps events that found no handler, in order, for one that registers later. Bounded in events, bytes and
// age for each type. What is retained has left the queue and has its own bound; its memory is not reused, since a
// handler may be at work on it when it ends.
//
// A handler that registers while its type keeps something makes the type due. What is due is replayed at the start of
// the next dispatch point, or before the next event of the type if that comes first, so that a late handler gets the
// older events first. Numbers order what is retained and registered: a handler gets what has a lower number than its
// own (Handler.due) and was not received by an earlier one (Event.received). A type has one age for all its events, so
// its first one expires first, and one deadline, that of the earliest type, is asked of the host.
type retention[T any] struct {
	fallback *Retain     // for types without options of their own; nil: those do not retain
	number   uint64      // numbers what is retained and registered
	keeping  typeList[T] // types that keep events
	// Types with something due, in the order in which their handlers registered.
	dueTypes []*Type[T]
	deadline time.Duration
}

// options says how the type retains; nil: it does not.
func (r *retention[T]) options(t *Type[T]) *Retain {
	if t.retain == nil && !t.retainOff {
		return r.fallback
	}
	return t.retain
}

// Retain turns retention of a type on with these options, or off with nil.
func (d *Dispatcher[T]) Retain(t *Type[T], options *Retain) {
	t.Pinned = true
	t.retain, t.retainOff = options, options == nil
	// Deferred, for a hook may end its goroutine: then the rest expires at once.
	defer d.schedule()
	if options == nil {
		d.notDue(t)
		for t.kept.head != nil {
			d.end(t.kept.head, TurnedOff)
		}
	}
}

// ---- what a type keeps, in the order in which the events left

// keep retains an event of a type that retains; false when it would exceed a bound.
func (d *Dispatcher[T]) keep(t *Type[T], event *Event[T]) bool {
	options := d.options(t)
	if t.kept.count >= options.Max || event.Bytes > options.MaxBytes || t.keptBytes > options.MaxBytes-event.Bytes {
		return false
	}
	// Not the time of the push: the age is counted from here. Within a turn of a loop the clock may stand still.
	now := d.engine.host.Now()
	d.number++
	event.stage, event.since, event.number, event.received = retained, now, d.number, 0
	if t.kept.count == 0 {
		d.keeping.add(t, keeping)
	}
	t.kept.append(event)
	t.keptBytes += event.Bytes
	stats := &d.engine.counters.Retained
	stats.Count++
	stats.Bytes += event.Bytes
	stats.Held++
	if deadline := now + options.MaxAge; d.deadline < 0 || deadline < d.deadline {
		d.ask(deadline)
	}
	if d.hooks.Held != nil {
		d.hooks.Held(event)
	}
	return true
}

func (d *Dispatcher[T]) takeOut(event *Event[T]) {
	t := event.Type
	t.kept.remove(event)
	if t.kept.count == 0 {
		d.keeping.remove(t, keeping)
	}
	event.stage, event.next, event.prev = left, nil, nil
	t.keptBytes -= event.Bytes
	d.engine.counters.Retained.Count--
	d.engine.counters.Retained.Bytes -= event.Bytes
}

// end ends an event: expired, unless a handler has had it.
func (d *Dispatcher[T]) end(event *Event[T], why Loss) {
	d.takeOut(event)
	if event.received == 0 {
		d.engine.counters.Retained.Expired++
		d.lost(event, why)
	}
}

// ---- replays

// registered: what the type has kept is due to the handler.
func (d *Dispatcher[T]) registered(t *Type[T], h *Handler[T]) {
	if t.kept.count == 0 {
		return
	}
	// A type does not keep its place in the list for handlers that are gone.
	if !t.isDueToAny() {
		d.notDue(t)
	}
	d.number++
	h.due = d.number
	if !t.due {
		t.due = true
		d.dueTypes = append(d.dueTypes, t)
	}
	// Without a host that takes calls, it waits for the next dispatch point that there is.
	_ = d.engine.Wake()
}

func (t *Type[T]) isDueToAny() bool {
	return slices.ContainsFunc(t.handlers, func(h *Handler[T]) bool { return h.due != 0 })
}

func (d *Dispatcher[T]) notDue(t *Type[T]) {
	if !t.due {
		return
	}
	t.due = false
	for _, h := range t.handlers {
		h.due = 0
	}
	// A new slice: replayDue may be going through the old one.
	d.dueTypes = slices.DeleteFunc(slices.Clone(d.dueTypes), func(one *Type[T]) bool { return one == t })
	t.note()
}

// replayDue replays what is due. Types that become due meanwhile wait for the next dispatch point, even those whose
// handlers are gone to whom something was due.
func (d *Dispatcher[T]) replayDue() {
	for _, t := range d.dueTypes {
		if !t.hasLate() {
			d.notDue(t)
		}
	}
	for _, t := range d.dueTypes {
		if t.due {
			d.replay(t)
		}
	}
}

// hasLate tells whether a handler that is there has yet to get something that is kept.
func (t *Type[T]) hasLate() bool {
	for event := t.kept.head; event != nil; event = event.next {
		for _, h := range t.handlers {
			if h.due > max(event.number, event.received) {
				return true
			}
		}
	}
	return false
}

// replay gives a type's due events to its handlers, oldest first. What happens in a handler may change everything here,
// so each step looks again.
func (d *Dispatcher[T]) replay(t *Type[T]) {
	// Handlers that register from here on have to wait for the next replay.
	last := d.number
	events := make([]*Event[T], 0, t.kept.count)
	for event := t.kept.head; event != nil; event = event.next {
		events = append(events, event)
	}
	for _, event := range events {
		if len(t.handlers) == 0 {
			break
		}
		if event.stage != retained {
			continue
		}
		for _, h := range d.targets(t, event, last) {
			d.engine.counters.Retained.Replayed++
			if d.hooks.Replayed != nil {
				d.hooks.Replayed(event)
			}
			if !d.give(h, event) {
				break
			}
		}
	}
	for _, h := range t.handlers {
		if h.due <= last {
			h.due = 0
		}
	}
	if !t.isDueToAny() {
		d.notDue(t)
	}
	d.schedule()
}

// targets are the handlers that get the event now; from here on it has been received.
func (d *Dispatcher[T]) targets(t *Type[T], event *Event[T], last uint64) []*Handler[T] {
	var late, present []*Handler[T]
	for _, h := range t.handlers {
		if h.due <= last {
			present = append(present, h)
			if h.due > max(event.number, event.received) {
				late = append(late, h)
			}
		}
	}
	if len(late) == 0 {
		return nil
	}
	// They are next to each other, in the order of their numbers.
	event.received = late[len(late)-1].due
	if options := d.options(t); options != nil && options.Replay == ReplayEach {
		return late
	}
	d.takeOut(event)
	return present
}

// give gives a replayed event to one handler; false when that fails.
func (d *Dispatcher[T]) give(h *Handler[T], event *Event[T]) (worked bool) {
	if h.once && !d.Remove(h) {
		return true
	}
	d.lock.Unlock()
	defer func() {
		value := recover()
		d.lock.Lock()
		if !worked {
			d.failed(inner.Caught(value), event)
		}
	}()
	if h.group != nil {
		h.group([]T{event.Data}, event.Type.Name, TriggerTurn)
	} else {
		h.one(event.Data)
	}
	return true
}

// ---- age

// nextToExpire is the type whose event expires next, or nil, and when.
func (d *Dispatcher[T]) nextToExpire() (*Type[T], time.Duration) {
	var next *Type[T]
	earliest := never
	for _, t := range d.keeping {
		deadline := t.kept.head.since
		// Without options it is being turned off.
		if options := d.options(t); options != nil {
			deadline += options.MaxAge
		}
		if next == nil || deadline < earliest || deadline == earliest && t.kept.head.number < next.kept.head.number {
			next, earliest = t, deadline
		}
	}
	return next, earliest
}

func (d *Dispatcher[T]) expire(now time.Duration) {
	if d.deadline < 0 || now < d.deadline {
		return
	}
	// Deferred, for a hook may end its goroutine; then the rest is asked for again.
	defer func() {
		_, deadline := d.nextToExpire()
		d.ask(deadline)
	}()
	for {
		t, deadline := d.nextToExpire()
		if t == nil || deadline > now {
			break
		}
		d.end(t.kept.head, Expired)
	}
}

// Expire: the time that was asked for has come; being early does no harm.
func (d *Dispatcher[T]) Expire(now time.Duration) {
	if d.deadline >= 0 && now < d.deadline {
		d.ask(d.deadline)
	} else {
		d.expire(now)
	}
}

func (d *Dispatcher[T]) closeRetention() {
	for len(d.dueTypes) > 0 {
		d.notDue(d.dueTypes[0])
	}
	for len(d.keeping) > 0 {
		oldest := slices.MinFunc(d.keeping, func(a, b *Type[T]) int {
			return cmp.Compare(a.kept.head.number, b.kept.head.number)
		})
		d.end(oldest.kept.head, Ended)
	}
	d.schedule()
}

func (d *Dispatcher[T]) schedule() {
	if _, deadline := d.nextToExpire(); deadline != d.deadline {
		d.ask(deadline)
	}
}

func (d *Dispatcher[T]) ask(deadline time.Duration) {
	d.deadline = deadline
	if d.hooks.ArmExpiry != nil {
		d.hooks.ArmExpiry(deadline)
	}
}
