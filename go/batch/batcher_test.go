package batch_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/batch"
)

// gate is a bulk function that shows each batch and waits to be told to return.
type gate struct {
	batches chan []int
	ctxs    chan context.Context
	let     chan error
}

func newGate() *gate {
	return &gate{make(chan []int, 16), make(chan context.Context, 16), make(chan error)}
}

func (g *gate) fn(ctx context.Context, keys []int) ([]int, error) {
	g.batches <- slices.Clone(keys)
	g.ctxs <- ctx
	err := <-g.let
	values := make([]int, len(keys))
	for i, key := range keys {
		values[i] = 10 * key
	}
	return values, err
}

// config is that of most batchers here.
type config = batch.Config[int, int]

func newBatch(
	t *testing.T, fn func(context.Context, []int) ([]int, error), settings ...config,
) *batch.Batcher[int, int] {
	t.Helper()
	b, err := batch.New(fn, append(settings, config{})[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type result struct {
	value int
	err   error
}

// do calls Do on a goroutine.
func do(ctx context.Context, b *batch.Batcher[int, int], key int) chan result {
	done := make(chan result, 1)
	go func() {
		value, err := b.Do(ctx, key)
		done <- result{value, err}
	}()
	return done
}

// queued waits until so many keys wait.
func queued(b *batch.Batcher[int, int], n int) {
	for b.Stats().QueueDepth.Normal != n {
		runtime.Gosched()
	}
}

func want(t *testing.T, got chan result, value int, err error) {
	t.Helper()
	if r := <-got; r.value != value || !errors.Is(r.err, err) {
		t.Errorf("got %v, %v; want %v, %v", r.value, r.err, value, err)
	}
}

func wantBatch(t *testing.T, g *gate, keys ...int) {
	t.Helper()
	got := <-g.batches
	<-g.ctxs
	slices.Sort(got)
	if !slices.Equal(got, keys) {
		t.Errorf("got the batch %v, want %v", got, keys)
	}
}

var background = context.Background()

func TestTheFirstCallLeavesAtOnceAndTheNextGather(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn)
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	second, third := do(background, b, 2), do(background, b, 3)
	queued(b, 2)
	if s := b.Stats(); s.InFlight != 1 || s.PushedTotal != 3 || s.BatchTotal != 1 {
		t.Errorf("stats: %+v", s)
	}
	g.let <- nil
	want(t, first, 10, nil)
	wantBatch(t, g, 2, 3)
	g.let <- nil
	want(t, second, 20, nil)
	want(t, third, 30, nil)
}

func TestConcurrentBatches(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{Concurrency: 2})
	one := do(background, b, 1)
	wantBatch(t, g, 1)
	two := do(background, b, 2)
	wantBatch(t, g, 2)
	three := do(background, b, 3)
	queued(b, 1)
	if s := b.Stats(); s.InFlight != 2 {
		t.Errorf("%d in flight, want 2", s.InFlight)
	}
	g.let <- nil
	wantBatch(t, g, 3)
	g.let <- nil
	g.let <- nil
	want(t, one, 10, nil)
	want(t, two, 20, nil)
	want(t, three, 30, nil)
}

func TestMaxBatchCuts(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{MaxBatch: 2})
	calls := []chan result{do(background, b, 1)}
	wantBatch(t, g, 1)
	for key := 2; key <= 4; key++ {
		calls = append(calls, do(background, b, key))
		queued(b, key-1)
	}
	g.let <- nil
	wantBatch(t, g, 2, 3)
	g.let <- nil
	wantBatch(t, g, 4)
	g.let <- nil
	for i, call := range calls {
		want(t, call, 10*(i+1), nil)
	}
	if s := b.Stats(); s.BatchTriggerTotal[batch.TriggerSize] != 1 {
		t.Errorf("triggers: %v", s.BatchTriggerTotal)
	}
}

