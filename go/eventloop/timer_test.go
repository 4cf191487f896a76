package eventloop_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
)

// inBubble runs a test on a clock that stands still while anything runs, with a loop that is not running.
func inBubble(t *testing.T, test func(t *testing.T, l *eventloop.Loop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newLoop(t)) })
}

// journal notes what happens when.
type journal struct {
	start time.Time
	lines []string
}

func newJournal() *journal { return &journal{start: time.Now()} }

func (j *journal) note(line string) func() {
	return func() { j.lines = append(j.lines, fmt.Sprint(line, " ", time.Since(j.start))) }
}

func (j *journal) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(j.lines, want) {
		t.Errorf("got  %q\nwant %q", j.lines, want)
	}
}

// after sets a timer that must not be refused.
func after(t testing.TB, l *eventloop.Loop, d time.Duration, fn func()) *eventloop.Timer {
	t.Helper()
	timer, err := l.After(d, fn)
	check(t, err)
	return timer
}

func every(t testing.TB, l *eventloop.Loop, d time.Duration, fn func()) *eventloop.Timer {
	t.Helper()
	timer, err := l.Every(d, fn)
	check(t, err)
	return timer
}

func runToIdle(t testing.TB, l *eventloop.Loop) {
	t.Helper()
	check(t, l.Run(context.Background()))
}

func TestTimersFireInTheirOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		after(t, l, 2*time.Second, j.note("c"))
		after(t, l, time.Second, j.note("a"))
		after(t, l, time.Second, j.note("b"))
		after(t, l, 0, j.note("now"))
		after(t, l, -time.Hour, j.note("late"))
		after(t, l, math.MinInt64, j.note("latest"))
		runToIdle(t, l)
		j.expect(t, "now 0s", "late 0s", "latest 0s", "a 1s", "b 1s", "c 2s")
	})
}

func TestEqualTimersFireInTheOrderOfSetting(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		var fired, want []int
		check(t, l.Submit(func() {
			for i := range 200 {
				after(t, l, time.Second, func() { fired = append(fired, i) })
				want = append(want, i)
			}
		}))
		runToIdle(t, l)
		if !slices.Equal(fired, want) {
			t.Error(fired)
		}
	})
}

// What a timer sets waits for the next turn, even if it is due: others come in between.
func TestATimerOfNoTimeSetByATimer(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		after(t, l, time.Second, func() {
			j.note("a")()
			after(t, l, 0, j.note("set by a"))
			check(t, l.Submit(j.note("task of a")))
			check(t, l.Microtask(j.note("microtask of a")))
		})
		after(t, l, time.Second, j.note("b"))
		runToIdle(t, l)
		j.expect(t, "a 1s", "microtask of a 1s", "b 1s", "set by a 1s", "task of a 1s")
	})
}

func TestATimerThatIsAlwaysDueKeepsNothingOut(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		n, ran := 0, false
		var timer *eventloop.Timer
		timer = after(t, l, 0, func() {
			if n++; n == 1 {
				check(t, l.Submit(func() { ran = true }))
			}
			if n == 1000 {
				t.Error("the task has not had its turn")
			} else if !ran {
				check(t, timer.Reset(0))
			}
		})
		runToIdle(t, l)
	})
}

func TestATimerThatIsDueComesBeforeTasksThatWait(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		after(t, l, time.Second, j.note("timer"))
		check(t, l.Submit(func() {
			check(t, l.Submit(j.note("task")))
			time.Sleep(2 * time.Second)
		}))
		runToIdle(t, l)
		j.expect(t, "timer 2s", "task 2s")
	})
}

func TestATimerThatNeverFires(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		never := after(t, l, math.MaxInt64, func() { t.Error("fired") })
		after(t, l, 100*365*24*time.Hour, func() {
			if !never.Stop() {
				t.Error("it was not active")
			}
		})
		runToIdle(t, l)
	})
}

func TestStopTakesATimerBackOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		stops := func(timer *eventloop.Timer, want ...bool) {
			t.Helper()
			for i, w := range want {
				if got := timer.Stop(); got != w {
					t.Errorf("Stop number %d is %v", i+1, got)
				}
			}
		}
		unwanted := func() { t.Error("a timer that was stopped fired") }
		stops(after(t, l, time.Second, unwanted), true, false)
		stops(every(t, l, time.Second, unwanted), true, false)
		runToIdle(t, l)
		fired := after(t, l, time.Second, func() {})
		runToIdle(t, l)
		stops(fired, false)
		check(t, l.Submit(func() {
			stops(after(t, l, time.Second, unwanted), true, false)
			// One that is due already, by another one.
			var second *eventloop.Timer
			after(t, l, time.Second, func() { stops(second, true, false) })
			second = after(t, l, time.Second, unwanted)
			// Itself.
			var third *eventloop.Timer
			third = after(t, l, time.Second, func() { stops(third, false) })
		}))
		runToIdle(t, l)
		if l.Alive() {
			t.Error("something is left")
		}
	})
}

