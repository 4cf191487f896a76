package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/batch/internal/engine"
	"millrace.dev/go/eventloop"
	"millrace.dev/go/internal/inner"
)

// Emitter delivers events to handlers on a loop, in batches. Make one with NewEmitter.
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

// Info describes the batch that a batch handler gets.
type Info struct {
	// Type is the type of the events.
	Type string
	// Trigger is the reason why the batch left.
	Trigger Trigger
}

// Handler is a registered handler, for Off.
type Handler[T any] struct{ handler *engine.Handler[T] }

// Lost is an event that was accepted and ended without a handler.
type Lost[T any] struct {
	Type string
	Data T
	// Why is millrace.ErrUnhandled, ErrRetention, ErrExpired or millrace.ErrCancelled.
	Why error
}

// Event is an event that was pushed, for Cancel.
type Event[T any] struct{ ref engine.Ref[T] }

// NewEmitter makes an emitter of events with data of type T. It starts nothing and keeps nothing alive: while no event
// waits, there is no task, no timer and no goroutine.
//
// An error wraps millrace.ErrOption and names the field, its value and its range.
func NewEmitter[T any](loop *eventloop.Loop, config EmitterConfig[T]) (*Emitter[T], error) {
	if loop == nil {
		return nil, fmt.Errorf("%w: NewEmitter needs a loop", millrace.ErrOption)
	}
	retain, err := config.Retain.engine(ReplayEach)
	if err != nil {
		return nil, err
	}
	if config.OnError == nil {
		config.OnError = func(err error) { slog.Error("batch", "error", err) }
	}
	e := &Emitter[T]{loop: loop, failed: config.OnError, lost: config.OnLost, done: make(chan struct{})}
	if config.Size != nil {
		e.sizes.Store(&sizes[T]{other: config.Size})
	}
	h := &emitterHost[T]{e: e, start: time.Now()}
	h.turn, h.atEnd, h.hold.fn, h.expiry.fn = h.runTurn, h.askForEnd, h.holdEnded, h.expire
	e.host = h
	e.d = engine.NewDispatcher(&e.mu, engine.Hooks[T]{
		Failed:    e.tellFailed,
		Lost:      e.tellLost,
		ArmExpiry: h.armExpiry,
		End:       func() { close(e.done) },
	}, retain)
	if e.engine, err = engine.New[T](h, e.d, config.queue()); err != nil {
		return nil, err
	}
	e.d.Attach(e.engine)
	return e, nil
}

// Emit queues an event. Nothing has changed when it returns an error of package millrace: ErrOverload when the queue is
// full, ErrClosed after Close of the emitter or of its loop, ErrOption for a size below 0.
//
// Costs a mutex, and no allocation once as many events have been queued before; the first event of a turn asks the loop
// for a call at its end, which off the loop costs the loop's mutex as well (go test -bench Emit ./batch). While a batch
// is held, only an event that may end the hold asks.
func (e *Emitter[T]) Emit(typ string, data T) error {
	_, err := e.push(typ, data, engine.OfType, 0, nil)
	return err
}

// Push is Emit with settings for one event, and returns a handle for Cancel. With a key it costs a look-up in a map and
// the memory of an event more.
func (e *Emitter[T]) Push(typ string, data T, config EventConfig) (Event[T], error) {
	if err := cmp.Or(config.Priority.Check(), checkBytes(config.Bytes), checkKey(config.Key)); err != nil {
		return Event[T]{}, err
	}
	return e.push(typ, data, classOf(config.Priority), config.Bytes, config.Key)
}

func checkKey(key any) error {
	switch key.(type) {
	case nil, string, int:
		return nil
	}
	if !reflect.ValueOf(key).Comparable() {
		return &millrace.OptionError{Name: "Key", Value: key, Allowed: "comparable"}
	}
	return nil
}

// merge is the user's, for the engine.
func (e *Emitter[T]) merge(typ string, fn func(older, newer T) T) engine.Merge[T] {
	return func(older, newer T, bytes int64) (T, int64, error) {
		data := fn(older, newer)
		if e.sizes.Load() != nil {
			size, err := e.sizeOf(typ, data)
			return data, int64(size), err
		}
		return data, bytes, nil
	}
}