func TestErrorsOfTheBulkFunction(t *testing.T) {
	broken := errors.New("broken")
	cases := []struct {
		name string
		fn   func(context.Context, []int) ([]int, error)
		err  error
		text string
	}{
		{"an error", func(context.Context, []int) ([]int, error) { return nil, broken }, broken, "broken"},
		{"too few results", func(context.Context, []int) ([]int, error) { return nil, nil }, batch.ErrBadResult, "0 for 1"},
		{"too many", func(context.Context, []int) ([]int, error) { return []int{1, 2}, nil }, batch.ErrBadResult, "2 for 1"},
		{"Errors", func(context.Context, []int) ([]int, error) { return []int{1}, batch.Errors{broken} }, broken, "broken"},
		{"wrapped Errors", func(context.Context, []int) ([]int, error) {
			return []int{1}, fmt.Errorf("with context: %w", batch.Errors{broken})
		}, broken, "broken"},
		{"Errors of another length", func(context.Context, []int) ([]int, error) {
			return []int{1}, batch.Errors{broken, broken}
		}, batch.ErrBadResult, "2 entries for 1 keys"},
		{"Errors without results", func(context.Context, []int) ([]int, error) {
			return nil, batch.Errors{nil}
		}, batch.ErrBadResult, "0 for 1"},
		{"a panic", func(context.Context, []int) ([]int, error) { panic(broken) }, broken, "TestErrorsOfTheBulkFunction"},
		{"a nil panic", func(context.Context, []int) ([]int, error) { panic(nil) }, nil, "panic called with nil"},
		{"Goexit", func(context.Context, []int) ([]int, error) {
			runtime.Goexit()
			return nil, nil
		}, millrace.ErrGoexit, "Goexit"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBatch(t, c.fn)
			// Twice: the batcher goes on.
			for range 2 {
				_, err := b.Do(background, 1)
				if err == nil || c.err != nil && !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("got %v; want %v, with %q", err, c.err, c.text)
				}
			}
			if s := b.Stats(); s.ErrorsTotal != 2 {
				t.Errorf("%d errors counted, want 2", s.ErrorsTotal)
			}
		})
	}
}

func TestErrorsFailCallsOneByOne(t *testing.T) {
	odd := errors.New("odd")
	start := make(chan struct{})
	b := newBatch(t, func(_ context.Context, keys []int) ([]int, error) {
		<-start
		failures := make(batch.Errors, len(keys))
		for i, key := range keys {
			if key%2 == 1 {
				failures[i] = odd
			}
		}
		if len(failures.Unwrap()) > 0 && !strings.Contains(failures.Error(), "odd") {
			t.Errorf("the text is %q", failures)
		}
		return keys, failures
	})
	calls := []chan result{do(background, b, 0)}
	queuedOrFlying(b, 1)
	for key := 1; key < 10; key++ {
		calls = append(calls, do(background, b, key))
	}
	queued(b, 9)
	close(start)
	for key, call := range calls {
		if key%2 == 1 {
			want(t, call, 0, odd)
		} else {
			want(t, call, key, nil)
		}
	}
	if s := b.Stats(); s.ErrorsTotal != 5 || s.BatchTotal != 2 {
		t.Errorf("stats: %+v", s)
	}
}

func queuedOrFlying(b *batch.Batcher[int, int], flying int) {
	for b.Stats().InFlight != flying {
		runtime.Gosched()
	}
}

func TestGoexitOfABatchThatOthersFollow(t *testing.T) {
	start := make(chan struct{})
	b := newBatch(t, func(_ context.Context, keys []int) ([]int, error) {
		<-start
		if keys[0] == 1 {
			runtime.Goexit()
		}
		return keys, nil
	})
	first := do(background, b, 1)
	queuedOrFlying(b, 1)
	second := do(background, b, 2)
	queued(b, 1)
	close(start)
	want(t, first, 0, millrace.ErrGoexit)
	want(t, second, 2, nil)
}

func TestACallIsCancelledBeforeItsBatchLeaves(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn)
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	ctx, cancel := context.WithCancel(background)
	second := do(ctx, b, 2)
	queued(b, 1)
	third := do(background, b, 3)
	queued(b, 2)
	cancel()
	want(t, second, 0, context.Canceled)
	g.let <- nil
	want(t, first, 10, nil)
	wantBatch(t, g, 3)
	g.let <- nil
	want(t, third, 30, nil)
	if s := b.Stats(); s.CancelledTotal != 1 || s.DeliveredTotal != 2 {
		t.Errorf("stats: %+v", s)
	}
	if _, err := b.Do(ctx, 4); err != context.Canceled {
		t.Errorf("a context that has ended: %v", err)
	}
}

