package tournament

import (
	"math/rand/v2"
	"sync"
	"time"

	"millrace.dev/go/bench/entrant"
)

const (
	timersAtOnce = 1000
	timerRounds  = 10
)

// timers are 1,000 of 1 to 10 milliseconds at once, ten times over, whose percentiles are how late they fire; an operation is to set a
// timer and to cancel it, from another goroutine than the loop's.
func timers(start entrant.New, ops int, random *rand.Rand) Sample {
	t := newTasks(started(start, 0))
	timer := t.loop.(entrant.Timer)
	sample := setAndFire(ops, random, timer, submitAndWait(t))
	t.finish(0)
	return sample
}

// afterFuncs is the same with the timers of package time, which have a goroutine each when they fire.
func afterFuncs(ops int) Sample {
	return setAndFire(ops, rand.New(rand.NewPCG(1, 1)), plainTimer{}, func() {})
}

type plainTimer struct{}

func (plainTimer) After(delay time.Duration, callback func()) (func(), error) {
	timer := time.AfterFunc(delay, callback)
	return func() { timer.Stop() }, nil
}

func setAndFire(ops int, random *rand.Rand, timer entrant.Timer, settle func()) Sample {
	sample := timed(ops, func(ops int) {
		for range ops {
			cancel, err := timer.After(time.Hour, func() { fail("a timer fired that was cancelled") })
			must(err)
			cancel()
		}
		settle()
	})
	lateness := make([]int64, timerRounds*timersAtOnce)
	for round := range timerRounds {
		fire(lateness[round*timersAtOnce:][:timersAtOnce], random, timer)
	}
	for _, late := range lateness {
		if late < 0 {
			fail("a timer fired %d ns early", -late)
		}
	}
	return sample.addPercentiles(lateness)
}

// fire sets a timer for each place, and waits until all have fired and said how late.
func fire(lateness []int64, random *rand.Rand, timer entrant.Timer) {
	var all sync.WaitGroup
	all.Add(len(lateness))
	for i := range lateness {
		delay := time.Millisecond + time.Duration(random.Int64N(int64(9*time.Millisecond)))
		due := now() + int64(delay)
		_, err := timer.After(delay, func() {
			lateness[i] = now() - due
			all.Done()
		})
		must(err)
	}
	all.Wait()
}
