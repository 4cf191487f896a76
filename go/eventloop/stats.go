package eventloop

import (
	"sync/atomic"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/internal/inner"
)

// Stats has the counters of a loop.
type Stats struct {
	// QueueDepth is the number of waiting tasks, without up to 127 of each class that the loop has already taken;
	// SubmittedTotal and RefusedTotal count the tasks submitted and refused.
	QueueDepth                   int
	SubmittedTotal, RefusedTotal uint64
	// TurnsTotal counts turns with NORMAL or LOW tasks, TimersTotal timers that fired, ErrorsTotal failures reported.
	TurnsTotal, TimersTotal, ErrorsTotal uint64
	// Live is the number of timers, immediates, handles and watchers that keep the loop alive.
	Live int64
	// QueueWaitMax is the worst wait so far, with Config.Timing, which looks at one task of each 128 or fewer.
	QueueWaitMax millrace.ByPriority[time.Duration]
	// LoopUtilization is the busy share of the loop, 0 to 1, with Config.Timing or after a call of Utilization.
	LoopUtilization float64
}

// Stats is a snapshot. Any goroutine; it takes the mutex once.
func (l *Loop) Stats() Stats {
	utilization := 0.0
	if l.timed.Load() {
		utilization = l.Utilization()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	worst := func(class int) time.Duration { return time.Duration(l.worstWait[class].Load()) }
	return Stats{
		QueueDepth: l.queued(), SubmittedTotal: l.accepted(), RefusedTotal: l.refused,
		TurnsTotal: l.turns, TimersTotal: l.fired.Load(), ErrorsTotal: l.reported.Load(),
		Live: l.live.Load(), LoopUtilization: utilization,
		QueueWaitMax: millrace.ByPriority[time.Duration]{
			High: worst(laneHigh), Normal: worst(laneNormal), Low: worst(laneLow),
		},
	}
}

// Utilization is the busy share of the loop, 0 to 1, over the last 250 ms or more. The first call starts the measuring
// and returns 0. Any goroutine.
func (l *Loop) Utilization() float64 {
	if !l.timed.Swap(true) {
		// A loop that is asleep has not noted when that began: make it look up.
		l.notify(pending)
		return 0
	}
	return l.load.share(clock(), l)
}

// load is how long the loop has slept.
type load struct {
	sleepsSince atomic.Int64 // 0: awake
	slept       atomic.Int64
	// Under the loop's mutex: two moments, the older one at least a window ago.
	older, newer moment
}

type moment struct{ at, slept int64 }

const window = int64(250 * time.Millisecond)

func init() {
	inner.Closed = func(loop any) bool { return loop.(*Loop).closed.Load() }
	inner.Slept = func(loop any) time.Duration { return time.Duration(loop.(*Loop).load.slept.Load()) }
}

func (d *load) sleeps(now int64) { d.sleepsSince.Store(now) }

func (d *load) wakes(now int64) {
	if since := d.sleepsSince.Swap(0); since != 0 {
		d.slept.Add(now - since)
	}
}

func (d *load) share(now int64, l *Loop) float64 {
	slept := d.slept.Load()
	if since := d.sleepsSince.Load(); since != 0 {
		slept += now - since
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now-d.newer.at >= window {
		d.older, d.newer = d.newer, moment{now, slept}
		if d.older.at == 0 {
			d.older = d.newer
		}
	}
	passed := now - d.older.at
	if passed <= 0 {
		return 0
	}
	return min(1, max(0, 1-float64(slept-d.older.slept)/float64(passed)))
}