func TestACallIsCancelledAfterItsBatchLeft(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn)
	ctx, cancel := context.WithCancel(background)
	first := do(ctx, b, 1)
	<-g.batches
	flight := <-g.ctxs
	if flight.Err() != nil {
		t.Errorf("the batch's context has ended already: %v", flight.Err())
	}
	cancel()
	want(t, first, 0, context.Canceled)
	// Nobody waits for it any more.
	<-flight.Done()
	if flight.Err() != context.Canceled {
		t.Errorf("the batch's context: %v", flight.Err())
	}
	g.let <- nil
	// The batcher goes on.
	next := do(background, b, 2)
	wantBatch(t, g, 2)
	g.let <- nil
	want(t, next, 20, nil)
}

func TestABatchGoesOnWhileSomebodyWaits(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn)
	one := do(background, b, 1)
	wantBatch(t, g, 1)
	ctx, cancel := context.WithCancel(background)
	two := do(ctx, b, 2)
	queued(b, 1)
	three := do(background, b, 3)
	queued(b, 2)
	g.let <- nil
	want(t, one, 10, nil)
	<-g.batches
	flight := <-g.ctxs
	cancel()
	want(t, two, 0, context.Canceled)
	if flight.Err() != nil {
		t.Error("the batch's context ended while a caller waited")
	}
	child, stop := context.WithCancel(flight)
	defer stop()
	g.let <- nil
	want(t, three, 30, nil)
	// It ends with the batch, and what derives from it too.
	<-child.Done()
}

func TestBoundsRefuse(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{
		MaxQueue:      2,
		MaxQueueBytes: 10,
		Size:          func(key int) int { return key },
	})
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	second := do(background, b, 8)
	queued(b, 1)
	if _, err := b.Do(background, 3); !errors.Is(err, millrace.ErrOverload) || !strings.Contains(err.Error(), "8 bytes") {
		t.Errorf("too many bytes: %v", err)
	}
	third := do(background, b, 2)
	queued(b, 2)
	_, err := b.Do(background, 0)
	if !errors.Is(err, millrace.ErrOverload) || !strings.Contains(err.Error(), "MaxQueue is 2") {
		t.Errorf("too many calls: %v", err)
	}
	if _, err := b.Do(background, -1); !errors.Is(err, millrace.ErrOption) {
		t.Errorf("a size below 0: %v", err)
	}
	g.let <- nil
	wantBatch(t, g, 2, 8)
	g.let <- nil
	want(t, first, 10, nil)
	want(t, second, 80, nil)
	want(t, third, 20, nil)
	if s := b.Stats(); s.RefusedTotal.Overloaded != 2 {
		t.Errorf("%d refused, want 2", s.RefusedTotal.Overloaded)
	}
}

func TestCallsWithTheSameIdentityShare(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{Key: batch.KeyOf(func(key int) int { return key % 10 }), MaxQueue: 2})
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	// What has left is not shared.
	leader := do(background, b, 11)
	queued(b, 1)
	ctx, cancel := context.WithCancel(background)
	shares, leaves := do(background, b, 21), do(ctx, b, 31)
	for b.Stats().SharedTotal != 2 {
		runtime.Gosched()
	}
	if _, err := b.Do(background, 41); !errors.Is(err, millrace.ErrOverload) {
		t.Errorf("a third that shares: %v", err)
	}
	cancel()
	want(t, leaves, 0, context.Canceled)
	g.let <- nil
	want(t, first, 10, nil)
	wantBatch(t, g, 11)
	g.let <- nil
	want(t, leader, 110, nil)
	want(t, shares, 110, nil)
	// As many may share again.
	first = do(background, b, 1)
	wantBatch(t, g, 1)
	calls := []chan result{do(background, b, 2), do(background, b, 12), do(background, b, 22)}
	for b.Stats().SharedTotal != 4 {
		runtime.Gosched()
	}
	g.let <- nil
	want(t, first, 10, nil)
	leads := <-g.batches
	<-g.ctxs
	g.let <- nil
	for _, call := range calls {
		want(t, call, 10*leads[0], nil)
	}
}

