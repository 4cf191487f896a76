package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/batch/internal/engine"
	"millrace.dev/go/internal/inner"
)

// flight is a batch that is with the bulk function. It is reused.
type flight[K, V any] struct {
	calls  []*call[K, V]
	keys   []K
	seqs   []uint64 // arrival numbers of the calls
	ctx    *flightContext
	wanted int           // keys that somebody waits for
	sample engine.Sample // as in engine.Batch
	took   time.Duration // 0: not measured
	fly    func()        // the goroutine's function, made once
}

// batcherSink is where a batcher's batches go. It is called with the mutex held.
type batcherSink[K, V any] Batcher[K, V]

// Deliver puts a batch among those that are ready; false when no other may leave until one returns.
func (s *batcherSink[K, V]) Deliver(batch engine.Batch[*call[K, V]]) bool {
	b := (*Batcher[K, V])(s)
	f, counters := b.flight(), b.engine.Counters()
	for event := batch.First; event != nil; {
		next, c := event.Next(), event.Data
		b.engine.Recycle(event)
		event = next
		b.forget(c)
		if c.wanted == 0 {
			counters.CancelledTotal++
			b.done(c.seq)
			continue
		}
		c.flight = f
		f.calls = append(f.calls, c)
		f.keys = append(f.keys, c.key)
		f.seqs = append(f.seqs, c.seq)
	}
	if f.wanted = len(f.calls); f.wanted == 0 {
		// Nobody is left: no batch.
		counters.BatchTotal--
		counters.BatchTriggerTotal[batch.Trigger]--
		b.park(f)
		return true
	}
	counters.DeliveredTotal += uint64(f.wanted)
	f.sample = batch.Sample
	b.ready = append(b.ready, f)
	b.flies(+1)
	b.full = b.flying >= b.concurrency && b.engine.Options().Policy != engine.Direct
	return !b.full
}

func (s *batcherSink[K, V]) Prepare(time.Duration) {}
func (s *batcherSink[K, V]) End()                  {}

// Discard fails a call that close discards.
func (s *batcherSink[K, V]) Discard(event *engine.Event[*call[K, V]]) {
	b, c := (*Batcher[K, V])(s), event.Data
	b.forget(c)
	b.done(c.seq)
	c.settle(c.value, millrace.ErrCancelled)
}

func (b *Batcher[K, V]) flies(change int) {
	b.flying += change
	b.host.flies(b.flying)
}

func (b *Batcher[K, V]) flight() *flight[K, V] {
	if n := len(b.idle) - 1; n >= 0 {
		f := b.idle[n]
		b.idle[n] = nil
		b.idle = b.idle[:n]
		f.ctx = new(flightContext)
		return f
	}
	f := &flight[K, V]{ctx: new(flightContext)}
	f.fly = func() { b.fly(f) }
	return f
}

// park keeps a flight for another batch.
func (b *Batcher[K, V]) park(f *flight[K, V]) {
	clear(f.calls)
	clear(f.keys)
	f.calls, f.keys, f.seqs, f.ctx = f.calls[:0], f.keys[:0], f.seqs[:0], nil
	f.took = 0
	if len(b.idle) < b.concurrency {
		b.idle = append(b.idle, f)
	}
}

// launch runs the dispatch points that are due, and lets the batches that are ready fly, except the first one if it is
// to be `mine`: that is returned. The mutex is held.
func (b *Batcher[K, V]) launch(mine bool) (first *flight[K, V]) {
	for b.host.due {
		b.host.due = false
		b.engine.Turn()
	}
	for _, f := range b.ready {
		if mine && first == nil {
			first = f
		} else {
			go f.fly()
		}
	}
	clear(b.ready)
	b.ready = b.ready[:0]
	return first
}

