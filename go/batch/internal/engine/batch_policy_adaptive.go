package engine

import (
	"math"
	"time"
)

const (
	// Below busyFrom the loop has time to spare, and a hold only adds latency; from busyFull on all of MaxDelay is
	// used.
	busyFrom, busyFull = 0.6, 0.9
	// Fewer expected or gained events a batch than worthwhile, and a hold costs more than it saves.
	worthwhile                   = 0.5
	firstBackoff, longestBackoff = time.Second, time.Minute
)

// adaptive holds a batch only when the loop is busy, more is expected for a destination of the batch, and the user
// allowed a delay. It watches what holding brings and switches it off, with exponential back-off, when it brings
// nothing.
func adaptive(signals Signals, o *Options, state PolicyState, now time.Duration) (time.Duration, PolicyState) {
	if o.MaxDelay == 0 {
		return 0, state
	}
	if o.Hold == Tuned {
		state = tune(signals, state, now)
		if now < state.OffUntil {
			return 0, state
		}
	}
	// Written so that a signal that is not a number holds nothing.
	busy := signals.Utilization >= busyFrom && signals.Rate*milliseconds(o.MaxDelay) >= worthwhile
	if !busy {
		return 0, state
	}
	share := min(1, (signals.Utilization-busyFrom)/(busyFull-busyFrom))
	return time.Duration(math.Round(float64(o.MaxDelay) * share)), state
}

func tune(signals Signals, state PolicyState, now time.Duration) PolicyState {
	if now < state.OffUntil || signals.Holds < holdsOnRecord {
		return state
	}
	if signals.Gain >= worthwhile {
		state.Backoff = firstBackoff
		return state
	}
	return PolicyState{OffUntil: now + state.Backoff, Backoff: min(2*state.Backoff, longestBackoff)}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