func TestALeaderLeavesAndItsSharerStays(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{Key: batch.KeyOf(func(key int) int { return key % 10 })})
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	ctx, cancel := context.WithCancel(background)
	leader := do(ctx, b, 12)
	queued(b, 1)
	sharer := do(background, b, 22)
	for b.Stats().SharedTotal != 1 {
		runtime.Gosched()
	}
	cancel()
	want(t, leader, 0, context.Canceled)
	g.let <- nil
	want(t, first, 10, nil)
	wantBatch(t, g, 12)
	g.let <- nil
	want(t, sharer, 120, nil)
}

func TestAllWhoShareLeave(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{Key: batch.KeyOf(func(key int) int { return key % 10 })})
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	ctx, cancel := context.WithCancel(background)
	leader := do(ctx, b, 12)
	queued(b, 1)
	sharer := do(ctx, b, 22)
	for b.Stats().SharedTotal != 1 {
		runtime.Gosched()
	}
	cancel()
	want(t, leader, 0, context.Canceled)
	want(t, sharer, 0, context.Canceled)
	queued(b, 0)
	// A later one with that identity is not tied to those.
	later := do(background, b, 32)
	queued(b, 1)
	g.let <- nil
	want(t, first, 10, nil)
	wantBatch(t, g, 32)
	g.let <- nil
	want(t, later, 320, nil)
}

func TestFixedHoldsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		b := newBatch(t, g.fn, config{Policy: batch.Fixed, MaxDelay: 20 * time.Millisecond, Threshold: 3})
		start := time.Now()
		one, two := do(background, b, 1), do(background, b, 2)
		wantBatch(t, g, 1, 2)
		if waited := time.Since(start); waited != 20*time.Millisecond {
			t.Errorf("held for %v, want 20ms", waited)
		}
		g.let <- nil
		want(t, one, 10, nil)
		want(t, two, 20, nil)
		start = time.Now()
		calls := []chan result{do(background, b, 1), do(background, b, 2), do(background, b, 3)}
		wantBatch(t, g, 1, 2, 3)
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the threshold waited %v", waited)
		}
		g.let <- nil
		for i, call := range calls {
			want(t, call, 10*(i+1), nil)
		}
		// Nothing is left to be held, and a cancelled call leaves no timer behind that does harm.
		ctx, cancel := context.WithCancel(background)
		gone := do(ctx, b, 9)
		synctest.Wait()
		cancel()
		want(t, gone, 0, context.Canceled)
		time.Sleep(time.Second)
		if s := b.Stats(); s.BatchTotal != 2 || s.QueueDepth.Normal != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestAdaptiveStopsHoldingWhereNothingIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(t, func(_ context.Context, keys []int) ([]int, error) {
			time.Sleep(9 * time.Millisecond)
			return keys, nil
		}, config{MaxDelay: 10 * time.Millisecond})
		start := time.Now()
		b.Do(background, 1)
		if took := time.Since(start); took != 9*time.Millisecond {
			t.Errorf("idle, a call took %v, want 9ms", took)
		}
		// One caller after another keeps fn busy, and each call waits for more that never come.
		longest := time.Duration(0)
		for range 200 {
			start := time.Now()
			b.Do(background, 1)
			longest = max(longest, time.Since(start))
		}
		if longest <= 9*time.Millisecond || longest > 19*time.Millisecond {
			t.Errorf("busy, the longest call took %v, want up to 19ms", longest)
		}
		start = time.Now()
		for range 50 {
			b.Do(background, 1)
		}
		if took := time.Since(start); took != 450*time.Millisecond {
			t.Errorf("after windows without a saving 50 calls took %v, want 450ms", took)
		}
		if p := b.Stats().Policy; p.Why != "no saving measured" || !p.SavingMeasured || p.Saving > 0.02 || p.Hold != 0 {
			t.Errorf("the policy says %+v", p)
		}
	})
}