// classOf is the engine's number of a priority; that of zero is OfType.
func classOf(p millrace.Priority) engine.Priority { return engine.Priority(p) - 1 }

func (e *Emitter[T]) push(typ string, data T, priority engine.Priority, bytes int, key any) (Event[T], error) {
	if bytes == 0 {
		var err error
		if bytes, err = e.sizeOf(typ, data); err != nil {
			return Event[T]{}, err
		}
	}
	e.mu.Lock()
	// Under Direct handlers run inside this call.
	defer e.mu.Unlock()
	t := e.engine.Queue().Type(typ)
	if key != nil {
		ref, err := e.d.PushKeyed(t, key, data, priority, int64(bytes))
		return Event[T]{ref}, err
	}
	ref, err := e.engine.Push(t, data, priority, int64(bytes))
	return Event[T]{ref}, err
}

func (e *Emitter[T]) sizeOf(typ string, data T) (int, error) {
	if s := e.sizes.Load(); s != nil {
		size, own := s.byType[typ]
		if !own {
			size = s.other
		}
		if size != nil {
			n := size(data)
			return n, checkBytes(n)
		}
	}
	return 0, nil
}

// Cancel takes back a queued or retained event; false when it has left or was cancelled, and after Close. O(1).
func (e *Emitter[T]) Cancel(event Event[T]) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.d.Cancel(event.ref)
}

// On registers a handler for the events of a type. Handlers of a type run in the order of registration. The events that
// the type retains are then delivered to it by the loop, not inside this call.
//
// When a handler panics, or ends its goroutine, the handlers after it do not get that event; OnError is called; later
// events are still delivered. On panics if fn is nil.
func (e *Emitter[T]) On(typ string, fn func(data T)) *Handler[T] {
	return e.add(typ, fn == nil, engine.One(fn, false))
}

// Once is On for one event: the first one uses it up.
func (e *Emitter[T]) Once(typ string, fn func(data T)) *Handler[T] {
	return e.add(typ, fn == nil, engine.One(fn, true))
}

// OnBatch registers a handler that gets all events of a type that are in one batch at once, at the place of the first
// of them. The slice is the handler's: several share it, so do not change it if there are several. A retained event
// comes alone, with TriggerTurn.
//
// When one panics, the batch handlers after it do not get these events, and the first event goes to no other handler.
func (e *Emitter[T]) OnBatch(typ string, fn func(data []T, info Info)) *Handler[T] {
	return e.add(typ, fn == nil, engine.Group(func(data []T, typ string, trigger engine.Trigger) {
		fn(data, Info{typ, Trigger(trigger)})
	}))
}

func (e *Emitter[T]) add(typ string, isNil bool, h *engine.Handler[T]) *Handler[T] {
	if isNil {
		panic("batch: the handler is nil")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.d.Add(typ, h)
	return &Handler[T]{h}
}

// Off removes a handler; false when it was used up or removed before, or is another emitter's. An event whose handlers
// are running already still gets to it.
func (e *Emitter[T]) Off(h *Handler[T]) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return h != nil && e.d.Remove(h.handler)
}

