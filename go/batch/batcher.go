package batch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/batch/internal/engine"
	"millrace.dev/go/internal/inner"
)

// Batcher groups calls of a bulk function. Make one with New.
type Batcher[K, V any] struct {
	fn          func(context.Context, []K) ([]V, error)
	size        func(K) int
	concurrency int
	// Calls that wait, by identity; nil without Config.Key.
	waiting identities[K]
	calls   sync.Pool

	mu      sync.Mutex
	engine  *engine.Engine[*call[K, V]]
	kind    *engine.Type[*call[K, V]] // all calls go to one place
	host    batcherHost
	ready   []*flight[K, V] // batches that have left the queue and are not with fn yet
	idle    []*flight[K, V] // to be used again
	flying  int
	full    bool // the engine waits for a batch to return
	shared  uint64
	sharing int // calls that wait and share another one's key
	undone  int // keys that were taken and are not done
	waiters []*waiter
}

// waiter is a Flush or Close that waits for the calls before it.
type waiter struct {
	upTo      uint64
	remaining int
	done      chan struct{}
}

// call is one call of Do. It is reused once its caller has the result, but not if the caller has gone before that.
type call[K, V any] struct {
	key   K
	id    any // of the key, with Config.Key
	value V
	err   error
	done  chan struct{} // gets one token
	seq   uint64

	// For a leader, which is every call without Config.Key: its place in the queue, the batch that it is in, the calls
	// that share its key, whether more may share it, and how many callers wait for all these.
	ref     engine.Ref[*call[K, V]]
	flight  *flight[K, V]
	sharers []*call[K, V]
	open    bool
	wanted  int
	place   int // for a call that shares: its place among the sharers
}

// New makes a Batcher of a bulk function: Do takes one key and returns one result, and fn gets many keys at once. The
// first call leaves at once; while a batch is in flight, later calls queue, and leave together when it returns. So a
// lone call does not wait, and under load the batches grow as large as fn is slow. That is group commit, for an fn that
// writes; for one that reads, a multi-get.
//
// fn runs on a goroutine of its own, one for each batch in flight and none when there is none. It returns one result
// for each key, in order. An error fails every call of the batch; Errors fail them one by one. The keys are fn's until
// it returns; then the memory is reused. ctx ends when fn returns, or when no caller waits for the batch any more; it
// has no values and no deadline.
//
// Under Direct each call is a batch of its own that leaves inside Do. An error wraps millrace.ErrOption and names the
// field, its value and its range.
func New[K, V any](
	fn func(ctx context.Context, keys []K) ([]V, error), config Config[K, V],
) (b *Batcher[K, V], err error) {
	if fn == nil {
		return nil, fmt.Errorf("%w: New needs the bulk function", millrace.ErrOption)
	}
	if err := inner.Within("Concurrency", config.Concurrency, 1, 65_536); err != nil {
		return nil, err
	}
	b = &Batcher[K, V]{fn: fn, concurrency: cmp.Or(config.Concurrency, 1), size: config.Size}
	if config.Key != nil {
		b.waiting = config.Key()
	}
	b.calls.New = func() any { return &call[K, V]{done: make(chan struct{}, 1)} }
	b.host.start, b.host.used = time.Now(), engine.NewUtilization(0)
	b.host.concurrency = b.concurrency
	b.host.holdEnded = b.holdEnded
	if b.engine, err = engine.New[*call[K, V]](&b.host, (*batcherSink[K, V])(b), config.queue()); err != nil {
		return nil, err
	}
	b.kind = b.engine.Queue().Type("call")
	b.kind.Pinned = true
	return b, nil
}

