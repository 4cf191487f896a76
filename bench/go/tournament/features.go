package tournament

import (
	"math/rand/v2"
	"sync"

	"millrace.dev/go/bench/entrant"
)

// chain is how many microtasks or promises follow from one task, which is waited for.
const chain = 10_000

// microtasks are chains of them: each queues the next one.
func microtasks(start entrant.New, ops int, _ *rand.Rand) Sample {
	loop := started(start, 0)
	micro := loop.(entrant.Microtasker)
	sample := timed(ops, chains(loop, func(length int, done func()) {
		left := length
		var next func()
		next = func() {
			if left--; left == 0 {
				done()
				return
			}
			micro.Microtask(next)
		}
		micro.Microtask(next)
	}))
	must(loop.Close())
	return sample
}

// promises are chains of them, of which the first one is then settled: an operation is a promise, its reaction and the
// microtask that this takes.
func promises(start entrant.New, ops int, _ *rand.Rand) Sample {
	loop := started(start, 0)
	promiser := loop.(entrant.Promiser)
	sample := timed(ops, chains(loop, func(length int, done func()) {
		first := promiser.Promise()
		last := first
		for range length - 1 {
			last = last.Then(func(value any) (any, error) { return value, nil })
		}
		last.Then(func(any) (any, error) {
			done()
			return nil, nil
		})
		first.Resolve(nil)
	}))
	must(loop.Close())
	return sample
}

// chains runs begin on the loop, for one chain after the other.
func chains(loop entrant.Entrant, begin func(length int, done func())) func(ops int) {
	submit := loop.Submit
	if scripted, ok := loop.(entrant.Scripted); ok {
		submit = scripted.SubmitScript
	}
	return func(ops int) {
		done := make(chan struct{}, 1)
		for ; ops > 0; ops -= chain {
			length := min(ops, chain)
			must(submit(func() { begin(length, func() { done <- struct{}{} }) }))
			<-done
		}
	}
}

// numbering is how many producers have numbered tasks.
const numbering = 4

// numbered are tasks of some producers that know their number. Each must run once, right after the one before it of the
// same producer; anything else ends the case. The heap is what is in use at the end, after a collection, beyond what was
// in use before.
func numbered(start entrant.New, ops int, _ *rand.Rand) Sample {
	before := heap()
	loop := started(start, 0)
	var last [numbering]int // of the loop's goroutine
	ran, faults := 0, 0
	sample := timedCold(ops, func(ops int) {
		submitted := [numbering]int{}
		for ; ops > 0; ops -= window {
			var producers, tasks sync.WaitGroup
			tasks.Add(min(ops, window))
			for producer := range numbering {
				share := min(ops, window)*(producer+1)/numbering - min(ops, window)*producer/numbering
				from := submitted[producer]
				submitted[producer] += share
				producers.Go(func() {
					for number := from + 1; number <= from+share; number++ {
						must(loop.Submit(func() {
							if last[producer] != number-1 {
								faults++
							}
							last[producer] = number
							ran++
							tasks.Done()
						}))
					}
				})
			}
			producers.Wait()
			tasks.Wait()
		}
	})
	must(loop.Close())
	if faults > 0 || ran != ops {
		fail("%d of %d tasks have run, %d out of order", ran, ops, faults)
	}
	sample["tasks"] = float64(ran)
	sample["heap_bytes"] = float64(max(heap()-before, 1))
	return sample
}