func TestAdaptiveHoldsWhereItPays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(t, func(_ context.Context, keys []int) ([]int, error) {
			time.Sleep(2*time.Millisecond + time.Duration(len(keys))*100*time.Microsecond)
			return keys, nil
		}, config{MaxDelay: 20 * time.Millisecond})
		if p := b.Stats().Policy; p.Why != "not asked yet" {
			t.Errorf("at first the policy says %+v", p)
		}
		for i := range 3000 {
			go b.Do(background, i)
			time.Sleep(time.Millisecond)
		}
		s := b.Stats()
		p := s.Policy
		if s.BatchTotal > 3000/10 {
			t.Errorf("%d batches for 3,000 calls, one each ms", s.BatchTotal)
		}
		if p.Saving < 0.5 || p.Why != "" && p.Why != "comparison window" {
			t.Errorf("the policy says %+v", p)
		}
		if near := func(got, want time.Duration) bool { return max(got-want, want-got) < want/20 }; !near(p.BatchCost, 2*time.Millisecond) ||
			!near(p.EventCost, 100*time.Microsecond) {
			t.Errorf("the costs are %v and %v", p.BatchCost, p.EventCost)
		}
		b.Close(background)
		if waited := b.Stats().QueueWaitMax.Normal; waited > 25*time.Millisecond {
			t.Errorf("a call waited %v", waited)
		}
	})
}

func TestDirectBatchesNothing(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{Policy: batch.Direct})
	calls := []chan result{}
	for key := 1; key <= 3; key++ {
		calls = append(calls, do(background, b, key))
		wantBatch(t, g, key)
	}
	for range calls {
		g.let <- nil
	}
	for i, call := range calls {
		want(t, call, 10*(i+1), nil)
	}
}

func TestFlushWaitsForTheCallsBeforeIt(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{Policy: batch.Fixed, MaxDelay: time.Minute})
	one := do(background, b, 1)
	queued(b, 1)
	flushed := make(chan error, 1)
	go func() { flushed <- b.Flush(background) }()
	wantBatch(t, g, 1)
	two := do(background, b, 2)
	queued(b, 1)
	select {
	case err := <-flushed:
		t.Errorf("Flush returned %v with a call in flight", err)
	default:
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if err := b.Flush(ctx); err != context.Canceled {
		t.Errorf("Flush with an ended context: %v", err)
	}
	g.let <- nil
	want(t, one, 10, nil)
	if err := <-flushed; err != nil {
		t.Error(err)
	}
	wantBatch(t, g, 2)
	g.let <- nil
	want(t, two, 20, nil)
	if err := b.Flush(background); err != nil {
		t.Error(err)
	}
}

func TestCloseSendsWhatWaits(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn)
	one := do(background, b, 1)
	wantBatch(t, g, 1)
	two := do(background, b, 2)
	queued(b, 1)
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- b.Close(background) }()
	}
	for {
		if _, err := b.Do(canceledSoon(), 3); errors.Is(err, millrace.ErrClosed) {
			break
		}
	}
	g.let <- nil
	wantBatch(t, g, 2)
	g.let <- nil
	want(t, one, 10, nil)
	want(t, two, 20, nil)
	for range 2 {
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
	if _, err := b.Do(background, 4); !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := b.Flush(background); err != nil {
		t.Error(err)
	}
}

// canceledSoon is a context that lets a call in, and out again.
func canceledSoon() context.Context {
	ctx, cancel := context.WithCancel(background)
	time.AfterFunc(time.Millisecond, cancel)
	return ctx
}

func TestCloseDiscardsWhenItsContextEnds(t *testing.T) {
	for _, when := range []string{"before", "meanwhile"} {
		t.Run(when, func(t *testing.T) {
			g := newGate()
			b := newBatch(t, g.fn)
			one := do(background, b, 1)
			wantBatch(t, g, 1)
			two := do(background, b, 2)
			queued(b, 1)
			ctx, cancel := context.WithCancel(background)
			if when == "before" {
				cancel()
			} else {
				time.AfterFunc(time.Millisecond, cancel)
			}
			if err := b.Close(ctx); err != context.Canceled {
				t.Errorf("Close: %v", err)
			}
			want(t, two, 0, millrace.ErrCancelled)
			g.let <- nil
			want(t, one, 10, nil)
			if err := b.Close(background); err != nil {
				t.Error(err)
			}
			if s := b.Stats(); s.RefusedTotal.Cancelled != 1 || s.BatchTotal != 1 {
				t.Errorf("stats: %+v", s)
			}
		})
	}
}

