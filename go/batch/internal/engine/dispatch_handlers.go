package engine

// Info comes with the events of a batch handler.
type Info struct {
	Type    string
	Trigger Trigger
}

// Handler is a function that gets the events of a type, one by one, or those of a batch at once.
type Handler[T any] struct {
	one   func(T)
	group func([]T, Info)
	// Used up by the first event.
	once bool
	// Where it is registered.
	of    *Type[T]
	owner *Dispatcher[T]
	// Its place among everything that was retained or registered, while something kept is due to it.
	due uint64
}

// One makes a handler for single events, or with `once` for one event; Group makes one for all events of a batch.
func One[T any](fn func(T), once bool) *Handler[T] { return &Handler[T]{one: fn, once: once} }

func Group[T any](fn func([]T, Info)) *Handler[T] { return &Handler[T]{group: fn} }

// handlerSet is what an event needs of its type when there is nothing special to do. It is never changed.
type handlerSet[T any] struct {
	ones   []func(T)
	groups []func([]T, Info)
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
	left := make([]*Handler[T], 0, len(t.handlers)-1)
	for _, other := range t.handlers {
		if other != h {
			left = append(left, other)
		}
	}
	t.handlers = left
	t.note()
	return true
}

// RemoveAll removes all handlers of a type.
func (d *Dispatcher[T]) RemoveAll(name string) {
	if t := d.engine.queue.Find(name); t != nil {
		for _, h := range t.handlers {
			h.of = nil
		}
		t.handlers = nil
		t.note()
	}
}

// note brings `ready` up to date.
func (t *Type[T]) note() {
	set := &handlerSet[T]{}
	for _, h := range t.handlers {
		switch {
		case h.once:
			set = nil
		case h.group != nil:
			set.groups = append(set.groups, h.group)
		default:
			set.ones = append(set.ones, h.one)
		}
		if set == nil {
			break
		}
	}
	if t.due || len(t.handlers) == 0 {
		set = nil
	}
	t.ready.Store(set)
}