func TestEveryKeepsItsRhythm(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		n := 0
		var timer *eventloop.Timer
		timer = every(t, l, 100*time.Millisecond, func() {
			j.note("tick")()
			switch n++; n {
			case 2:
				time.Sleep(30 * time.Millisecond) // late, but before the next
			case 3:
				time.Sleep(250 * time.Millisecond) // two are missed
			case 5:
				if !timer.Stop() || timer.Stop() {
					t.Error("Stop inside the timer itself")
				}
			}
		})
		runToIdle(t, l)
		// The one that was due while the third call ran is late; what was due before that is left out.
		j.expect(t, "tick 100ms", "tick 200ms", "tick 300ms", "tick 550ms", "tick 600ms")
		if n := l.Stats().TimersTotal; n != 5 {
			t.Error("counted", n)
		}
	})
}

func TestThePeriodOfEvery(t *testing.T) {
	l := newLoop(t)
	for _, d := range []time.Duration{0, -1, 999, math.MinInt64} {
		if _, err := l.Every(d, func() {}); !errors.Is(err, millrace.ErrOption) {
			t.Errorf("Every(%v): %v", d, err)
		}
	}
	if _, err := l.Every(time.Second, nil); err != eventloop.ErrNilTask {
		t.Error(err)
	}
	if _, err := l.After(time.Second, nil); err != eventloop.ErrNilTask {
		t.Error(err)
	}
	if l.Alive() {
		t.Error("a timer that was refused keeps the loop alive")
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t)
		n, start := 0, time.Now()
		var fast *eventloop.Timer
		fast = every(t, l, time.Microsecond, func() {
			if n++; n == 100 {
				fast.Stop()
			}
		})
		slow := every(t, l, math.MaxInt64, func() { t.Error("fired") })
		slow.Unref()
		runToIdle(t, l)
		if passed := time.Since(start); passed != 100*time.Microsecond {
			t.Error("100 periods took", passed)
		}
	})
}

func TestReset(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		check(t, l.Submit(func() {
			sooner := after(t, l, time.Hour, j.note("sooner"))
			check(t, sooner.Reset(time.Second))
			later := after(t, l, time.Second, j.note("later"))
			check(t, later.Reset(3*time.Second))
			stopped := after(t, l, time.Second, j.note("stopped and set again"))
			stopped.Stop()
			check(t, stopped.Reset(2*time.Second))
			// A new setting is a new place among equals.
			equal := after(t, l, 4*time.Second, j.note("second"))
			after(t, l, 4*time.Second, j.note("first"))
			check(t, equal.Reset(4*time.Second))
			again := 0
			var twice *eventloop.Timer
			twice = after(t, l, 5*time.Second, func() {
				j.note("twice")()
				if again++; again == 1 {
					check(t, twice.Reset(time.Second))
				}
			})
		}))
		runToIdle(t, l)
		j.expect(t, "sooner 1s", "stopped and set again 2s", "later 3s", "first 4s", "second 4s",
			"twice 5s", "twice 6s")
	})
}

func TestResetMovesTheRhythmOfEvery(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		timer := every(t, l, time.Second, j.note("tick"))
		after(t, l, 1500*time.Millisecond, func() { check(t, timer.Reset(200*time.Millisecond)) })
		after(t, l, 4*time.Second, func() { timer.Stop() })
		runToIdle(t, l)
		j.expect(t, "tick 1s", "tick 1.7s", "tick 2.7s", "tick 3.7s")
	})
}

func TestUnrefLetsTheLoopEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		idle := every(t, l, time.Second, j.note("unreferenced"))
		if !idle.HasRef() {
			t.Error("a timer is referenced from the start")
		}
		idle.Unref()
		idle.Unref()
		if idle.HasRef() {
			t.Error("Unref has no effect")
		}
		runToIdle(t, l)
		j.expect(t)
		if l.Alive() {
			t.Error("an unreferenced timer keeps the loop alive")
		}
		// It fires while something else keeps the loop alive.
		after(t, l, 1500*time.Millisecond, func() {})
		runToIdle(t, l)
		j.expect(t, "unreferenced 1s")
		idle.Ref()
		idle.Ref()
		if !idle.HasRef() || !l.Alive() {
			t.Error("Ref has no effect")
		}
		after(t, l, time.Second, func() { idle.Unref() })
		runToIdle(t, l)
		j.expect(t, "unreferenced 1s", "unreferenced 2s")
		idle.Stop()
		idle.Ref()
		runToIdle(t, l)
		if l.Alive() {
			t.Error("a stopped timer keeps the loop alive")
		}
		check(t, idle.Reset(time.Second))
		if !l.Alive() {
			t.Error("a timer that was set again does not keep the loop alive")
		}
		idle.Stop()
	})
}

// A loop that runs is told by other goroutines: of an earlier timer while it sleeps until a later one, of one less.
func TestTimersOfOtherGoroutines(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		check(t, l.Start())
		last := after(t, l, time.Hour, j.note("last"))
		synctest.Wait()
		after(t, l, 2*time.Second, j.note("b"))
		after(t, l, time.Second, j.note("a"))
		gone := after(t, l, time.Second, j.note("stopped"))
		synctest.Wait()
		if !gone.Stop() || gone.Stop() {
			t.Error("Stop")
		}
		check(t, last.Reset(3*time.Second))
		moved := every(t, l, time.Hour, j.note("every"))
		check(t, moved.Reset(4*time.Second))
		time.Sleep(5 * time.Second)
		moved.Stop()
		check(t, l.Drain(context.Background()))
		j.expect(t, "a 1s", "b 2s", "last 3s", "every 4s")
	})
}

func TestStopFromOutsideInTheLastMoment(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		check(t, l.Start())
		// While the loop is busy in a task, timers become due and are stopped: they must not fire then.
		check(t, l.Submit(func() { time.Sleep(2 * time.Second) }))
		synctest.Wait()
		unwanted := func() { t.Error("fired after Stop") }
		once, again := after(t, l, time.Second, unwanted), every(t, l, time.Second, unwanted)
		moved := 0
		late := after(t, l, time.Second, func() { moved++ })
		time.Sleep(1500 * time.Millisecond)
		if !once.Stop() || !again.Stop() {
			t.Error("Stop")
		}
		check(t, late.Reset(time.Hour))
		time.Sleep(time.Second)
		if moved != 0 {
			t.Error("fired at the old time, after Reset")
		}
		check(t, l.Drain(context.Background()))
		if moved != 1 {
			t.Error("fired", moved, "times")
		}
	})
}

func TestTimersWhileTheLoopIsStopped(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		j := newJournal()
		after(t, l, time.Second, j.note("a"))
		after(t, l, 3*time.Second, j.note("b"))
		check(t, l.Start())
		synctest.Wait()
		l.Stop()
		time.Sleep(2 * time.Second)
		j.expect(t)
		runToIdle(t, l)
		j.expect(t, "a 2s", "b 3s")
	})
}

func TestTimersOfAClosedLoop(t *testing.T) {
	inBubble(t, func(t *testing.T, l *eventloop.Loop) {
		timer := after(t, l, time.Second, func() { t.Error("fired after Close") })
		other := every(t, l, time.Second, func() { t.Error("fired after Close") })
		err := l.Close(context.Background())
		check(t, err)
		if timer.Stop() || other.Stop() {
			t.Error("Stop after Close")
		}
		if err := timer.Reset(0); err != millrace.ErrClosed {
			t.Error(err)
		}
		if _, err := l.After(0, func() {}); err != millrace.ErrClosed {
			t.Error(err)
		}
		if _, err := l.Every(time.Second, func() {}); err != millrace.ErrClosed {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if live := l.Stats().Live; live != 0 {
			t.Error("live", live)
		}
	})
}

func TestATimerThatPanicsFiresAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures, n := 0, 0
		l := newLoop(t, eventloop.Config{OnError: func(error) { failures++ }})
		var timer *eventloop.Timer
		timer = every(t, l, time.Second, func() {
			if n++; n == 3 {
				timer.Stop()
			}
			panic("again")
		})
		runToIdle(t, l)
		if n != 3 || failures != 3 {
			t.Error(n, failures)
		}
	})
}

// modelTimer is what a timer is to do.
type modelTimer struct {
	timer       *eventloop.Timer
	every, when time.Duration
	seq         int
	active, ref bool
}

// Random operations against a list that is searched for the next timer.
func TestRandomTimersAgainstAModel(t *testing.T) {
	for range 10 {
		seed := rand.Uint64()
		inBubble(t, func(t *testing.T, l *eventloop.Loop) {
			randomTimers(t, l, rand.New(rand.NewPCG(seed, 0)))
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		})
		if t.Failed() {
			return
		}
	}
}