func TestCloseSaysThatItDiscardedAll(t *testing.T) {
	g := newGate()
	b, err := batch.New(g.fn, config{Policy: batch.Fixed, MaxDelay: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	one := do(background, b, 1)
	queued(b, 1)
	if err := b.Close(ended()); err != context.Canceled {
		t.Errorf("Close: %v", err)
	}
	want(t, one, 0, millrace.ErrCancelled)
}

func TestBadOptionsOfNew(t *testing.T) {
	fn := func(_ context.Context, keys []int) ([]int, error) { return keys, nil }
	cases := []struct {
		config config
		text   string
	}{
		{config{MaxBatch: -1}, "MaxBatch is -1; it must be from 1 to 1000000"},
		{config{MaxBatch: 1_000_001}, "MaxBatch"},
		{config{MaxDelay: -2}, "MaxDelay is -2ns; it must be from 0 (None) to 1m0s"},
		{config{MaxDelay: time.Hour}, "MaxDelay"},
		{config{MinSaving: -2}, "MinSaving is -2; it must be from 0 (None) to 1"},
		{config{MinSaving: 1.5}, "MinSaving"},
		{config{MinSaving: math.NaN()}, "MinSaving is NaN"},
		{config{Threshold: -2}, "Threshold"},
		{config{MaxQueue: -1}, "MaxQueue"},
		{config{MaxQueueBytes: -1}, "MaxQueueBytes"},
		{config{Policy: 9}, "Policy is 9; it must be Adaptive, Fixed or Direct"},
		{config{Hold: 3}, "Hold"},
		{config{Concurrency: -1}, "Concurrency is -1; it must be from 1 to 65536"},
		{config{Concurrency: 65_537}, "Concurrency"},
	}
	for _, c := range cases {
		if _, err := batch.New(fn, c.config); !errors.Is(err, millrace.ErrOption) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("want %q, got %v", c.text, err)
		}
	}
	for _, c := range []config{{}, {MaxDelay: batch.None, MinSaving: batch.None, Threshold: batch.None, Key: batch.KeyOf[int, int](nil)}} {
		if _, err := batch.New(fn, c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := batch.New(nil, config{}); !errors.Is(err, millrace.ErrOption) {
		t.Errorf("a nil function: %v", err)
	}
}

func TestDoAllocatesOnceAloneAndNothingWhenBusy(t *testing.T) {
	if raceEnabled {
		// sync.Pool then drops at random what it is given.
		return
	}
	for name, settings := range map[string]config{"plain": {}, "with a key": {Key: batch.KeyOf(strconv.Itoa)}} {
		b := newBatch(t, func(_ context.Context, keys []int) ([]int, error) { return keys, nil }, settings)
		allocated := 1.0
		if settings.Key != nil {
			// Itoa's own.
			allocated++
		}
		b.Do(background, 1000)
		if n := testing.AllocsPerRun(200, func() { b.Do(background, 1000) }); n > allocated {
			t.Errorf("%s: a lone call allocates %v times, want %v", name, n, allocated)
		}
	}
	// Busy: what 100 callers do shares the few allocations of their batches.
	const callers, each = 100, 200
	b := newBatch(t, func(_ context.Context, keys []int) ([]int, error) { return keys, nil })
	round := func() {
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				for range each {
					b.Do(background, 1)
				}
			})
		}
		group.Wait()
	}
	round()
	if n := testing.AllocsPerRun(5, round) / (callers * each); n > 0.5 {
		t.Errorf("busy, a call allocates %v times, want 0", n)
	}
}

// TestManyCallersShare: callers that come and go get the result of their own identity.
func TestManyCallersShare(t *testing.T) {
	b := newBatch(t, func(_ context.Context, keys []int) ([]int, error) { return keys, nil },
		config{Key: batch.KeyOf(func(key int) int { return key % 10 }), MaxBatch: 4})
	var group sync.WaitGroup
	for caller := range 40 {
		group.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithCancel(background)
				if n%3 == 0 {
					go cancel()
				}
				key := 10*caller + n%10
				if value, err := b.Do(ctx, key); err != context.Canceled && (err != nil || value%10 != key%10) {
					t.Errorf("key %d: %d, %v", key, value, err)
				}
				cancel()
			}
		})
	}
	group.Wait()
	if err := b.Flush(background); err != nil {
		t.Error(err)
	}
	s := b.Stats()
	if s.DeliveredTotal+s.CancelledTotal != s.PushedTotal || s.InFlight != 0 || s.QueueDepth.Normal != 0 {
		t.Errorf("stats: %+v", s)
	}
}

