package entrant

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The categories of the report are the benchmarks of its first chapter (one producer, latency, many producers, bursts,
// collections) and the features of its fifth: timers, promises, descriptors, microtasks. Its designs pass all of them.

func TestEveryDesignHasTheFeaturesOfTheReport(t *testing.T) {
	designs := map[string]int{}
	all(t, func(t *testing.T, loop Entrant) {
		defer closed(t, loop)
		design := designOf(t)
		if design == "" {
			return
		}
		designs[design]++
		if _, ok := loop.(Timer); !ok {
			t.Error("no timers")
		}
		if _, ok := loop.(Promiser); !ok {
			t.Error("no promises")
		}
		if _, ok := loop.(Microtasker); !ok {
			t.Error("no microtasks")
		}
		if _, ok := loop.(Watcher); !ok {
			t.Error("no descriptors")
		}
	})
	for _, design := range []string{"Main", "AlternateOne", "AlternateTwo", "AlternateThree", "Baseline"} {
		if designs[design] == 0 {
			t.Errorf("no entrant stands for %s", design)
		}
	}
}

// inside runs a task on the loop, of which microtasks are part, and waits for it.
func inside(t *testing.T, loop Entrant, task func()) {
	t.Helper()
	done := make(chan struct{})
	run := loop.Submit
	if scripted, ok := loop.(Scripted); ok {
		run = scripted.SubmitScript
	}
	err := run(func() {
		defer close(done)
		task()
	})
	if err != nil {
		t.Fatal(err)
	}
	<-done
}

func TestOneProducer(t *testing.T) {
	all(t, func(t *testing.T, loop Entrant) {
		var order []int
		for i := range 3000 { // more than two budgets
			submit(t, loop, func() { order = append(order, i) })
		}
		closed(t, loop)
		if len(order) != 3000 || !slices.IsSorted(order) {
			t.Errorf("%d tasks, in order: %v", len(order), slices.IsSorted(order))
		}
	})
}

func TestBurstsOf1000(t *testing.T) {
	all(t, func(t *testing.T, loop Entrant) {
		for burst := range 5 {
			var all sync.WaitGroup
			all.Add(1000)
			for range 1000 {
				submit(t, loop, all.Done)
			}
			all.Wait() // returns only if the last one has woken the loop, or found it awake
			runtime.KeepAlive(burst)
		}
		closed(t, loop)
	})
}

func TestTasksSurviveCollections(t *testing.T) {
	all(t, func(t *testing.T, loop Entrant) {
		sum := 0
		for i := range 200 {
			kept := new(int)
			*kept = i
			submit(t, loop, func() { sum += *kept })
			if i%20 == 0 {
				runtime.GC() // empties pools, while tasks wait
			}
		}
		closed(t, loop)
		if sum != 199*200/2 {
			t.Errorf("the sum is %d", sum)
		}
	})
}

func TestTasksMaySubmit(t *testing.T) {
	all(t, func(t *testing.T, loop Entrant) {
		order := make(chan int, 3)
		submit(t, loop, func() {
			submit(t, loop, func() { order <- 2 })
			order <- 1 // the other one cannot have run
		})
		if first, second := <-order, <-order; first != 1 || second != 2 {
			t.Errorf("%d before %d", first, second)
		}
		closed(t, loop)
	})
}

func TestMicrotasksRunAfterTheirTaskAndBeforeTheNext(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, micro Microtasker) {
		var order []string
		say := func(word string) func() { return func() { order = append(order, word) } }
		inside(t, loop, func() {
			submit(t, loop, say("next task"))
			micro.Microtask(func() {
				order = append(order, "first")
				micro.Microtask(say("of the first"))
			})
			micro.Microtask(say("second"))
			order = append(order, "task")
		})
		closed(t, loop)
		if want := []string{"task", "first", "second", "of the first", "next task"}; !slices.Equal(order, want) {
			t.Errorf("%q", order)
		}
	})
}

func TestMicrotasksMayBeMoreThanABudget(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, micro Microtasker) {
		n, done := 0, make(chan struct{})
		inside(t, loop, func() {
			for range 3 * budget {
				micro.Microtask(func() {
					if n++; n == 3*budget {
						close(done)
					}
				})
			}
		})
		<-done // nothing else wakes the loop
		closed(t, loop)
	})
}

func TestReactionsOfPromisesAreMicrotasksInTheirOrder(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, promiser Promiser) {
		var order []string
		note := func(word string) func(any) (any, error) {
			return func(value any) (any, error) {
				order = append(order, word)
				return value, nil
			}
		}
		inside(t, loop, func() {
			submit(t, loop, func() { order = append(order, "next task") })
			p := promiser.Promise()
			p.Then(note("first")).Then(note("after first"))
			p.Then(note("second"))
			p.Resolve(1)
			p.Then(note("late"))
			order = append(order, "task")
		})
		closed(t, loop)
		if want := []string{"task", "first", "second", "late", "after first", "next task"}; !slices.Equal(order, want) {
			t.Errorf("%q", order)
		}
	})
}

