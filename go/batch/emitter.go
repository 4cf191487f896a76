package batch

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"millrace.dev/go/batch/internal/engine"
	"millrace.dev/go/eventloop"
)

// Emitter hands events to handlers on a loop, in batches. Make one with NewEmitter.
//
// Emit queues from any goroutine. At the end of a loop turn everything queued is delivered: High first, then Normal,
// then Low, each in order of arrival. Handlers run on the loop, one after the other, and never inside Emit, except
// under Direct. Every method may be called from any goroutine, and by handlers.
type Emitter[T any] struct {
	loop   *eventloop.Loop
	mu     sync.Mutex
	engine *engine.Engine[T]
	d      *engine.Dispatcher[T]
	host   *emitterHost[T]
	sizes  atomic.Pointer[sizes[T]]
	failed func(error)
	lost   func(Lost[T])
	warned [6]atomic.Bool
	done   chan struct{}
}

// sizes are functions that say how large an event is; never changed in place.
type sizes[T any] struct {
	byType map[string]func(T) int
	other  func(T) int
}

// Info comes with the events of a batch handler: their type, and why the batch left.
type Info = engine.Info

// Handler is a registered handler, for Off.
type Handler[T any] = engine.Handler[T]

// Event is an event that was pushed, for Cancel.
type Event[T any] struct{ ref engine.Ref[T] }

// NewEmitter makes an emitter of events with data of type T. It starts nothing and keeps nothing alive: while no event
// waits, there is no task, no timer and no goroutine.
//
// Options: those of a queue (WithPolicy, WithOrder, WithMaxBatch, WithMaxDelay, WithThreshold, WithHold, WithMaxQueue,
// WithMaxQueueBytes, WithMaxDeferral), WithSize, WithRetain, WithErrorHandler, WithLost. Errors wrap ErrOption.
func NewEmitter[T any](loop *eventloop.Loop, options ...Option) (*Emitter[T], error) {
	if loop == nil {
		return nil, fmt.Errorf("%w: NewEmitter needs a loop", ErrOption)
	}
	s, err := read(options, ofQueue|ofTypes|ofEmitter)
	if err != nil {
		return nil, err
	}
	e := &Emitter[T]{loop: loop, failed: s.failed, done: make(chan struct{})}
	if e.lost, err = typed[func(Lost[T])]("WithLost", s.lost); err != nil {
		return nil, err
	}
	size, err := typed[func(T) int]("WithSize", s.size)
	if err != nil {
		return nil, err
	}
	if size != nil {
		e.sizes.Store(&sizes[T]{other: size})
	}
	e.host = newEmitterHost(e)
	e.d = engine.NewDispatcher(&e.mu, engine.Hooks[T]{
		Failed:    e.tellFailed,
		Lost:      e.tellLost,
		ArmExpiry: e.host.armExpiry,
		End:       func() { close(e.done) },
	}, s.retain)
	if e.engine, err = engine.New[T](e.host, e.d, s.changes); err != nil {
		return nil, err
	}
	e.d.Attach(e.engine)
	return e, nil
}

// Emit queues an event. Nothing has changed when it returns an error: ErrOverload when the queue is full, ErrClosed
// after Close of the emitter or of its loop, ErrOption for a size below 0.
//
// Costs a mutex, off the loop the loop's mutex as well, and no allocation once as many events have been queued before;
// the first event of a turn asks the loop for a call at its end (go test -bench Emit ./batch).
func (e *Emitter[T]) Emit(typ string, data T) error {
	_, err := e.push(typ, data, engine.OfType, -1)
	return err
}

// Push is Emit with options for this event, WithPriority and WithBytes, and a handle for Cancel.
func (e *Emitter[T]) Push(typ string, data T, options ...Option) (Event[T], error) {
	s, err := read(options, ofEvent)
	if err != nil {
		return Event[T]{}, err
	}
	return e.push(typ, data, s.priority, s.bytes)
}

func (e *Emitter[T]) push(typ string, data T, priority Priority, bytes int64) (Event[T], error) {
	if bytes < 0 {
		n, err := e.sizeOf(typ, data)
		if err != nil {
			return Event[T]{}, err
		}
		bytes = int64(n)
	}
	e.mu.Lock()
	// Under Direct handlers run inside this call.
	defer e.mu.Unlock()
	ref, err := e.engine.Push(e.engine.Queue().Type(typ), data, priority, bytes)
	return Event[T]{ref}, err
}

func (e *Emitter[T]) sizeOf(typ string, data T) (int, error) {
	s := e.sizes.Load()
	if s == nil {
		return 0, nil
	}
	size, own := s.byType[typ]
	if !own {
		size = s.other
	}
	if size == nil {
		return 0, nil
	}
	n := size(data)
	return n, checkBytes(n)
}

// Cancel takes an event back that is queued or retained; false when it has left, was cancelled, or the emitter is
// closed. It costs O(1).
func (e *Emitter[T]) Cancel(event Event[T]) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.d.Cancel(event.ref)
}

// On registers a handler for the events of a type. Handlers of a type run in the order of registration. What the type
// retains becomes due to it, and is delivered by the loop, not in here.
//
// When a handler panics, or ends its goroutine, the handlers after it do not get that event; WithErrorHandler is told;
// the events that follow are delivered all the same. On panics if fn is nil.
func (e *Emitter[T]) On(typ string, fn func(data T)) *Handler[T] {
	notNil(fn == nil)
	return e.add(typ, engine.One(fn, false))
}