// fly is a goroutine that takes a batch to the bulk function, and goes on with the next while there is one.
func (b *Batcher[K, V]) fly(f *flight[K, V]) {
	returned := false
	defer func() {
		if !returned {
			// Goexit: the next batch flies on another goroutine.
			if next := b.land(f, nil, nil, millrace.ErrGoexit); next != nil {
				go next.fly()
			}
		}
	}()
	for next := f; next != nil; {
		f = next
		values, each, err := b.call(f)
		next = b.land(f, values, each, err)
	}
	returned = true
}

// call calls the bulk function and checks what it returns: values, Errors if its error is that, or any other error. Its
// error may have methods that panic, so it is looked at in here only.
func (b *Batcher[K, V]) call(f *flight[K, V]) (values []V, each Errors, err error) {
	returned := false
	defer func() {
		f.ctx.end(context.Canceled)
		if returned {
			return
		}
		if value := recover(); value != nil {
			values, each, err = nil, nil, inner.Caught(value)
		}
	}()
	if f.sample == (engine.Sample{}) {
		values, err = b.fn(f.ctx, f.keys)
	} else {
		began := b.host.Clock()
		values, err = b.fn(f.ctx, f.keys)
		f.took = b.host.Clock() - began
	}
	n := len(f.keys)
	needed := err == nil
	if err != nil {
		// Not the result itself, which would be an allocation for every batch.
		var found Errors
		if errors.As(err, &found) && len(found) != n {
			err = fmt.Errorf("%w: Errors with %d entries for %d keys; return one for each, or nil when none failed",
				ErrBadResult, len(found), n)
		} else {
			each, needed = found, slices.Contains(found, nil)
		}
	}
	if needed && len(values) != n {
		each, err = nil, fmt.Errorf("%w: %d for %d; it must return one for each, in order", ErrBadResult, len(values), n)
	}
	returned = true
	return values, each, err
}

// land settles the calls of a batch, and returns the next one that this goroutine is to fly.
func (b *Batcher[K, V]) land(f *flight[K, V], values []V, each Errors, err error) *flight[K, V] {
	failure := func(i int) error {
		if each != nil {
			return each[i]
		}
		return err
	}
	b.mu.Lock()
	for i, c := range f.calls {
		c.flight = nil
		if failure(i) != nil {
			b.engine.Counters().ErrorsTotal++
		}
	}
	b.mu.Unlock()
	for i, c := range f.calls {
		var value V
		why := failure(i)
		if why == nil {
			value = values[i]
		}
		c.settle(value, why)
	}
	// Let the callers run that have their results: so their next calls get into the batch that leaves now.
	runtime.Gosched()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.host.read()
	for _, seq := range f.seqs {
		b.done(seq)
	}
	if f.took > 0 {
		b.engine.Spent(f.sample, len(f.calls), f.took)
	}
	b.park(f)
	b.flies(-1)
	if b.full {
		b.full = false
		b.engine.Delivered()
	}
	return b.launch(true)
}

// settle gives all callers that wait for the key their result.
func (c *call[K, V]) settle(value V, err error) {
	// Read before the leader's own caller wakes: from then on the call may be used again.
	sharers := c.sharers
	for _, sharer := range sharers {
		sharer.value, sharer.err = value, err
		sharer.done <- struct{}{}
	}
	c.value, c.err = value, err
	c.done <- struct{}{}
}

// flightContext is the context of a batch. Most bulk functions do not look at it, so it is set up when they do.
type flightContext struct {
	mu    sync.Mutex
	inner context.Context
	stop  context.CancelCauseFunc
	ended error
}

func (c *flightContext) made() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.stop = context.WithCancelCause(context.Background())
		if c.ended != nil {
			c.stop(c.ended)
		}
	}
	return c.inner
}

func (c *flightContext) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = why
	}
	if c.stop != nil {
		c.stop(why)
	}
}

func (c *flightContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c *flightContext) Done() <-chan struct{}       { return c.made().Done() }
func (c *flightContext) Value(key any) any           { return c.made().Value(key) }

func (c *flightContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return context.Canceled
	}
	return nil
}