// TestManyCallers: each call gets its own result or error, whatever the others do, and each key that was taken is
// either given to the bulk function once or cancelled.
func TestManyCallers(t *testing.T) {
	odd := errors.New("odd")
	var mu sync.Mutex
	seen := map[int]int{}
	b := newBatch(t, func(_ context.Context, keys []int) ([]int, error) {
		values, failures := make([]int, len(keys)), make(batch.Errors, len(keys))
		mu.Lock()
		defer mu.Unlock()
		for i, key := range keys {
			seen[key]++
			values[i] = key + 1
			if key%7 == 0 {
				failures[i] = odd
			}
		}
		return values, failures
	}, config{MaxBatch: 50, Concurrency: 2})
	const callers, each = 40, 250
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for n := range each {
				key := caller*each + n
				ctx, cancel := context.WithCancel(background)
				if key%5 == 0 {
					go cancel()
				}
				value, err := b.Do(ctx, key)
				switch {
				case err == nil && value == key+1 && key%7 != 0:
				case errors.Is(err, odd) && key%7 == 0:
				case err == context.Canceled && key%5 == 0:
				default:
					t.Errorf("key %d: %d, %v", key, value, err)
				}
				cancel()
			}
		})
	}
	group.Wait()
	if err := b.Close(background); err != nil {
		t.Fatal(err)
	}
	s := b.Stats()
	for key, times := range seen {
		if times != 1 {
			t.Errorf("key %d was given to the function %d times", key, times)
		}
	}
	if uint64(len(seen)) != s.DeliveredTotal || s.DeliveredTotal+s.CancelledTotal != s.PushedTotal || s.InFlight != 0 {
		t.Errorf("%d keys seen; stats %+v", len(seen), s)
	}
}

func TestErrorsThatSayNothing(t *testing.T) {
	bad := errors.New("bad")
	var nilPath *fs.PathError
	cases := map[string]struct {
		values []int
		given  error
		err    error
		text   string
	}{
		"nil Errors":                  {[]int{1}, batch.Errors(nil), batch.ErrBadResult, "0 entries for 1 keys; return one"},
		"all failed, no values":       {nil, batch.Errors{bad}, bad, "bad"},
		"a nil pointer in an error":   {nil, nilPath, nil, "nil pointer"},
		"the same beside good values": {[]int{1}, fmt.Errorf("wrapped: %w", nilPath), nil, "nil pointer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBatch(t, func(context.Context, []int) ([]int, error) { return c.values, c.given })
			for range 2 {
				_, err := b.Do(background, 1)
				if err == nil || c.err != nil && !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("got %v; want %v, with %q", err, c.err, c.text)
				}
			}
		})
	}
}

// TestIdentityIsTheCallersOwn: the function of KeyOf runs once for a call, where its panic and its calls of the
// batcher do no harm, and what it returned stays the call's when the key changes.
func TestIdentityIsTheCallersOwn(t *testing.T) {
	type key struct{ id int }
	asked, let := 0, make(chan struct{})
	var b *batch.Batcher[*key, int]
	b, err := batch.New(func(_ context.Context, keys []*key) ([]int, error) {
		<-let
		return make([]int, len(keys)), nil
	}, batch.Config[*key, int]{Key: batch.KeyOf(func(k *key) int {
		asked++
		b.Stats()
		if k.id < 0 {
			panic("below 0")
		}
		return k.id
	})})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() != "below 0" {
				t.Error("the panic is the caller's")
			}
		}()
		b.Do(background, &key{-1})
	}()
	calls := make(chan error, 3)
	start := func(ctx context.Context, k *key, arrived func(batch.BatcherStats) bool) {
		go func() {
			_, err := b.Do(ctx, k)
			calls <- err
		}()
		for !arrived(b.Stats()) {
			runtime.Gosched()
		}
	}
	waiting := func(n int) func(batch.BatcherStats) bool {
		return func(s batch.BatcherStats) bool { return s.QueueDepth.Normal == n }
	}
	start(background, &key{1}, func(s batch.BatcherStats) bool { return s.InFlight == 1 })
	ctx, cancel := context.WithCancel(background)
	changes := &key{2}
	start(ctx, changes, waiting(1))
	changes.id = 3
	cancel()
	if err := <-calls; err != context.Canceled {
		t.Errorf("got %v", err)
	}
	// It does not share the key of the one that has gone.
	start(background, &key{2}, waiting(1))
	close(let)
	for range 2 {
		if err := <-calls; err != nil {
			t.Error(err)
		}
	}
	if asked != 4 {
		t.Errorf("asked %d times for 4 calls", asked)
	}
}

