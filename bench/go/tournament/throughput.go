package tournament

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"millrace.dev/go/bench/entrant"
)

// pingPong is one producer that submits as fast as it can. The wait group is told of all tasks beforehand: else producer
// and loop would contend for it, and that would be most of what is measured.
func pingPong(start entrant.New, ops int, _ *rand.Rand) Sample {
	return submitted(start, ops, func(t *tasks, ops int) {
		for ; ops > 0; ops -= window {
			all := min(ops, window)
			t.wg.Add(all)
			for range all {
				t.count()
			}
			t.wg.Wait()
		}
	})
}

// producers are so many of them.
func producers(number int) subject {
	return func(start entrant.New, ops int, _ *rand.Rand) Sample {
		return submitted(start, ops, func(t *tasks, ops int) {
			for ; ops > 0; ops -= window {
				all := min(ops, window)
				t.wg.Add(all)
				var done sync.WaitGroup
				for i := range number {
					mine := all*(i+1)/number - all*i/number
					done.Go(func() {
						for range mine {
							t.count()
						}
					})
				}
				done.Wait()
				t.wg.Wait()
			}
		})
	}
}

const burstSize = 1000

// burst submits 1,000 tasks, waits for them, and so on.
func burst(start entrant.New, ops int, _ *rand.Rand) Sample {
	return submitted(start, ops, func(t *tasks, ops int) {
		for ; ops > 0; ops -= burstSize {
			size := min(ops, burstSize)
			t.wg.Add(size)
			for range size {
				t.count()
			}
			t.wg.Wait()
		}
	})
}

// burstBatch is burst with SubmitBatch.
func burstBatch(start entrant.New, ops int, _ *rand.Rand) Sample {
	return submitted(start, ops, func(t *tasks, ops int) {
		batch := make([]func(), burstSize)
		n, wg := &t.n, &t.wg
		for ; ops > 0; ops -= burstSize {
			size := min(ops, burstSize)
			wg.Add(size)
			for i := range size {
				batch[i] = func() {
					n.Add(1)
					wg.Done()
				}
			}
			_, err := t.loop.(entrant.Batcher).SubmitBatch(batch[:size])
			must(err)
			wg.Wait()
		}
	})
}

// gcPressure is pingPong with a garbage collection after each 1,000 tasks.
func gcPressure(start entrant.New, ops int, _ *rand.Rand) Sample {
	return submitted(start, ops, func(t *tasks, ops int) {
		t.wg.Add(ops)
		for i := range ops {
			t.count()
			if i%1000 == 0 {
				runtime.GC()
			}
		}
		t.wg.Wait()
	})
}

// submitted times the work and then, in a second pass, how long one task in 64 waits until it runs.
func submitted(start entrant.New, ops int, work func(t *tasks, ops int)) Sample {
	t := newTasks(started(start, 0))
	total := 0
	counted := func(ops int) {
		total += ops
		work(t, ops)
	}
	sample := timed(ops, counted)
	t.clocked = true
	counted(max(ops/4, 1))
	t.finish(total)
	return sample.addPercentiles(t.times)
}

// pingPongReused is pingPong with one closure for all tasks.
func pingPongReused(start entrant.New, ops int, _ *rand.Rand) Sample {
	t := newTasks(started(start, 0))
	submit := t.prepare(func() {
		t.n.Add(1)
		t.wg.Done()
	})
	sample := timed(ops, func(ops int) {
		for ; ops > 0; ops -= window {
			all := min(ops, window)
			t.wg.Add(all)
			for range all {
				submit()
			}
			t.wg.Wait()
		}
	})
	t.finish(ops + max(ops/10, 1))
	return sample
}

var sink func()

// closureAlone is what the caller of pingPong allocates and does itself, without a loop.
func closureAlone(ops int) Sample {
	var n atomic.Int64
	var wg sync.WaitGroup
	return timed(ops, func(ops int) {
		wg.Add(ops)
		for range ops {
			sink = func() {
				n.Add(1)
				wg.Done()
			}
			sink()
		}
	})
}