func randomTimers(t *testing.T, l *eventloop.Loop, random *rand.Rand) {
	start, seq := time.Now(), 0
	var timers []*modelTimer
	var got, want []string
	now := func() time.Duration { return time.Since(start) }
	outside := false
	setModel := func(m *modelTimer, d time.Duration) {
		seq++
		m.seq, m.when, m.active = seq, now()+max(0, d), true
	}
	some := func() time.Duration {
		least := -1
		if outside {
			// One of no time may have fired before the next operation.
			least = 1
		}
		return time.Duration(max(least, random.IntN(20)-1)) * time.Millisecond
	}
	operate := func() {
		switch pick := random.IntN(6); {
		case pick < 2 || len(timers) == 0:
			m := &modelTimer{ref: true}
			name := len(timers)
			fn := func() { got = append(got, fmt.Sprint(name, " ", now())) }
			d := some()
			if random.IntN(3) == 0 {
				d = max(d, time.Millisecond)
				m.every = d
				m.timer = every(t, l, d, fn)
			} else {
				m.timer = after(t, l, d, fn)
			}
			setModel(m, d)
			timers = append(timers, m)
		case pick == 2:
			m := timers[random.IntN(len(timers))]
			if stopped := m.timer.Stop(); stopped != m.active {
				t.Error("Stop is", stopped)
			}
			m.active = false
		case pick == 3:
			m, d := timers[random.IntN(len(timers))], some()
			check(t, m.timer.Reset(d))
			setModel(m, d)
		case pick == 4:
			m := timers[random.IntN(len(timers))]
			m.ref = random.IntN(2) == 0
			if m.ref {
				m.timer.Ref()
			} else {
				m.timer.Unref()
			}
		}
	}
	// fire does to the model what is to happen until now.
	fire := func() {
		for {
			var next *modelTimer
			name := 0
			for i, m := range timers {
				if m.active && m.when <= now() &&
					(next == nil || m.when < next.when || m.when == next.when && m.seq < next.seq) {
					next, name = m, i
				}
			}
			if next == nil {
				return
			}
			want = append(want, fmt.Sprint(name, " ", next.when))
			if next.active = next.every > 0; next.active {
				seq++
				next.when, next.seq = next.when+next.every, seq
			}
		}
	}
	check(t, l.Start())
	for range 100 {
		// By the loop itself, or by another goroutine.
		if n := random.IntN(5); random.IntN(2) == 0 {
			outside = false
			check(t, l.Do(context.Background(), func() {
				for range n {
					operate()
				}
			}))
		} else {
			outside = true
			for range n {
				operate()
			}
		}
		// One ms at a time: timers that are late would fire together.
		for range random.IntN(10) {
			synctest.Wait()
			fire()
			if !slices.Equal(got, want) {
				t.Fatalf("got  %v\nwant %v", got, want)
			}
			live := int64(0)
			for _, m := range timers {
				if m.active && m.ref {
					live++
				}
			}
			if n := l.Stats().Live; n != live {
				t.Fatalf("%d timers keep the loop alive, and %d should", n, live)
			}
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		fire()
	}
	l.Stop()
}

func TestTimersFromManyGoroutines(t *testing.T) {
	l := startedLoop(t)
	var fired, stopped int64
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 500 {
				timer, err := l.After(time.Duration(i%3)*100*time.Microsecond, func() {
					if !l.Inside() {
						t.Error("outside the loop")
					}
					mu.Lock()
					fired++
					mu.Unlock()
				})
				if err != nil {
					t.Error(err)
				}
				if i%2 == 0 && timer.Stop() {
					mu.Lock()
					stopped++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	check(t, l.Drain(context.Background()))
	on(t, l, func() {})
	if fired+stopped != 2000 {
		t.Errorf("%d fired and %d were stopped of 2000", fired, stopped)
	}
}

// Setting and stopping inside the loop, as a timeout that is not needed in the end.
func BenchmarkTimerSetAndStop(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		for range n {
			timer, _ := l.After(time.Minute, func() {})
			timer.Stop()
		}
	})
}

func BenchmarkTimerFires(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		for range n {
			l.After(0, func() {})
		}
	})
}

func BenchmarkMicrotask(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		for range n {
			l.Microtask(func() {})
		}
	})
}

func BenchmarkImmediate(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		for range n {
			l.Immediate(func() {})
		}
	})
}
