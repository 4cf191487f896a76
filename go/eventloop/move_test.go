package eventloop

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/go/internal/leak"
)

// A timer that is taken back on a loop that does not run is no work: nothing is left that Drain would wait for.
func TestATimerStoppedOnAStoppedLoopLeavesNothing(t *testing.T) {
	for name, started := range map[string]bool{"it has never run": false, "it has run": true} {
		t.Run(name, func(t *testing.T) {
			l := made(t)
			if started {
				must(t, l.Start())
			}
			timer, err := l.After(time.Hour, func() { t.Error("fired") })
			must(t, err)
			if started {
				do(t, l, func() {}) // it is in the heap
				l.Stop()
			}
			if !timer.Stop() {
				t.Error("it was not active")
			}
			if l.Alive() {
				t.Error("it keeps the loop alive")
			}
			must(t, l.Drain(context.Background()))
			run(t, l)
		})
	}
}

// However often timers are set and stopped before the loop looks: each waits for it once at most, and those that the
// loop has never seen not at all.
func TestTimersThatWaitForTheLoopAreBounded(t *testing.T) {
	l := made(t, Config{MaxQueue: 1})
	for range 20_000 {
		timer, err := l.After(time.Hour, func() { t.Error("fired") })
		must(t, err)
		must(t, timer.Reset(time.Minute))
		timer.Stop()
	}
	if l.moves.n != 0 || l.moves.first != nil || l.moves.last != nil {
		t.Error(l.moves.n, "wait")
	}
	timer, err := l.After(time.Hour, func() { t.Error("fired") })
	must(t, err)
	must(t, l.Start())
	do(t, l, func() {})
	l.Stop()
	for range 100 {
		timer.Stop()
		must(t, timer.Reset(time.Minute))
	}
	timer.Stop()
	if l.moves.n != 1 || len(l.ops) > 0 {
		t.Error(l.moves.n, "and", len(l.ops), "wait")
	}
	run(t, l)
	if len(l.timers.heap) > 0 || l.moves.n > 0 {
		t.Error("the heap keeps a timer that was stopped")
	}
}

// The timers among those that wait are taken out of the middle, from either end, and put at the end again.
func TestTimersLeaveInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		var d diary
		var timers []*Timer
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			timer, err := l.After(time.Second, d.write(name))
			must(t, err)
			timers = append(timers, timer)
		}
		for _, i := range []int{2, 0, 5} {
			timers[i].Stop()
		}
		must(t, timers[1].Reset(time.Second)) // the first of b, d, e
		must(t, timers[1].Reset(time.Second)) // the last
		must(t, timers[0].Reset(time.Second)) // one that was stopped
		must(t, timers[4].Reset(time.Second)) // in the middle
		run(t, l)
		d.expect(t, "d", "b", "a", "e")
	})
}

// Stop from outside neither wakes a loop that sleeps nor allocates; the loop takes the timer out at its next turn.
func TestStopLetsTheLoopSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := started(t)
		fired := 0
		timers := make([]*Timer, 101)
		do(t, l, func() {
			for i := range timers {
				timers[i], _ = l.After(time.Hour, func() { fired++ })
			}
		})
		synctest.Wait()
		next := 0
		allocated := testing.AllocsPerRun(len(timers)-1, func() {
			timers[next].Stop()
			next++
			if !asleep(l) {
				t.Error("awake")
			}
		})
		if allocated != 0 {
			t.Error(allocated, "allocations")
		}
		if l.moves.n != len(timers) || l.Stats().Live != 0 {
			t.Error(l.moves.n, "wait,", l.Stats().Live, "live")
		}
		must(t, l.Submit(func() {}))
		synctest.Wait()
		if l.moves.n != 0 || len(l.timers.heap) != 0 {
			t.Error("the loop has not seen to them")
		}
		time.Sleep(2 * time.Hour)
		if fired != 0 {
			t.Error(fired, "fired")
		}
	})
}

// The last timer of a loop that somebody waits for is another matter.
func TestStopOfTheLastTimerEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		timer, err := l.After(time.Hour, func() { t.Error("fired") })
		must(t, err)
		ended := make(chan struct{})
		began := time.Now()
		go func() {
			defer close(ended)
			run(t, l)
		}()
		synctest.Wait()
		timer.Stop()
		<-ended
		if time.Since(began) != 0 {
			t.Error("Run has waited for a timer that was stopped")
		}
	})
}

// A timer that is set while the loop is being closed is refused, or taken back by Close: it is never left over.
func TestSettingTimersRacesWithClose(t *testing.T) {
	leak.Check(t)
	for i := range 200 {
		l, err := New(Config{})
		must(t, err)
		if i%2 == 0 {
			must(t, l.Start())
		}
		timer, err := l.After(time.Hour, func() {})
		must(t, err)
		var setting sync.WaitGroup
		set := make(chan struct{})
		setting.Go(func() {
			close(set)
			for timer.Reset(time.Hour) == nil {
				if _, err := l.After(time.Hour, func() {}); err != nil {
					break
				}
				timer.Stop()
			}
		})
		<-set
		l.Close(cancelled())
		setting.Wait()
		if live := l.Stats().Live; live != 0 || timer.Stop() || l.moves.n != 0 {
			t.Fatalf("round %d: %d timers are live, %d wait", i, live, l.moves.n)
		}
	}
}

