package tournament

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
)

// A Load is what Stability puts on a loop.
type Load struct {
	Duration  time.Duration
	Seed      uint64
	Rate      float64 // tasks a second; 0: as many as the loop takes
	Intervals int     // of the same length, each of which is reported; 0: 10
}

// An Interval is a part of the time of Stability.
type Interval struct {
	Seconds    float64 `json:"seconds"` // since the start, at its end
	Tasks      int64   `json:"tasks"`   // that ran in it
	HeapBytes  uint64  `json:"heap_bytes"`
	Goroutines int     `json:"goroutines"`
	CPUSeconds float64 `json:"cpu_seconds"` // of the process in it
	// QueuedSeconds is how long threads of the process were ready in it and had no processor, together; 0 where the kernel does
	// not tell. On a quiet machine it is next to nothing, and tasks wait for the loop alone.
	QueuedSeconds float64 `json:"queued_seconds"`
	Sample        Sample  `json:"sample"` // how long tasks waited until they ran
}

// A Summary is the account of a whole run, which every accepted task has to be in.
type Summary struct {
	Seconds        float64 `json:"seconds"`
	Accepted       int64   `json:"accepted"`
	Ran            int64   `json:"ran"`
	GoroutinesLeft int     `json:"goroutines_left"` // beyond those of the start
	Stopped        bool    `json:"stopped"`         // before its time
}

const (
	loaders = 4
	// outstanding is how many tasks may be under way: beyond, a producer waits.
	outstanding = 50_000
	// kept is how many times an interval keeps, each as likely as any other.
	kept = 1 << 16
)

// Stability puts a loop of Millrace under random load from some goroutines, of tasks of every priority, one at a time
// and in batches, of timers that fire and timers that do not, and of calls that wait, with pauses. It reports
// each interval. All accepted tasks must have run at the end, and no goroutine may be left. When ctx is done it reports
// the interval that has begun and ends as it would have later.
func Stability(ctx context.Context, plan Load, report func(Interval) error) (summary Summary, err error) {
	defer caught(&err)
	before := runtime.NumGoroutine()
	loop, err := eventloop.New(eventloop.Config{})
	must(err)
	must(loop.Start())
	defer loop.Close(context.Background())
	l := &load{loop: loop, rate: plan.Rate / loaders, random: rand.New(rand.NewPCG(plan.Seed, loaders))}
	producing, cancel := context.WithTimeout(ctx, plan.Duration)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i := range uint64(loaders) {
		all.Go(func() { l.produce(producing, rand.New(rand.NewPCG(plan.Seed, i))) })
	}
	start := time.Now()
	intervals := max(plan.Intervals, 0)
	if intervals == 0 {
		intervals = 10
	}
	used, queued := cpuTime(), queuedTime()
	for i := 0; i < intervals && ctx.Err() == nil; i++ {
		sleepUntil(ctx, start.Add(plan.Duration*time.Duration(i+1)/time.Duration(intervals)))
		interval := l.interval(start)
		nowUsed, nowQueued := cpuTime(), queuedTime()
		interval.CPUSeconds = (nowUsed - used).Seconds()
		interval.QueuedSeconds = max(nowQueued-queued, 0).Seconds()
		used, queued = nowUsed, nowQueued
		must(report(interval))
	}
	cancel()
	all.Wait()
	// Close would let go of timers.
	must(loop.Drain(context.Background()))
	err = loop.Close(context.Background())
	must(err)
	summary = Summary{
		Seconds: time.Since(start).Seconds(), Accepted: l.accepted.Load(), Ran: l.ran.Load(), Stopped: ctx.Err() != nil,
	}
	if summary.Accepted != summary.Ran {
		fail("%d tasks were accepted, %d have run", summary.Accepted, summary.Ran)
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			fail("%d goroutines are left of %d at the start", runtime.NumGoroutine(), before)
		}
	}
	return summary, nil
}