// Set changes the settings of the queue that are given. A new policy or order first flushes the queue: after the
// current batch if a handler calls Set, at the end of the turn if it is called outside the loop. Nothing has changed
// when it returns an error.
func (e *Emitter[T]) Set(config EmitterConfig[T]) error {
	if config.Size != nil || config.Retain != (Retain{}) || config.OnError != nil || config.OnLost != nil {
		return fmt.Errorf("%w: Set cannot change Size, Retain, OnError and OnLost: use SetType, or NewEmitter",
			millrace.ErrOption)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.host.handlersRan()
	return e.engine.Set(config.queue())
}

// SetType changes the settings of one type that are given. Nothing has changed when it returns an error; after Close
// that is millrace.ErrClosed.
func (e *Emitter[T]) SetType(typ string, config TypeConfig[T]) error {
	retain, err := config.Retain.engine(ReplayNever)
	if err := cmp.Or(config.Priority.Check(), engine.CheckMaxBatch(config.MaxBatch), err); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.engine.Closed() {
		return millrace.ErrClosed
	}
	t := e.engine.Queue().Type(typ)
	t.Pinned = true
	if config.Priority != 0 {
		t.Priority = classOf(config.Priority)
	}
	if config.MaxBatch != 0 {
		e.engine.Queue().SetMaxBatch(t, config.MaxBatch)
	}
	if config.Size != nil {
		next := &sizes[T]{byType: map[string]func(T) int{}}
		if now := e.sizes.Load(); now != nil {
			next.other = now.other
			maps.Copy(next.byType, now.byType)
		}
		next.byType[typ] = config.Size
		e.sizes.Store(next)
	}
	if config.Merge != nil {
		t.SetMerge(e.merge(typ, config.Merge))
	}
	if config.Retain != (Retain{}) {
		e.d.Retain(t, retain)
	}
	return nil
}

// Flush delivers everything that is queued now: on the loop inside this call, in a handler after the current batch, and
// elsewhere at the end of a turn, with the events that come until then. Until then they count towards the bounds, and
// can be cancelled or discarded by Close. An error means that the loop is closed.
func (e *Emitter[T]) Flush() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.host.handlersRan()
	return e.engine.Flush()
}

// Close refuses later events with millrace.ErrClosed, delivers the queued events, when Flush would, and waits for that.
// When ctx ends first, events that have not left are discarded at the next dispatch point: OnLost is called for each,
// with millrace.ErrCancelled, and Close returns ctx.Err() without waiting for that. With a context that has ended
// already nothing more leaves. Retained events expire. Another call waits for the same end. On the loop Close does not
// wait, and ctx counts only if it has ended: Done says when all is over. On a loop that does not run it waits until it
// runs.
//
// Close an emitter before its loop: a closed loop drops its timers, so that nothing ends a hold any more. When the loop
// is closed already, the remaining events are discarded inside this call, and the error says so.
func (e *Emitter[T]) Close(ctx context.Context) error {
	if err := e.close(ctx.Err() != nil); err != nil || e.loop.Inside() {
		return err
	}
	if ctx.Err() == nil {
		select {
		case <-e.done:
			return nil
		case <-e.loop.Done():
			return e.close(true)
		case <-ctx.Done():
		}
	}
	err := e.close(true)
	if err == nil {
		// A loop that closes at the same moment may leave the turn undone in which the rest is discarded.
		go func() {
			select {
			case <-e.done:
			case <-e.loop.Done():
				_ = e.close(true)
			}
		}()
	}
	return cmp.Or(err, ctx.Err())
}

func (e *Emitter[T]) close(discard bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.host.handlersRan()
	if discard && e.engine.Closed() {
		return e.engine.Hurry()
	}
	return e.engine.Close(discard)
}

// Done is closed when the emitter is, and everything has been delivered or discarded.
func (e *Emitter[T]) Done() <-chan struct{} { return e.done }

// Stats is a snapshot.
func (e *Emitter[T]) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Stats(e.engine.Stats())
}

// ---- what is told

func (e *Emitter[T]) tellFailed(err error, event *engine.Event[T]) {
	defer caught()
	e.failed(&HandlerError{event.Type.Name, err})
}