// Do queues a key and waits for its result. Any goroutine.
//
// When ctx ends first, Do returns ctx.Err(). If its batch has not left, fn never sees the key; if it has, the batch
// goes on without a caller for the result. Other errors, of package millrace unless said: ErrOverload, ErrClosed,
// ErrCancelled, the error of fn, ErrBadResult of this package, a *PanicError or ErrGoexit of fn, and ErrOption for a
// size below 0.
//
// Do not call Do, Flush or Close inside fn: the batches in flight would wait for themselves.
//
// Costs two switches of goroutines; no allocation beyond fn's own while batches are in flight, one when fn was idle
// (go test -bench Do ./batch).
func (b *Batcher[K, V]) Do(ctx context.Context, key K) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	bytes := 0
	if b.size != nil {
		bytes = b.size(key)
		if err := checkBytes(bytes); err != nil {
			return none, err
		}
	}
	c := b.calls.Get().(*call[K, V])
	c.key = key
	if b.waiting != nil {
		c.id = b.waiting.of(key, c.id)
	}
	leader, err := b.enqueue(c, bytes)
	if err != nil {
		b.reuse(c)
		return none, err
	}
	if done := ctx.Done(); done != nil {
		select {
		case <-c.done:
		case <-done:
			select {
			case <-c.done:
			default:
				b.leave(leader, c)
				return none, ctx.Err()
			}
		}
	} else {
		<-c.done
	}
	value, err := c.value, c.err
	b.reuse(c)
	return value, err
}

// reuse keeps a call that is over for another; not a shared one, which a caller that shares it may be about to leave.
func (b *Batcher[K, V]) reuse(c *call[K, V]) {
	if c.sharers == nil {
		*c = call[K, V]{done: c.done, id: c.id}
		b.calls.Put(c)
	}
}

// enqueue queues the call, or lets it share the key of one that waits, which it returns.
func (b *Batcher[K, V]) enqueue(c *call[K, V], bytes int) (leader *call[K, V], err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.host.read()
	if c.id != nil && !b.engine.Closed() {
		if other := b.waiting.get(c.id); other != nil {
			return other.(*call[K, V]), b.share(other.(*call[K, V]), c)
		}
		// Before the push: under Direct the batch leaves inside it.
		b.waiting.set(c.id, c)
		c.open = true
	}
	c.wanted = 1
	b.undone++
	c.seq = b.engine.Pushed() + 1
	ref, err := b.engine.Push(b.kind, c, engine.OfType, int64(bytes))
	if err != nil {
		b.undone--
		b.forget(c)
		return nil, err
	}
	c.ref = ref
	b.launch(false)
	return c, nil
}

func (b *Batcher[K, V]) share(leader, c *call[K, V]) error {
	o := b.engine.Options()
	if b.sharing >= o.MaxQueue {
		b.engine.Counters().RefusedTotal.Overloaded++
		return fmt.Errorf("%w: %d calls wait that share a key, and MaxQueue is %d", millrace.ErrOverload, b.sharing, o.MaxQueue)
	}
	c.place = len(leader.sharers)
	leader.sharers = append(leader.sharers, c)
	leader.wanted++
	b.shared++
	b.sharing++
	return nil
}

// forget makes sure that nobody can share the call's key any more.
func (b *Batcher[K, V]) forget(c *call[K, V]) {
	if c.open {
		c.open = false
		b.waiting.remove(c.id)
		b.sharing -= len(c.sharers)
	}
}

// leave is for a caller that does not wait for the key of c any more; its own call is c, or shares it.
func (b *Batcher[K, V]) leave(c, own *call[K, V]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.host.read()
	if own != c && c.open {
		last := len(c.sharers) - 1
		c.sharers[own.place], c.sharers[last].place = c.sharers[last], own.place
		c.sharers[last] = nil
		c.sharers = c.sharers[:last]
		b.sharing--
	}
	if c.wanted--; c.wanted > 0 {
		return
	}
	if f := c.flight; f != nil {
		if f.wanted--; f.wanted == 0 {
			f.ctx.end(context.Canceled)
		}
		return
	}
	b.forget(c)
	// If it was cut already, it is left out when its batch leaves.
	if b.engine.Withdraw(c.ref) {
		b.done(c.seq)
	}
}

// Flush sends the queued calls as soon as Concurrency allows, with those that come until then, and waits until all
// calls made so far have their results, or until ctx ends. A call counts towards MaxQueue until it has left. Not inside
// fn, which it would wait for.
func (b *Batcher[K, V]) Flush(ctx context.Context) error {
	b.mu.Lock()
	b.host.read()
	// The host takes every call: there is no error.
	_ = b.engine.FlushSoon()
	b.launch(false)
	return b.unlockAndWait(ctx)
}