func TestAnIdentityThatIsNotEqualToItselfIsSharedWithNone(t *testing.T) {
	let := make(chan struct{})
	b, err := batch.New(func(_ context.Context, keys []float64) ([]int, error) {
		<-let
		return make([]int, len(keys)), nil
	}, batch.Config[float64, int]{Key: batch.KeyOf(func(key float64) float64 { return key })})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() { b.Do(background, math.NaN()) })
	}
	for b.Stats().PushedTotal != 3 {
		runtime.Gosched()
	}
	if n := b.Remembered(); n != 0 || b.Stats().SharedTotal != 0 {
		t.Errorf("%d identities are remembered, %d shared", n, b.Stats().SharedTotal)
	}
	close(let)
	group.Wait()
}

func TestFlushedCallsCountUntilTheyLeave(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{MaxQueue: 2})
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	ended, end := context.WithCancel(background)
	end()
	ctx, cancel := context.WithCancel(background)
	calls := []chan result{do(ctx, b, 2), do(ctx, b, 3)}
	queued(b, 2)
	b.Flush(ended)
	if _, err := b.Do(background, 4); !errors.Is(err, millrace.ErrOverload) {
		t.Errorf("beyond the bound, flushed: %v", err)
	}
	cancel()
	for _, call := range calls {
		want(t, call, 0, context.Canceled)
	}
	g.let <- nil
	want(t, first, 10, nil)
	if err := b.Flush(background); err != nil {
		t.Error(err)
	}
	if s := b.Stats(); s.CancelledTotal != 2 || s.DeliveredTotal != 1 || s.BatchTotal != 1 {
		t.Errorf("stats: %+v", s)
	}
}

// TestCallersThatLeaveAClose: their keys count as cancelled, also when they are cut into batches already, of which one
// without a caller is none.
func TestCallersThatLeaveAClose(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{MaxBatch: 1})
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	ctx, cancel := context.WithCancel(background)
	second := do(background, b, 2)
	queued(b, 1)
	third := do(ctx, b, 3)
	queued(b, 2)
	closed := make(chan error, 1)
	go func() { closed <- b.Close(background) }()
	for {
		if _, err := b.Do(canceledSoon(), 4); errors.Is(err, millrace.ErrClosed) {
			break
		}
	}
	g.let <- nil
	wantBatch(t, g, 2)
	cancel()
	want(t, third, 0, context.Canceled)
	g.let <- nil
	want(t, first, 10, nil)
	want(t, second, 20, nil)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	s := b.Stats()
	if s.CancelledTotal != s.PushedTotal-2 || s.DeliveredTotal != 2 || s.BatchTotal != 2 {
		t.Errorf("stats: %+v", s)
	}
}

func TestSharersThatHaveGoneDoNotCount(t *testing.T) {
	g := newGate()
	b := newBatch(t, g.fn, config{Key: batch.KeyOf(func(key int) int { return key % 10 }), MaxQueue: 2})
	first := do(background, b, 1)
	wantBatch(t, g, 1)
	leader := do(background, b, 2)
	queued(b, 1)
	shared := uint64(0)
	share := func(ctx context.Context, key int) chan result {
		call := do(ctx, b, key)
		shared++
		for b.Stats().SharedTotal != shared {
			runtime.Gosched()
		}
		return call
	}
	stays := share(background, 12)
	for range 5 {
		ctx, cancel := context.WithCancel(background)
		goes := share(ctx, 22)
		cancel()
		want(t, goes, 0, context.Canceled)
	}
	last := share(background, 32)
	if _, err := b.Do(background, 42); !errors.Is(err, millrace.ErrOverload) {
		t.Errorf("a third that shares: %v", err)
	}
	g.let <- nil
	want(t, first, 10, nil)
	wantBatch(t, g, 2)
	g.let <- nil
	for _, call := range []chan result{leader, stays, last} {
		want(t, call, 20, nil)
	}
}