var reasons = [...]error{
	engine.Unhandled: millrace.ErrUnhandled, engine.NotRetained: ErrRetention, engine.Discarded: millrace.ErrCancelled,
	engine.Expired:   fmt.Errorf("%w: Retain.MaxAge was reached", ErrExpired),
	engine.Ended:     fmt.Errorf("%w: the emitter was closed", ErrExpired),
	engine.TurnedOff: fmt.Errorf("%w: its retention was turned off", ErrExpired),
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

// ---- the host

// holdCost is what a hold costs beside its batch: a timer, and the turn or the goroutine at its end. BenchmarkHold found
// 42 to 82 µs of CPU time for each hold, mostly some 50, on two CPUs of a virtual machine that was busy with other things,
// and 29 µs and more with GOMAXPROCS=1. Most of that is the Go runtime's: a time.AfterFunc that is set again each ms took
// 30 to 60 µs there.
const holdCost = 50 * time.Microsecond

// emitterHost is the world of an emitter's engine: its dispatch point is the end of a loop turn. The mutex is held.
type emitterHost[T any] struct {
	e     *Emitter[T]
	start time.Time
	// The time of this turn: kept from the first event of the turn that asks for its end until that is over, so that the
	// clock is read once for many. Only inside the loop, since for others a turn may be late; but it is never behind
	// theirs.
	now        time.Duration
	keep, kept bool
	// Bound once, as each use of a method as a function would allocate.
	turn, atEnd  func()
	hold, expiry alarm
}

func (h *emitterHost[T]) Now() time.Duration {
	if !h.kept || !h.Inside() {
		h.now = time.Since(h.start)
		h.kept = h.kept || h.keep
	}
	return h.now
}

// handlersRan, which may have taken long.
func (h *emitterHost[T]) handlersRan() { h.kept = false }

func (h *emitterHost[T]) Inside() bool { return h.e.loop.Inside() }

// Alive reports whether a turn or a timer that was asked for still comes: not if the loop was closed first.
func (h *emitterHost[T]) Alive() bool {
	select {
	case <-h.e.loop.Done():
		return false
	default:
		return true
	}
}

// MayHold is false on a closing loop, which drops its timers.
func (h *emitterHost[T]) MayHold() bool { return !inner.Closed(h.e.loop) }

// Schedule asks for a call at the end of this turn, or, from outside the loop, of the turn that a task begins.
func (h *emitterHost[T]) Schedule() error {
	loop := h.e.loop
	_, err := loop.Immediate(h.turn)
	h.keep = err == nil
	if errors.Is(err, eventloop.ErrOutside) {
		if err = loop.Submit(h.atEnd); errors.Is(err, millrace.ErrOverload) {
			// One task for many events: their bound is the emitter's.
			_, err = loop.After(0, h.atEnd)
		}
	}
	return err
}

func (h *emitterHost[T]) askForEnd() {
	if _, err := h.e.loop.Immediate(h.turn); err != nil {
		// The loop is closing, or whoever closed it runs what it left.
		h.turn()
	}
}

func (h *emitterHost[T]) runTurn() {
	h.e.mu.Lock()
	defer func() {
		h.handlersRan()
		h.e.mu.Unlock()
	}()
	h.now, h.kept, h.keep = time.Since(h.start), true, false
	h.e.engine.Turn()
}

func (h *emitterHost[T]) Clock() time.Duration { return time.Since(h.start) }

func (h *emitterHost[T]) Utilization(time.Duration) float64 { return h.e.loop.Utilization() }

// Busy is the loop's busy time; only differences of it count.
func (h *emitterHost[T]) Busy(now time.Duration) time.Duration { return now - inner.Slept(h.e.loop) }

func (h *emitterHost[T]) HoldCost() time.Duration { return holdCost }

// Arm fails when the loop is closing.
func (h *emitterHost[T]) Arm(deadline time.Duration) error {
	return h.hold.set(h.e.loop, deadline, h.start)
}

func (h *emitterHost[T]) holdEnded() {
	h.e.mu.Lock()
	defer h.e.mu.Unlock()
	h.kept = false
	h.e.engine.HoldEnded()
}

func (h *emitterHost[T]) armExpiry(deadline time.Duration) {
	// On a loop that is closing nothing expires any more: that is left to Close.
	if h.expiry.set(h.e.loop, deadline, h.start) == nil && h.expiry.timer != nil {
		h.expiry.timer.Unref()
	}
}

func (h *emitterHost[T]) expire() {
	h.e.mu.Lock()
	defer h.e.mu.Unlock()
	h.kept = false
	h.e.d.Expire(h.Now())
}

// alarm is a timer of the loop that is made when it is first set.
type alarm struct {
	timer *eventloop.Timer
	fn    func()
}

func (a *alarm) set(loop *eventloop.Loop, deadline time.Duration, start time.Time) (err error) {
	if deadline < 0 {
		if a.timer != nil {
			a.timer.Stop()
		}
		return nil
	}
	// By the clock, and not by the time of the turn: handlers may have taken a while.
	wait := deadline - time.Since(start)
	if a.timer != nil {
		return a.timer.Reset(wait)
	}
	a.timer, err = loop.After(wait, a.fn)
	return err
}