// queuedTime is what the kernel tells of each thread in the second field of schedstat.
func queuedTime() (sum time.Duration) {
	threads, _ := filepath.Glob("/proc/self/task/*/schedstat") // its only error is a pattern that is not valid
	for _, thread := range threads {
		fields, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		var ran, queued int64
		if _, err := fmt.Sscan(string(fields), &ran, &queued); err == nil {
			sum += time.Duration(queued)
		}
	}
	return sum
}

// sleepUntil returns at that time, or when ctx is done.
func sleepUntil(ctx context.Context, due time.Time) {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

type load struct {
	loop          *eventloop.Loop
	rate          float64 // of each producer
	accepted, ran atomic.Int64
	reported      int64

	random *rand.Rand // of the loop's goroutine, as all that follows
	seen   int
	worst  int64
	times  []int64
}

// produce submits bursts of up to 200 calls, at the rate that is asked for, or else with a pause now and then.
func (l *load) produce(ctx context.Context, random *rand.Rand) {
	due := time.Now()
	for ctx.Err() == nil {
		tasks := 0
		for range 1 + random.IntN(200) {
			tasks += l.submit(random)
		}
		for l.accepted.Load()-l.ran.Load() > outstanding {
			time.Sleep(time.Millisecond)
		}
		switch {
		case l.rate > 0:
			due = due.Add(time.Duration(float64(tasks) / l.rate * float64(time.Second)))
			sleepUntil(ctx, due)
		case random.IntN(4) == 0:
			time.Sleep(time.Duration(random.ExpFloat64() * float64(time.Millisecond)))
		}
	}
}

// submit makes one call, and returns how many tasks it was of.
func (l *load) submit(random *rand.Rand) (tasks int) {
	switch kind := random.IntN(100); {
	case kind < 1:
		must(l.loop.Do(context.Background(), l.task(1)))
	case kind < 3:
		delay := time.Duration(random.Int64N(int64(20 * time.Millisecond)))
		due := now() + int64(delay)
		l.accepted.Add(1)
		timer, err := l.loop.After(delay, func() { l.done(now() - due) })
		must(err)
		if random.IntN(2) == 0 && timer.Stop() {
			l.accepted.Add(-1)
		}
	case kind < 10:
		batch := make([]func(), random.IntN(100))
		task := l.task(len(batch))
		for i := range batch {
			batch[i] = task
		}
		_, err := l.loop.SubmitBatch(batch)
		must(err)
		return len(batch)
	default:
		priority := [...]millrace.Priority{millrace.High, millrace.Normal, millrace.Low}[random.IntN(3)]
		must(l.loop.SubmitPriority(priority, l.task(1)))
	}
	return 1
}

// task returns a task that is going to be submitted this many times.
func (l *load) task(times int) func() {
	l.accepted.Add(int64(times))
	at := now()
	return func() { l.done(now() - at) }
}

func (l *load) done(waited int64) {
	l.ran.Add(1)
	l.seen++
	l.worst = max(l.worst, waited)
	if len(l.times) < kept {
		l.times = append(l.times, waited)
	} else if i := l.random.IntN(l.seen); i < kept {
		l.times[i] = waited
	}
}

// interval is all that has happened since the last one; the heap is what a collection leaves.
func (l *load) interval(start time.Time) Interval {
	times, worst := l.swap()
	sample := Sample{"max_ns": float64(worst)}.addPercentiles(times)
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	total := l.ran.Load()
	tasks := total - l.reported
	l.reported = total
	return Interval{
		Seconds: time.Since(start).Seconds(), Tasks: tasks, HeapBytes: stats.HeapAlloc,
		Goroutines: runtime.NumGoroutine(), Sample: sample,
	}
}

// swap takes the times of the interval that ends.
func (l *load) swap() (times []int64, worst int64) {
	fresh := make([]int64, 0, kept)
	must(l.loop.Do(context.Background(), func() {
		times, l.times, l.seen = l.times, fresh, 0
		worst, l.worst = l.worst, 0
	}))
	return times, worst
}
