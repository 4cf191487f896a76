package engine

// lane is a first-in-first-out list of queued events, linked through the events themselves: nothing is allocated, and
// any of them can be taken out in O(1). One for each class, or for each class of each type (ByType).
type lane[T any] struct {
	head, tail *Event[T]
	count      int
	priority   Priority
	// ByType: it stands in its class's list of lanes with events.
	listed bool
}

func (l *lane[T]) append(event *Event[T]) {
	event.next, event.prev = nil, l.tail
	if l.tail == nil {
		l.head = event
	} else {
		l.tail.next = event
	}
	l.tail = event
	l.count++
}

func (l *lane[T]) remove(event *Event[T]) {
	if event.prev == nil {
		l.head = event.next
	} else {
		event.prev.next = event.next
	}
	if event.next == nil {
		l.tail = event.prev
	} else {
		event.next.prev = event.prev
	}
	l.count--
}

// chain is a list of events that leave together, linked by next.
type chain[T any] struct {
	first, last *Event[T]
	count       int
}

func (c *chain[T]) append(event *Event[T]) {
	event.next = nil
	if c.last == nil {
		c.first = event
	} else {
		c.last.next = event
	}
	c.last = event
	c.count++
}

func (c *chain[T]) join(other chain[T]) {
	if other.first == nil {
		return
	}
	if c.last == nil {
		c.first = other.first
	} else {
		c.last.next = other.first
	}
	c.last = other.last
	c.count += other.count
}
