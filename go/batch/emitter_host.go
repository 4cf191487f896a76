package batch

import (
	"errors"
	"fmt"
	"time"

	"millrace.dev/go/eventloop"
)

// emitterHost is the world of an emitter's engine: its dispatch point is the end of a loop turn. It is called with the
// emitter's mutex held.
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

func newEmitterHost[T any](e *Emitter[T]) *emitterHost[T] {
	h := &emitterHost[T]{e: e, start: time.Now()}
	h.turn, h.atEnd = h.runTurn, h.askForEnd
	h.hold.fn, h.expiry.fn = h.holdEnded, h.expire
	return h
}

func (h *emitterHost[T]) Now() time.Duration {
	if !h.kept {
		h.now = time.Since(h.start)
		h.kept = h.keep
	} else if !h.Inside() {
		h.now = time.Since(h.start)
	}
	return h.now
}

// handlersRan, which may have taken long.
func (h *emitterHost[T]) handlersRan() { h.kept = false }

func (h *emitterHost[T]) Inside() bool { return h.e.loop.Inside() }

// Alive: a turn that was asked for keeps its loop alive, unless that was closed and has left it.
func (h *emitterHost[T]) Alive() bool { return h.e.loop.Alive() }

// Schedule asks for a call at the end of this turn, or, from outside the loop, of the turn that a task begins.
func (h *emitterHost[T]) Schedule() error {
	loop := h.e.loop
	_, err := loop.Immediate(h.turn)
	h.keep = err == nil
	if errors.Is(err, eventloop.ErrOutside) {
		if err = loop.Submit(h.atEnd); errors.Is(err, eventloop.ErrOverload) {
			// One task for many events: their bound is the emitter's.
			_, err = loop.After(0, h.atEnd)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
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

func (h *emitterHost[T]) Utilization(time.Duration) float64 { return h.e.loop.Utilization() }

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
