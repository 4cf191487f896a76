package eventloop

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/go"
)

func TestStatsAddUp(t *testing.T) {
	l := made(t, Config{MaxQueue: 20, OnError: nop[error]})
	for i := range 30 {
		err := l.SubmitPriority(millrace.Priority(i%4), func() {})
		if (i < 20) != (err == nil) {
			t.Fatal(i, err)
		}
	}
	l.After(0, func() { panic(1) })
	s := l.Stats()
	if s.QueueDepth != 20 || s.SubmittedTotal != 20 || s.RefusedTotal != 10 || s.Live != 1 || s.TurnsTotal+s.TimersTotal+s.ErrorsTotal != 0 {
		t.Errorf("%+v", s)
	}
	run(t, l)
	// Those of one run, up to the last one.
	if s := l.Stats(); s.QueueDepth != 0 || s.TurnsTotal != 1 || s.TimersTotal != 1 || s.ErrorsTotal != 1 || s.Live != 0 {
		t.Errorf("%+v", s)
	}
	for range 3 {
		must(t, l.Submit(func() {}))
		run(t, l)
	}
	if s := l.Stats(); s.TurnsTotal != 4 || s.SubmittedTotal != 23 {
		t.Errorf("%+v", s)
	}
}

func TestTheWorstWaitOfAClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := started(t, Config{Timing: true})
		release := busy(t, l)
		must(t, l.Submit(func() { time.Sleep(time.Second) }))
		must(t, l.SubmitPriority(millrace.High, func() { time.Sleep(time.Second) }))
		time.Sleep(time.Minute)
		must(t, l.SubmitPriority(millrace.Low, func() {}))
		release()
		must(t, l.Drain(context.Background()))
		want := millrace.ByPriority[time.Duration]{High: time.Minute, Normal: time.Minute + time.Second, Low: time.Second}
		if got := l.Stats().QueueWaitMax; got != want {
			t.Error(got)
		}
	})
}

func TestUtilizationIsTheBusyShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := started(t)
		if l.Utilization() != 0 {
			t.Error("the first call starts the measuring")
		}
		pause := func(busy, idle time.Duration) {
			if busy > 0 {
				must(t, l.Submit(func() { time.Sleep(busy) }))
			}
			time.Sleep(busy + idle)
			synctest.Wait()
		}
		pause(0, time.Second)
		l.Utilization()
		for _, busy := range []time.Duration{0, 100, 500, 1000} {
			for range 2 { // the window is that since the last call but one
				pause(busy*time.Millisecond, (1000-busy)*time.Millisecond)
				l.Utilization()
			}
			pause(busy*time.Millisecond, (1000-busy)*time.Millisecond)
			if got := l.Utilization(); got < float64(busy)/1000-1e-3 || got > float64(busy)/1000+1e-3 {
				t.Error(busy, "of 1000 ms busy:", got)
			}
		}
		// A Do that runs inline is busy time too.
		for range 3 {
			must(t, l.Do(context.Background(), func() { time.Sleep(time.Second) }))
			time.Sleep(time.Second)
			l.Utilization()
		}
		if got := l.Stats().LoopUtilization; got < 0.49 || got > 0.51 {
			t.Error("Do:", got)
		}
		l.Stop()
		time.Sleep(time.Hour)
		l.Utilization()
		time.Sleep(time.Hour)
		if got := l.Utilization(); got != 0 {
			t.Error("stopped:", got)
		}
	})
}