// Close refuses later calls with ErrClosed, sends the queued calls, and waits until all calls have their results. When
// ctx ends first, calls that have not left are refused with ErrCancelled, and Close returns ctx.Err(); batches in
// flight go on. With a context that has ended already nothing more leaves. A second call waits for the first. Not
// inside fn.
func (b *Batcher[K, V]) Close(ctx context.Context) error {
	b.mu.Lock()
	b.host.read()
	waiting := b.undone > 0
	_ = b.engine.Close(ctx.Err() != nil)
	b.launch(false)
	if waiting && b.undone == 0 {
		// All of them were refused just now.
		b.mu.Unlock()
		return ctx.Err()
	}
	err := b.unlockAndWait(ctx)
	if err != nil {
		b.mu.Lock()
		b.host.read()
		b.engine.Abandon()
		b.mu.Unlock()
	}
	return err
}

// unlockAndWait waits until the calls made so far are over, or ctx ends.
func (b *Batcher[K, V]) unlockAndWait(ctx context.Context) error {
	if b.undone == 0 {
		b.mu.Unlock()
		return nil
	}
	w := &waiter{b.engine.Pushed(), b.undone, make(chan struct{})}
	b.waiters = append(b.waiters, w)
	b.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// done notes that the key with this arrival number is over.
func (b *Batcher[K, V]) done(seq uint64) {
	b.undone--
	b.waiters = slices.DeleteFunc(b.waiters, func(w *waiter) bool {
		if seq <= w.upTo {
			w.remaining--
		}
		if w.remaining == 0 {
			close(w.done)
		}
		return w.remaining == 0
	})
}

// BatcherStats are Stats, where an event is a key, and an error is a call that fn failed.
type BatcherStats struct {
	Stats
	// InFlight is the number of batches that fn is running now.
	InFlight int
	// SharedTotal is the number of calls that shared another call's key.
	SharedTotal uint64
}

// Stats is a snapshot. Any goroutine.
func (b *Batcher[K, V]) Stats() BatcherStats {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.host.read()
	return BatcherStats{Stats: Stats(b.engine.Stats()), InFlight: b.flying, SharedTotal: b.shared}
}

func (b *Batcher[K, V]) holdEnded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.host.read()
	b.engine.HoldEnded()
	b.launch(false)
}

// ---- the host

// batcherHost is the world of a batcher's engine: its dispatch point is the end of the call that pushed.
type batcherHost struct {
	start       time.Time
	now         time.Duration
	due         bool
	timer       *time.Timer
	holdEnded   func()
	used        engine.Utilization
	usedSince   time.Duration
	busy        time.Duration // of all batches that were in flight
	flying      int
	concurrency int
}

// read reads the clock, once each time that the mutex is taken.
func (h *batcherHost) read() { h.now = time.Since(h.start) }

func (h *batcherHost) Now() time.Duration   { return h.now }
func (h *batcherHost) Clock() time.Duration { return time.Since(h.start) }
func (h *batcherHost) Inside() bool         { return true }
func (h *batcherHost) Alive() bool          { return true }
func (h *batcherHost) MayHold() bool        { return true }

func (h *batcherHost) Schedule() error {
	h.due = true
	return nil
}

func (h *batcherHost) Arm(deadline time.Duration) error {
	switch wait := deadline - h.now; {
	case deadline < 0:
		h.timer.Stop()
	case h.timer == nil:
		h.timer = time.AfterFunc(wait, h.holdEnded)
	default:
		h.timer.Reset(wait)
	}
	return nil
}

// flies notes how many batches are in flight from now on.
func (h *batcherHost) flies(n int) {
	flown := (h.now - h.usedSince) * time.Duration(h.flying)
	h.used.Observe(h.usedSince, h.now, flown/time.Duration(h.concurrency))
	h.busy += flown
	h.usedSince, h.flying = h.now, n
}

// Utilization is the share of Concurrency that is in use.
func (h *batcherHost) Utilization(now time.Duration) float64 {
	h.flies(h.flying)
	return h.used.Read(now)
}

// Busy is the time of the bulk function.
func (h *batcherHost) Busy(time.Duration) time.Duration {
	h.flies(h.flying)
	return h.busy
}

func (h *batcherHost) HoldCost() time.Duration { return holdCost }
