package engine

import "slices"

// cut is a batch that was cut by flush, close or a switch and has not left yet.
type cut[T any] struct {
	events  chain[T]
	trigger Trigger
	// Does what is due first: stands before each series, without events.
	prepare bool
	// The rest of a batch that left already.
	resumed bool
}

// cuts are taken from the front; the slice is used again when it is empty.
type cuts[T any] struct {
	all   []cut[T]
	taken int
}

func (c *cuts[T]) empty() bool { return c.taken == len(c.all) }

func (c *cuts[T]) append(one cut[T]) { c.all = append(c.all, one) }

func (c *cuts[T]) next() cut[T] {
	one := c.all[c.taken]
	c.all[c.taken] = cut[T]{}
	if c.taken++; c.empty() {
		c.all, c.taken = c.all[:0], 0
	}
	return one
}

// cutAll cuts everything queued into batches that leave for this reason.
func (e *Engine[T]) cutAll(trigger Trigger) {
	e.recycler.point(e.queue.count)
	e.cuts.append(cut[T]{prepare: true})
	for e.queue.count > 0 {
		e.cuts.append(cut[T]{events: e.take(e.options.MaxBatch), trigger: trigger})
	}
	e.endHold()
}

// cutOneByOne: under Direct, a switch cut batches, and their handlers pushed. What they pushed leaves as if pushed just
// now.
func (e *Engine[T]) cutOneByOne() {
	for event := e.take(e.queue.count).first; event != nil; {
		next := event.next
		event.next = nil
		e.cuts.append(cut[T]{events: chain[T]{event, event, 1}, trigger: TriggerSize})
		event = next
	}
}

// deliverCut hands on the batches that were cut beforehand. False when the sink needs time.
func (e *Engine[T]) deliverCut() bool {
	for !e.cuts.empty() {
		one := e.cuts.next()
		switch {
		case one.prepare:
			e.prepare(e.host.Now())
		case one.resumed:
			e.busy = true
			e.sink.(resumer[T]).resume(one.events.first)
			e.busy = false
			e.afterBatch()
		case !e.handOn(one.events, one.trigger):
			return false
		}
	}
	if e.closing == closingDelivering || e.closing == closingDiscard {
		e.finish()
	}
	return true
}

// afterBatch does what handlers asked for while their batch was running.
func (e *Engine[T]) afterBatch() {
	if e.pending.Has != 0 {
		// Batches that were cut under the old options leave under them.
		if !e.cuts.empty() {
			return
		}
		changes := e.pending
		e.pending = Changes{}
		e.switchTo(&changes)
	}
	if e.closing == closingDeliver {
		e.closing = closingDelivering
		e.cutAll(TriggerClose)
	}
}

// Flush hands on everything that is queued now: inside this call; in a handler: when its batch is over; from elsewhere
// as FlushSoon.
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
