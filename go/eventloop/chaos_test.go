package eventloop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/internal/inner"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the tests with random numbers; 0: another one each time")

// seed returns the seed that the test is to use, and prints it if the test fails.
func seed(t testing.TB) uint64 {
	chosen := *seedFlag
	if chosen == 0 {
		chosen = rand.Uint64() | 1
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("once more: go test -run '^%s$' -seed %d", t.Name(), chosen)
		}
	})
	return chosen
}

// watchdog ends the process with all stacks if the test hangs, before the test binary's own limit would.
func watchdog(t testing.TB) {
	timer := time.AfterFunc(5*time.Minute, func() {
		buffer := make([]byte, 1<<22)
		fmt.Fprintf(os.Stderr, "%s hangs\n%s\n", t.Name(), buffer[:runtime.Stack(buffer, true)])
		os.Exit(2)
	})
	t.Cleanup(func() { timer.Stop() })
}

// chaos is what producers do to a loop while others start, stop and at last close it.
type chaos struct {
	t *testing.T
	l *Loop

	// Only what runs on the loop touches these, without any lock: -race sees two owners.
	nested   int
	executed int
	extra    int // timers and reactions of promises, which Close lets go
	last     [chaosProducers][4]int
	seen     [chaosProducers]map[int]int

	over bool // the loop is closed: the test runs what was returned

	accepted atomic.Int64
}

const chaosProducers = 4

// watchInChaos is set where descriptors can be watched.
var watchInChaos func(*chaos)

// task is number i of a producer.
func (c *chaos) task(producer, i int, class millrace.Priority) func() {
	return func() {
		if c.nested++; c.nested != 1 {
			c.t.Error("two tasks at once")
		}
		c.executed++
		if c.seen[producer][i]++; c.seen[producer][i] != 1 {
			c.t.Errorf("task %d of %d ran %d times", i, producer, c.seen[producer][i])
		}
		if class <= millrace.Low {
			if c.last[producer][class] >= i {
				c.t.Errorf("producer %d, %v: task %d after %d", producer, class, i, c.last[producer][class])
			}
			c.last[producer][class] = i
		}
		c.nested--
	}
}

// apart is the class of what has no place in the order of its producer.
const apart = millrace.Priority(7)

// produce does n random things.
func (c *chaos) produce(producer, n int, random *rand.Rand) {
	number := 0
	next := func(class millrace.Priority) func() {
		number++
		return c.task(producer, number, class)
	}
	took := func(err error) {
		if err == nil {
			c.accepted.Add(1)
		}
	}
	for range n {
		switch random.IntN(20) {
		default:
			took(c.l.Submit(next(millrace.Normal)))
		case 0:
			batch := make([]func(), random.IntN(2*chunkSize))
			for i := range batch {
				batch[i] = next(millrace.Normal)
			}
			taken, _ := c.l.SubmitBatch(batch)
			c.accepted.Add(int64(taken))
		case 1:
			took(c.l.SubmitPriority(millrace.High, next(millrace.High)))
		case 2:
			took(c.l.SubmitPriority(millrace.Low, next(millrace.Low)))
		case 3, 4:
			// One that has to wait for a stopped loop is given up now and then, also while it runs.
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(300))*time.Microsecond)
			took(c.l.Do(ctx, next(millrace.Normal)))
			cancel()
		case 5:
			if handle, err := c.l.KeepAlive(); err == nil {
				took(handle.Complete(next(millrace.Normal)))
				handle.Release()
			}
		case 6:
			// Timers are let go by Close, so they do not count.
			timer, err := c.l.After(time.Duration(random.IntN(200))*time.Microsecond, func() {})
			if err == nil && random.IntN(2) == 0 {
				timer.Reset(0)
				timer.Stop()
			}
		case 7:
			// A task that does things itself.
			inner, micro := next(apart), next(apart)
			err := c.l.Submit(func() {
				if c.over {
					inner()
					micro()
					return
				}
				if c.l.Do(context.Background(), inner) != nil {
					c.t.Error("Do inside")
				}
				if c.l.Microtask(micro) != nil {
					c.t.Error("Microtask inside")
				}
			})
			if err == nil {
				c.accepted.Add(2)
			}
		case 8:
			runtime.Gosched()
		case 9:
			// One that ends its goroutine, and one that panics.
			fault := []func(){runtime.Goexit, func() { panic("chaos") }}[random.IntN(2)]
			run := next(millrace.Normal)
			took(c.l.Submit(func() {
				run()
				if !c.over {
					fault()
				}
			}))
		case 10:
			c.faultyDo(next(apart), next(apart), next(apart), random.IntN(2) == 0)
		case 11:
			if timer, err := c.l.Every(time.Duration(1+random.IntN(100))*time.Microsecond, c.more); err == nil {
				timer.Unref()
				timer.Reset(0)
				runtime.Gosched()
				timer.Stop()
				timer.Ref()
			}
		case 12:
			c.reject()
		}
	}
}