// A panic ends the loop that is being closed before it has looked at a timer.
func TestTimersThatTheLoopHasNotSeenEndWithIt(t *testing.T) {
	l := made(t, Config{PropagatePanics: true})
	must(t, l.Submit(func() {
		set := make(chan error)
		go func() {
			_, err := l.After(time.Hour, func() { t.Error("fired") })
			set <- err
		}()
		must(t, <-set)
		l.Close(context.Background())
		panic("the end")
	}))
	func() {
		defer func() { _ = recover() }()
		run(t, l)
	}()
	if live := l.Stats().Live; live != 0 || l.moves.n != 0 {
		t.Errorf("%d live, %d wait", live, l.moves.n)
	}
}

// countingAlarm counts how often it is set.
type countingAlarm struct {
	alarm
	sets int
}

func (a *countingAlarm) set(at int64) {
	a.sets++
	a.alarm.set(at)
}

// Timers that are due need no alarm, and those that are set in one task need one in all.
func TestTheAlarmIsSetForTheFutureOnly(t *testing.T) {
	l := made(t)
	counts := &countingAlarm{alarm: newGoAlarm(l)}
	l.timers.alarm = counts
	n := 0
	var chain func()
	chain = func() {
		if n++; n < 1000 {
			l.After(0, chain)
		}
	}
	must(t, l.Submit(chain))
	for range 100 {
		must(t, l.Submit(func() { l.After(0, func() {}) }))
	}
	must(t, l.Submit(func() {
		for d := time.Hour; d > time.Minute; d -= time.Minute {
			timer, err := l.After(d, func() {})
			must(t, err)
			timer.Unref()
		}
	}))
	run(t, l)
	if n != 1000 || counts.sets > 1 {
		t.Error(n, "fired,", counts.sets, "alarms")
	}
}

// A timer that is due comes between two tasks, wherever it was set: the order does not depend on an alarm.
func TestATimerOfNoTimeComesBeforeTheNextTask(t *testing.T) {
	for range 20 {
		l := made(t)
		ran, at, again := 0, -1, -1
		must(t, l.Submit(func() {}))
		must(t, l.Submit(func() {
			l.After(time.Hour, func() {})
			l.After(0, func() {
				at = ran
				l.After(0, func() { again = ran })
			})
		}))
		for range 1000 {
			must(t, l.Submit(func() { ran++ }))
		}
		must(t, l.Submit(l.Stop))
		run(t, l)
		if at != 0 || again != 1 {
			t.Fatalf("after %d tasks, and the one that it has set after %d", at, again)
		}
	}
}

// It is a Do that has set it, on a loop that sleeps: nothing else wakes the loop.
func TestATimerOfNoTimeSetByDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		counts := &countingAlarm{alarm: newGoAlarm(l)}
		l.timers.alarm = counts
		must(t, l.Start())
		var fired atomic.Int64
		for i := range int64(3) {
			settled(t, l)
			do(t, l, func() {
				l.After(0, func() { fired.Add(1) })
				l.After(time.Second, func() { fired.Add(1) })
			})
			synctest.Wait()
			if fired := fired.Load(); fired != 2*i+1 {
				t.Error(fired, "fired at once")
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if fired := fired.Load(); fired != 2*i+2 {
				t.Error(fired, "fired in the end")
			}
		}
		l.Stop()
		if counts.sets != 3 {
			t.Error(counts.sets, "alarms")
		}
	})
}

// Timers and immediates are gone from the heap when a burst has run, also while one timer stays.
func TestABurstGivesItsListsBack(t *testing.T) {
	l := started(t)
	const burst = 20_000
	for _, outside := range []bool{true, false} {
		stays, err := l.After(time.Hour, func() {})
		must(t, err)
		stays.Unref()
		set := func() {
			for range burst {
				if _, err := l.After(0, func() {}); err != nil {
					t.Error(err)
				}
			}
		}
		release := busy(t, l)
		if outside {
			set()
		} else {
			must(t, l.Submit(set))
		}
		must(t, l.Submit(func() {
			for range burst {
				l.Immediate(func() {})
			}
		}))
		release()
		settled(t, l)
		do(t, l, func() {
			for name, kept := range map[string]int{
				"timers": cap(l.timers.heap), "immediates": cap(l.immediates), "immediates that ran": cap(l.checking),
				"ops": cap(l.ops), "orders": cap(l.orders),
			} {
				if kept > ringKept {
					t.Errorf("%s: room for %d is kept", name, kept)
				}
			}
		})
		stays.Stop()
	}
}
