package engine

import "time"

// fixed holds a batch until it is full or MaxDelay has passed since its oldest event: a predictable cadence.
func fixed(_ Signals, o *Options, state PolicyState, _ time.Duration) (time.Duration, PolicyState) {
	return o.MaxDelay, state
}
