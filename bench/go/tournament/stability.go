package tournament

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
)

// An Interval is what Stability saw in a tenth of its time.
type Interval struct {
	Seconds    float64 `json:"seconds"` // since the start
	Tasks      int64   `json:"tasks"`   // that ran in it
	HeapBytes  uint64  `json:"heap_bytes"`
	Goroutines int     `json:"goroutines"`
	Sample     Sample  `json:"sample"` // how long tasks waited until they ran
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
// each tenth of the time. What was accepted must have run at the end, and no goroutine be left.
func Stability(seconds float64, seed uint64, report func(Interval) error) (err error) {
	defer caught(&err)
	before := runtime.NumGoroutine()
	loop, err := eventloop.New(eventloop.Config{})
	must(err)
	must(loop.Start())
	defer loop.Close(context.Background())
	l := &load{loop: loop, random: rand.New(rand.NewPCG(seed, loaders))}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i := range uint64(loaders) {
		all.Go(func() { l.produce(ctx, rand.New(rand.NewPCG(seed, i))) })
	}
	ran := int64(0)
	start := time.Now()
	for interval := range 10 {
		due := start.Add(time.Duration(seconds / 10 * float64(interval+1) * float64(time.Second)))
		time.Sleep(time.Until(due))
		times := l.swap()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		total := l.ran.Load()
		must(report(Interval{
			Seconds: time.Since(start).Seconds(), Tasks: total - ran, HeapBytes: stats.HeapAlloc,
			Goroutines: runtime.NumGoroutine(), Sample: Sample{}.addPercentiles(times),
		}))
		ran = total
	}
	all.Wait()
	// Close would let go of timers.
	must(loop.Drain(context.Background()))
	err = loop.Close(context.Background())
	must(err)
	if accepted, ran := l.accepted.Load(), l.ran.Load(); accepted != ran {
		fail("%d tasks were accepted, %d have run", accepted, ran)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			fail("%d goroutines are left of %d at the start", runtime.NumGoroutine(), before)
		}
	}
	return nil
}

type load struct {
	loop          *eventloop.Loop
	accepted, ran atomic.Int64

	random *rand.Rand // of the loop's goroutine, as all that follows
	seen   int
	times  []int64
}

func (l *load) produce(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		for range 1 + random.IntN(200) {
			l.submit(random)
		}
		for l.accepted.Load()-l.ran.Load() > outstanding {
			time.Sleep(time.Millisecond)
		}
		if random.IntN(4) == 0 {
			time.Sleep(time.Duration(random.ExpFloat64() * float64(time.Millisecond)))
		}
	}
}

func (l *load) submit(random *rand.Rand) {
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
	default:
		priority := [...]millrace.Priority{millrace.High, millrace.Normal, millrace.Low}[random.IntN(3)]
		must(l.loop.SubmitPriority(priority, l.task(1)))
	}
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
	if len(l.times) < kept {
		l.times = append(l.times, waited)
	} else if i := l.random.IntN(l.seen); i < kept {
		l.times[i] = waited
	}
}

// swap takes the times of the interval that ends.
func (l *load) swap() (times []int64) {
	fresh := make([]int64, 0, kept)
	must(l.loop.Do(context.Background(), func() {
		times, l.times, l.seen = l.times, fresh, 0
	}))
	return times
}