// more is what may run or not.
func (c *chaos) more() { c.extra++ }

// faultyDo ends a goroutine in the middle of a Do, or panics there, with a microtask and an immediate still to come.
func (c *chaos) faultyDo(fn, micro, immediate func(), exits bool) {
	var called sync.WaitGroup
	defer called.Wait()
	called.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		c.l.Do(ctx, func() {
			c.accepted.Add(3)
			fn()
			if c.l.Microtask(micro) != nil {
				c.t.Error("Microtask inside")
			}
			if _, err := c.l.Immediate(immediate); err != nil {
				immediate() // the loop is being closed
			}
			if exits {
				runtime.Goexit()
			}
			panic("chaos")
		})
	})
}

// disturb starts, runs, drains and stops the loop until it is told to end.
func (c *chaos) disturb(random *rand.Rand, end *atomic.Bool) {
	for !end.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(2000))*time.Microsecond)
		switch random.IntN(6) {
		case 0, 1:
			c.l.Start()
			time.Sleep(time.Duration(random.IntN(500)) * time.Microsecond)
		case 2:
			// A task may end the goroutine of Run.
			var run sync.WaitGroup
			run.Go(func() { c.l.Run(ctx) })
			run.Wait()
		case 3:
			c.l.Drain(ctx)
		case 4:
			c.l.Stop()
		case 5:
			c.l.Do(ctx, c.l.Stop)
		}
		cancel()
	}
}

// reject does what a promise of Async does that is rejected and has a reaction.
func (c *chaos) reject() {
	alive, err := c.l.KeepAlive()
	if err != nil {
		return
	}
	go func() {
		defer alive.Release()
		_ = inner.Promises.Submit(c.l, func() {
			if c.l.Inside() {
				inner.Promises.React(c.l, function(c.more))
				inner.Promises.Reject(c.l, forgotten{})
			}
		})
	}()
}

type forgotten struct{}

// Unhandled is part of inner.Rejection.
func (forgotten) Unhandled() error { return errors.New("chaos") }

// close is Close on a goroutine that a task may end.
func (c *chaos) close(ctx context.Context) (left []func(), err error) {
	returned := false
	var closing sync.WaitGroup
	closing.Go(func() {
		err = c.l.Close(ctx)
		left = c.l.Left()
		returned = true
	})
	if closing.Wait(); !returned {
		return c.l.Left(), c.l.Close(ctx)
	}
	return left, err
}

// Tasks that were accepted have been executed or are returned by Close, whoever starts, stops and closes the loop.
func TestAcceptedIsExecutedOrReturned(t *testing.T) {
	watchdog(t)
	first := seed(t)
	for round := range uint64(20) {
		random := rand.New(rand.NewPCG(first, round))
		l, err := New(Config{
			MaxQueue:      1 + random.IntN(2000),
			PressureMark:  1 + random.IntN(500),
			OnPressure:    func(int) {},
			OnError:       nop[error],
			LockOSThread:  random.IntN(4) == 0,
			Timing:        random.IntN(4) == 0,
			PreciseTimers: random.IntN(4) == 0,
		})
		must(t, err)
		c := &chaos{t: t, l: l}
		var producers, disturbers sync.WaitGroup
		var end atomic.Bool
		for producer := range chaosProducers {
			c.seen[producer] = map[int]int{}
			random := rand.New(rand.NewPCG(random.Uint64(), 0))
			producers.Go(func() { c.produce(producer, 300, random) })
		}
		if watchInChaos != nil {
			producers.Go(func() { watchInChaos(c) })
		}
		for range 2 {
			random := rand.New(rand.NewPCG(random.Uint64(), 0))
			disturbers.Go(func() { c.disturb(random, &end) })
		}
		early := random.IntN(2) == 0
		if !early {
			producers.Wait()
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(3))*100*time.Microsecond)
		if random.IntN(2) == 0 {
			ctx = context.Background()
		}
		left, err := c.close(ctx)
		cancel()
		end.Store(true)
		producers.Wait()
		disturbers.Wait()
		if (err != nil) != (len(left) > 0) {
			t.Errorf("%d left, and %v", len(left), err)
		}
		c.over = true
		for _, task := range left {
			task()
		}
		if int64(c.executed) != c.accepted.Load() {
			t.Fatalf("round %d: accepted %d, but executed %d, with the %d that were returned", round, c.accepted.Load(),
				c.executed, len(left))
		}
		if s := l.Stats(); s.QueueDepth != 0 || l.Alive() {
			t.Errorf("%+v", s)
		}
		if t.Failed() {
			t.Fatal("round", round)
		}
	}
}
