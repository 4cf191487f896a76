package tournament

import (
	"context"
	"math/rand/v2"

	"millrace.dev/go/bench/entrant"
)

// latency is a caller that submits a task and waits until it has run, with a new channel and a new closure each time.
func latency(start entrant.New, ops int, _ *rand.Rand) Sample {
	t := newTasks(started(start, 0))
	sample := latencies(ops, func() {
		done := make(chan struct{})
		t.signal(done)
		<-done
	})
	t.finish(0)
	return sample
}

// latencyReused is the same with one channel and one closure for all.
func latencyReused(start entrant.New, ops int, _ *rand.Rand) Sample {
	t := newTasks(started(start, 0))
	sample := latencies(ops, submitAndWait(t))
	t.finish(0)
	return sample
}

func submitAndWait(t *tasks) func() {
	done := make(chan struct{}, 1)
	submit := t.prepare(func() { done <- struct{}{} })
	return func() {
		submit()
		<-done
	}
}

// roundTrip is the floor of latency: two goroutines and a channel of functions, with the same allocation.
func roundTrip(ops int) Sample {
	requests := answering()
	defer close(requests)
	return latencies(ops, func() {
		done := make(chan struct{})
		requests <- func() { close(done) }
		<-done
	})
}

// roundTripReused is the floor of latencyReused.
func roundTripReused(ops int) Sample {
	requests := answering()
	defer close(requests)
	done := make(chan struct{}, 1)
	answer := func() { done <- struct{}{} }
	return latencies(ops, func() {
		requests <- answer
		<-done
	})
}

func answering() chan func() {
	requests := make(chan func(), 1)
	go func() {
		for answer := range requests {
			answer()
		}
	}()
	return requests
}

// latencies times an operation: as a whole, and then each one by the clock, whose own cost is in the percentiles alone.
func latencies(ops int, operation func()) Sample {
	sample := timed(ops, func(ops int) {
		for range ops {
			operation()
		}
	})
	times := make([]int64, ops)
	for i := range times {
		before := now()
		operation()
		times[i] = now() - before
	}
	return sample.addPercentiles(times)
}

// inline is Do on a loop that sleeps, always with the same closure.
func inline(start entrant.New, ops int, _ *rand.Rand) Sample {
	loop := started(start, 0)
	doer, ctx, n := loop.(entrant.Doer), context.Background(), 0
	task := func() { n++ }
	sample := latencies(ops, func() { must(doer.Do(ctx, task)) })
	return done(loop, sample, n, ops)
}

// inlineFresh is Do with a new closure for each call.
func inlineFresh(start entrant.New, ops int, _ *rand.Rand) Sample {
	loop := started(start, 0)
	doer, ctx, n := loop.(entrant.Doer), context.Background(), 0
	sample := latencies(ops, func() { must(doer.Do(ctx, func() { n++ })) })
	return done(loop, sample, n, ops)
}

func done(loop entrant.Entrant, sample Sample, n, ops int) Sample {
	must(loop.Close())
	if want := 2*ops + max(ops/10, 1); n != want {
		fail("%d of %d tasks have run", n, want)
	}
	return sample
}
