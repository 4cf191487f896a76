package engine

import "time"

// Signals are what the engine knows about the loop and the destinations of the open batch.
type Signals struct {
	// Utilization is the busy share of the loop, 0 to 1.
	Utilization float64
	// Rate is the highest among the queued types, in events per ms.
	Rate float64
	// Gain is how many more events a batch got from being held, on average over the holds on record, of which there are
	// Holds: 0 to 16.
	Gain, Holds float64
}

// PolicyState is what a policy remembers between two questions.
type PolicyState struct {
	// Until OffUntil holding is switched off; Backoff is for how long the next time.
	OffUntil, Backoff time.Duration
}

var initialState = PolicyState{Backoff: firstBackoff}

// policy is a pure function: no clock, no queue, no loop. It answers how long a batch may be held from the push of its
// oldest event, 0 to MaxDelay.
type policy func(signals Signals, o *Options, state PolicyState, now time.Duration) (time.Duration, PolicyState)

var policies = [...]policy{Adaptive: adaptive, Fixed: fixed, Direct: direct}
