package eventloop

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"millrace.dev/go/internal/leak"
)

func TestPreciseTimers(t *testing.T) {
	leak.Check(t)
	l := made(t, Config{PreciseTimers: true})
	var d diary
	for {
		began := time.Now()
		var timers []*Timer
		// The first deadline moves forwards and backwards.
		for _, ms := range []int{5, 1, 9, 0, -1, 3, 7} {
			wait := time.Duration(ms) * time.Millisecond
			timer, err := l.After(wait, func() {
				if passed := time.Since(began); passed < wait {
					t.Errorf("%v fired after %v", wait, passed)
				}
				d.note(fmt.Sprint(ms))
			})
			must(t, err)
			timers = append(timers, timer)
		}
		if time.Since(began) < time.Millisecond {
			break
		}
		// On a busy machine they may be due in another order.
		for _, timer := range timers {
			timer.Stop()
		}
	}
	for _, wait := range []time.Duration{math.MaxInt64, 40 * 365 * 24 * time.Hour} {
		far, err := l.After(wait, func() { t.Error(wait, "has passed") })
		must(t, err)
		far.Unref()
	}
	ticks := 0
	var every *Timer
	every, err := l.Every(200*time.Microsecond, func() {
		if ticks++; ticks == 10 {
			every.Stop()
		}
	})
	must(t, err)
	l.Submit(func() {
		l.Submit(func() {
			if _, precise := l.timers.alarm.(*timerfdAlarm); !precise {
				t.Errorf("the alarm is a %T", l.timers.alarm)
			}
		})
	})
	run(t, l)
	d.expect(t, "0", "-1", "1", "3", "5", "7", "9")
	if ticks != 10 {
		t.Error(ticks, "ticks")
	}
}

// The timerfd and its goroutine go with Stop, and come again with the next run.
func TestPreciseTimersAcrossStop(t *testing.T) {
	l := made(t, Config{PreciseTimers: true})
	fired := make(chan struct{}, 1)
	timer, err := l.After(time.Hour, func() { fired <- struct{}{} })
	must(t, err)
	for range 3 {
		t.Run("no goroutine is left after Stop", func(t *testing.T) {
			leak.Check(t)
			must(t, l.Start())
			descriptor := -1
			do(t, l, func() { descriptor = l.timers.alarm.(*timerfdAlarm).fd })
			l.Stop()
			if isOpen(descriptor) {
				t.Error("the timerfd is still open")
			}
			// It is due before the loop runs again.
			must(t, timer.Reset(0))
			must(t, l.Start())
			<-fired
			must(t, timer.Reset(time.Hour))
			do(t, l, func() {})
			l.Stop()
		})
	}
}

// A timer that is taken back leaves no alarm behind that could go off.
func TestPreciseTimerStopped(t *testing.T) {
	leak.Check(t)
	l := started(t, Config{PreciseTimers: true})
	for range 100 {
		timer, err := l.After(time.Hour, func() { t.Error("fired") })
		must(t, err)
		if !timer.Stop() || timer.Stop() {
			t.Error("Stop")
		}
	}
	settled(t, l)
	do(t, l, func() {
		if l.timers.armed {
			t.Error("the alarm is set")
		}
	})
}

// A timer that is due at once, set by a caller of Do while the loop sleeps: only the alarm can wake it.
func TestPreciseTimerDueAtOnce(t *testing.T) {
	leak.Check(t)
	l := started(t, Config{PreciseTimers: true})
	for _, wait := range []time.Duration{0, -1, math.MinInt64, 1} {
		settled(t, l)
		fired := make(chan struct{})
		do(t, l, func() {
			_, err := l.After(wait, func() { close(fired) })
			must(t, err)
		})
		<-fired
	}
}

func BenchmarkTimerLateness(b *testing.B) {
	for name, config := range map[string]Config{"go": {}, "precise": {PreciseTimers: true}} {
		b.Run(name, func(b *testing.B) {
			l := started(b, config)
			fired := make(chan time.Time, 1)
			const wait = 1700 * time.Microsecond
			late := make([]time.Duration, 0, b.N)
			for range b.N {
				due := time.Now().Add(wait)
				_, _ = l.After(wait, func() { fired <- time.Now() })
				late = append(late, (<-fired).Sub(due))
			}
			report(b, late)
		})
	}
}

// report says how late timers were.
func report(b *testing.B, late []time.Duration) {
	slices.Sort(late)
	for _, percentile := range []int{50, 99} {
		at := late[min(len(late)-1, len(late)*percentile/100)]
		b.ReportMetric(float64(at)/1e3, fmt.Sprintf("µs-p%d", percentile))
	}
}