// Once is On for one event: the first one uses it up.
func (e *Emitter[T]) Once(typ string, fn func(data T)) *Handler[T] {
	notNil(fn == nil)
	return e.add(typ, engine.One(fn, true))
}

// OnBatch registers a handler that gets all events of a type that are in one batch at once, at the place of the first
// of them. The slice is the handler's: several share it, so do not change it if there are several. A retained event
// comes alone, with TriggerTurn.
//
// When one panics, the batch handlers after it do not get these events, and the first event goes to no other handler
// either.
func (e *Emitter[T]) OnBatch(typ string, fn func(data []T, info Info)) *Handler[T] {
	notNil(fn == nil)
	return e.add(typ, engine.Group(fn))
}

func notNil(isNil bool) {
	if isNil {
		panic("batch: the handler is nil")
	}
}

func (e *Emitter[T]) add(typ string, h *Handler[T]) *Handler[T] {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.d.Add(typ, h)
	return h
}

// Off removes a handler; false when it was used up or removed before, or is another emitter's. An event whose handlers
// are running already still gets to it.
func (e *Emitter[T]) Off(h *Handler[T]) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return h != nil && e.d.Remove(h)
}

// Set changes options of the queue. A new policy or order delivers first what is queued; done by a handler, or
// outside of the loop, that happens when the current batch is over, or at the end of the turn. Nothing has changed
// when it returns an error.
func (e *Emitter[T]) Set(options ...Option) error {
	s, err := read(options, ofQueue|ofTypes)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.host.handlersRan()
	return e.engine.Set(s.changes)
}

// SetType changes options of one type: WithPriority, WithMaxBatch, WithRetain, WithoutRetain, WithSize. What is not
// given stays. Nothing has changed when it returns an error; after Close that is ErrClosed.
func (e *Emitter[T]) SetType(typ string, options ...Option) error {
	s, err := read(options, ofType)
	if err != nil {
		return err
	}
	size, err := typed[func(T) int]("WithSize", s.size)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.engine.Closed() {
		return ErrClosed
	}
	t := e.engine.Queue().Type(typ)
	t.Pinned = true
	if s.priority != engine.OfType {
		t.Priority = s.priority
	}
	if s.maxBatch != 0 {
		e.engine.Queue().SetMaxBatch(t, s.maxBatch)
	}
	if size != nil {
		next := &sizes[T]{byType: map[string]func(T) int{typ: size}}
		if now := e.sizes.Load(); now != nil {
			next.other = now.other
			for other, fn := range now.byType {
				if other != typ {
					next.byType[other] = fn
				}
			}
		}
		e.sizes.Store(next)
	}
	if s.retainGiven {
		e.d.Retain(t, s.retain)
	}
	return nil
}

// Flush delivers everything that is queued now: on the loop inside this call, in a handler when its batch is over, and
// from elsewhere at the end of a turn, with what comes until then. Until it has left, it counts towards the bounds, can
// be cancelled, and is discarded by Close(true). An error says that the loop is closed.
func (e *Emitter[T]) Flush() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.host.handlersRan()
	return e.engine.Flush()
}

// Close refuses later events with ErrClosed and delivers what is queued, when Flush would; or, with discard, tells
// WithLost of each, with ErrCancelled. What is retained expires. Done says when all that is over. Close again does
// nothing.
//
// Close an emitter before its loop: a closed loop drops its timers, so that nothing ends a hold any more. When the
// loop is closed already, what is left is discarded inside this call, and the error says so.
func (e *Emitter[T]) Close(discard bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.host.handlersRan()
	return e.engine.Close(discard)
}

// Done is closed when the emitter is, and everything has been delivered or discarded.
func (e *Emitter[T]) Done() <-chan struct{} { return e.done }

// Stats is a snapshot.
func (e *Emitter[T]) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.engine.Stats()
}

// ---- what is told

func (e *Emitter[T]) tellFailed(err error, event *engine.Event[T]) {
	defer caught()
	failure := &HandlerError{event.Type.Name, err}
	if e.failed == nil {
		slog.Error("batch", "error", failure)
		return
	}
	e.failed(failure)
}

var reasons = [...]error{
	engine.Unhandled: ErrUnhandled, engine.NotRetained: ErrRetention, engine.Expired: errExpiredAge,
	engine.Ended: errExpiredClose, engine.TurnedOff: errExpiredOff, engine.Discarded: ErrCancelled,
}

func (e *Emitter[T]) tellLost(event *engine.Event[T], why engine.Loss) {
	defer caught()
	if e.lost != nil {
		e.lost(Lost[T]{event.Type.Name, event.Data, reasons[why]})
	} else if why != engine.Unhandled && !e.warned[why].Swap(true) {
		slog.Warn("batch: an event was lost; further ones are counted in Stats",
			"type", event.Type.Name, "reason", reasons[why])
	}
}

// caught keeps the panic of a hook away from the events that follow.
func caught() {
	if value := recover(); value != nil {
		slog.Error("batch: a hook panicked", "value", value)
	}
}