func TestPromisesAreSettledOnce(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, promiser Promiser) {
		got := make(chan any, 2)
		inside(t, loop, func() {
			p := promiser.Promise()
			p.Then(func(value any) (any, error) {
				got <- value
				return nil, nil
			})
			p.Resolve("once")
			p.Resolve("twice")
			p.Reject(errors.New("thrice"))
		})
		closed(t, loop)
		if value := <-got; value != "once" || len(got) > 0 {
			t.Errorf("%v, and %d more", value, len(got))
		}
	})
}

func TestARejectionPassesByUntilItIsCaught(t *testing.T) {
	on := errors.New("on purpose")
	each(t, func(t *testing.T, loop Entrant, promiser Promiser) {
		got := make(chan any, 3)
		inside(t, loop, func() {
			p := promiser.Promise()
			p.Then(func(any) (any, error) {
				t.Error("a rejected promise has a value")
				return nil, nil
			}).Catch(func(reason error) (any, error) {
				got <- reason
				return "caught", nil
			}).Catch(func(error) (any, error) {
				t.Error("it was caught before")
				return nil, nil
			}).Then(func(value any) (any, error) {
				got <- value
				return nil, errors.New("a reaction's own")
			}).Catch(func(reason error) (any, error) {
				got <- reason.Error()
				return nil, nil
			})
			p.Reject(on)
		})
		reason, isError := (<-got).(error)
		if !isError || reason.Error() != on.Error() {
			t.Errorf("the reason is %v", reason)
		}
		if value, own := <-got, <-got; value != "caught" || own != "a reaction's own" {
			t.Errorf("then %v, then %v", value, own)
		}
		closed(t, loop)
	})
}

func TestAPromiseIsSettledFromElsewhereByATask(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, promiser Promiser) {
		got := make(chan any, 1)
		var p Promise
		inside(t, loop, func() {
			p = promiser.Promise()
			p.Then(func(value any) (any, error) {
				got <- value
				return nil, nil
			})
		})
		submit(t, loop, func() { p.Resolve("from elsewhere") })
		if value := <-got; value != "from elsewhere" {
			t.Errorf("the value is %v", value)
		}
		closed(t, loop)
	})
}

func TestTimersAreTakenInTheOrderOfTheirTimes(t *testing.T) {
	var all timers
	var set []*timer
	for _, due := range []time.Duration{9, 3, 6, 3, 1, 8} {
		one := &timer{due: due, place: -1}
		all.add(one)
		set = append(set, one)
	}
	all.remove(set[2])
	all.remove(set[2])
	want := []*timer{set[4], set[1], set[3], set[5], nil}
	for i, one := range want { // of the same time in the order in which they were set
		if taken := all.take(8); taken != one {
			t.Fatalf("%d: %+v", i, taken)
		}
	}
	if last := all.take(9); last != set[0] || all.wait() != forever {
		t.Errorf("the last one is %+v, and the wait %d", last, all.wait())
	}
}

func TestTimersThatAreCancelledDoNotFire(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, timer Timer) {
		var cancels []func()
		for i := range 50 {
			cancel, err := timer.After(time.Hour-time.Duration(i)*time.Minute, func() { t.Error("one fired") })
			if err != nil {
				t.Fatal(err)
			}
			cancels = append(cancels, cancel)
		}
		for _, i := range []int{49, 0, 7, 7, 20} { // one of them twice
			cancels[i]()
		}
		fired := make(chan struct{})
		if _, err := timer.After(0, func() { close(fired) }); err != nil {
			t.Fatal(err)
		}
		<-fired
		closed(t, loop)
	})
}

func TestATimerSetByATaskFiresAfterItsMicrotasks(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, timer Timer) {
		var order []string
		fired := make(chan struct{})
		inside(t, loop, func() {
			if _, err := timer.After(0, func() {
				order = append(order, "timer")
				close(fired)
			}); err != nil {
				t.Error(err)
			}
			loop.(Microtasker).Microtask(func() { order = append(order, "microtask") })
			order = append(order, "task")
		})
		<-fired
		closed(t, loop)
		if want := []string{"task", "microtask", "timer"}; !slices.Equal(order, want) {
			t.Errorf("%q", order)
		}
	})
}

func TestATaskMayStopTheDescriptorOfItsLoop(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, watcher Watcher) {
		ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(ends[0])
		defer syscall.Close(ends[1])
		calls, stopped := 0, make(chan struct{})
		var stop func() error
		inside(t, loop, func() {
			stop, err = watcher.Watch(ends[0], func() { // it reads nothing: the descriptor stays readable
				if calls++; calls == 3 {
					if err := stop(); err != nil {
						t.Error(err)
					}
					close(stopped)
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Write(ends[1], []byte("a")); err != nil {
			t.Fatal(err)
		}
		<-stopped
		inside(t, loop, func() {}) // has a turn of its own
		closed(t, loop)
		if calls != 3 {
			t.Errorf("%d calls", calls)
		}
	})
}

// each calls test for the entrants that have a feature.
func each[Feature any](t *testing.T, test func(t *testing.T, loop Entrant, feature Feature)) {
	t.Helper()
	tested := 0
	all(t, func(t *testing.T, loop Entrant) {
		feature, ok := loop.(Feature)
		if !ok {
			closed(t, loop)
			return
		}
		tested++
		test(t, loop, feature)
	})
	if tested == 0 {
		t.Error("no entrant has it")
	}
}
