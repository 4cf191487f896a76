package tournament

import (
	"math/rand/v2"
	"syscall"
	"time"

	"millrace.dev/go/bench/entrant"
)

const (
	// flight is how many bulk tasks wait at least, but at the very start and end; twice as many at most.
	flight = 256
	// effort is the work of a bulk task: a microsecond or two.
	effort = 1000
	pause  = 100 * time.Microsecond
)

// mixed is somebody who wants something done now and then while another one floods the loop with bulk work of a
// microsecond or two a task: the time of an operation is that of a bulk task, the percentiles are how long the other
// tasks wait. How soon the scheduler then gives a processor to who asked is not the loop's doing.
func mixed(start entrant.New, ops int, _ *rand.Rand) Sample {
	t := newTasks(started(start, 0))
	return flooded(t, ops, t.prepare)
}

// mixedPriority has the same flood, and answers of the lane that goes first.
func mixedPriority(start entrant.New, ops int, _ *rand.Rand) Sample {
	t := newTasks(started(start, 0))
	first := t.loop.(entrant.Prioritizer)
	return flooded(t, ops, func(task func()) func() {
		return func() { must(first.SubmitHigh(task)) }
	})
}

func flooded(t *tasks, ops int, prepare func(task func()) func()) Sample {
	over, asked := make(chan struct{}), make(chan []int64)
	go func() {
		var times []int64
		began := make(chan int64, 1)
		ask := prepare(func() { began <- now() })
		for {
			select {
			case <-over:
				asked <- times
				return
			default:
			}
			before := now()
			ask()
			times = append(times, <-began-before)
			time.Sleep(pause)
		}
	}()
	sample := timed(ops, func(ops int) { flood(t, ops) })
	close(over)
	times := <-asked
	t.finish(ops + max(ops/10, 1))
	return sample.addPercentiles(times)
}

// flood submits bulk tasks by the `flight`; of each flight the last one lets the one after the next begin.
func flood(t *tasks, ops int) {
	landed := make(chan struct{}, 2)
	landed <- struct{}{}
	landed <- struct{}{}
	bulk := t.prepare(func() { t.bulk() })
	last := t.prepare(func() {
		t.bulk()
		landed <- struct{}{}
	})
	for ops > 0 {
		<-landed
		size := min(ops, flight)
		for range size - 1 {
			bulk()
		}
		last()
		ops -= size
	}
	<-landed
	<-landed
}

var spun uint64

func (t *tasks) bulk() {
	x := uint64(1)
	for range effort {
		x = x*6364136223846793005 + 1442695040888963407
	}
	spun = x
	t.n.Add(1)
}

const (
	meanBurst = 50
	meanGap   = 200 * time.Microsecond
)

// bursty is work that comes in bursts of random size with random gaps between them: the percentiles are from the time a
// task was submitted until it runs, and the processor time is that of everything.
func bursty(start entrant.New, ops int, random *rand.Rand) Sample {
	t := newTasks(started(start, 0))
	for range max(ops/10, 1) {
		t.wg.Add(1)
		t.clock()
	}
	t.wg.Wait()
	t.times = make([]int64, 0, ops)
	before := cpuTime()
	sample := timedCold(ops, func(ops int) {
		for ops > 0 {
			size := min(1+int(random.ExpFloat64()*meanBurst), ops)
			t.wg.Add(size)
			for range size {
				t.clock()
			}
			ops -= size
			time.Sleep(time.Duration(random.ExpFloat64() * float64(meanGap)))
		}
		t.wg.Wait()
	})
	sample["cpu_ns_per_op"] = float64(cpuTime()-before) / float64(ops)
	delete(sample, "ns_per_op") // it is the length of the gaps
	sample.addPercentiles(t.times)
	t.finish(ops + max(ops/10, 1))
	return sample
}

// cpuTime is what the process has used, user and system.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
