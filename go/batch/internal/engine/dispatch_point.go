package engine

import "time"

// batchesPerTurn may leave at one dispatch point, so that handlers that keep pushing cannot keep the loop.
const batchesPerTurn = 8

// Turn is the end of the turn that the host was asked for.
func (e *Engine[T]) Turn() {
	if e.scheduled {
		e.scheduled = false
		e.begin(true)
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
		e.begin(false)
	}
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

func (e *Engine[T]) arm(deadline time.Duration) bool {
	e.armed = e.host.Arm(deadline) == nil
	return e.armed
}

func (e *Engine[T]) begin(ask bool) {
	if e.busy {
		e.missed = true
		return
	}
	e.missed = false
	now := e.host.Now()
	e.advisor.fold(now)
	e.recycler.point(e.queue.count)
	e.budget = batchesPerTurn
	e.ask = ask
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
		batch := e.take(e.options.MaxBatch)
		if e.heldFrom > 0 && trigger != TriggerFlush {
			e.advisor.held(batch.count - e.heldFrom)
		}
		e.endHold()
		e.ask = true
		if !e.handOn(batch, trigger) {
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
		e.begin(true)
		return
	}
	if e.budget == 0 {
		// Not within a dispatch point: this is one.
		e.budget = batchesPerTurn
		e.ask = true
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
	asked := e.ask || e.hold < 0
	if asked {
		e.hold = e.advisor.hold(e, now)
	}
	switch {
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
	if e.heldFrom == 0 {
		e.heldFrom = q.count
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
	e.hold = never
	e.heldFrom = 0
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
			e.counters.QueueWaitMax[p] = max(e.counters.QueueWaitMax[p], now-pushed)
		}
	}
	return batch
}

// handOn gives a batch to the sink; false when that needs time.
func (e *Engine[T]) handOn(batch chain[T], trigger Trigger) bool {
	e.busy = true
	if !e.leave(batch, trigger) {
		return false
	}
	e.busy = false
	e.afterBatch()
	return true
}

func (e *Engine[T]) leave(batch chain[T], trigger Trigger) bool {
	e.counters.BatchTotal++
	e.counters.BatchTriggerTotal[trigger]++
	return e.sink.Deliver(Batch[T]{Trigger: trigger, Time: e.host.Now(), First: batch.first, Count: batch.count})
}

// prepare lets the sink do what is due before anything leaves; its handlers may flush, switch or close, as those of a
// batch may.
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

func (e *Engine[T]) inHandler() bool { return e.busy || e.nested > 0 }
