package engine

// Push takes an event in, or refuses it with ErrOverload, ErrClosed or the host's error, and then nothing has changed.
// O(1). The priority may be OfType.
func (e *Engine[T]) Push(t *Type[T], data T, priority Priority, bytes int64) (Ref[T], error) {
	if e.closed {
		e.counters.RefusedTotal.Closed++
		return Ref[T]{}, ErrClosed
	}
	inside := e.host.Inside()
	if e.direct && inside {
		if !e.busy && e.queue.count == 0 {
			return e.pushDirect(t, data, priority, bytes), nil
		}
	} else if !hasRoom(&e.queue, bytes, &e.options) {
		e.counters.RefusedTotal.Overloaded++
		return Ref[T]{}, overloaded(&e.queue, bytes, &e.options)
	}
	// At a dispatch point that is running, what handlers push is judged there. First, for the host may keep the time
	// that is read from then on.
	if e.budget == 0 && !(e.scheduled && inside) {
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

// pushDirect lets the event leave at once, as a batch of its own; a handler that pushes is interrupted by that event's
// handlers.
func (e *Engine[T]) pushDirect(t *Type[T], data T, priority Priority, bytes int64) Ref[T] {
	event := e.stamp(t, data, priority, bytes)
	event.stage, event.next, event.prev = left, nil, nil
	ref := Ref[T]{event, event.seq}
	e.nested++
	e.leave(chain[T]{event, event, 1}, TriggerSize)
	if e.nested--; e.nested == 0 {
		e.afterBatch()
		e.deliverCut()
	}
	return ref
}
