package engine

import "time"

// direct does not batch: each event is a batch of its own. The control arm of a measurement, and a kill switch.
func direct(_ Signals, _ *Options, state PolicyState, _ time.Duration) (time.Duration, PolicyState) {
	return 0, state
}
