package engine

import (
	"math"
	"time"
)

// advisor is what a queue knows that its policy needs: the rates of its types, and what holding has brought. It keeps
// these only while they matter, under Adaptive with a MaxDelay, and asks the policy.
type advisor[T any] struct {
	policy policy
	state  PolicyState
	gain   gain
	// Types pushed since the last dispatch point.
	firstFresh *Type[T]
	// Whether rates and gains matter.
	estimating bool
	// Signals in place of the estimates, for tests and replays; NaN: the engine's own.
	given Signals
}

func (a *advisor[T]) init() {
	a.state = initialState
	a.given = Signals{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
}

func (a *advisor[T]) configure(o *Options) {
	a.policy = policies[o.Policy]
	a.estimating = o.Policy == Adaptive && o.MaxDelay > 0
}

// pushed: an event of the type was pushed; no arithmetic yet.
func (a *advisor[T]) pushed(t *Type[T]) {
	if t.fresh == 0 {
		t.nextFresh = a.firstFresh
		a.firstFresh = t
	}
	t.fresh++
}

// fold brings the rates up to date at a dispatch point.
func (a *advisor[T]) fold(now time.Duration) {
	for t := a.firstFresh; t != nil; {
		next := t.nextFresh
		t.rate.fold(t.fresh, now)
		t.fresh, t.nextFresh = 0, nil
		t = next
	}
	a.firstFresh = nil
}

// held: a held batch has left, with this many more events than when its hold began.
func (a *advisor[T]) held(extra int) {
	if a.estimating {
		a.gain.record(extra)
	}
}

// hold is how long the open batch may be held from the push of its oldest event.
func (a *advisor[T]) hold(e *Engine[T], now time.Duration) time.Duration {
	// Without a delay there is nothing to ask: the common case costs no estimate.
	if e.options.MaxDelay == 0 {
		return 0
	}
	own := a.estimate(e.host, nil, now)
	signals := Signals{
		Utilization: given(a.given.Utilization, own.Utilization),
		Gain:        given(a.given.Gain, own.Gain),
		Holds:       given(a.given.Holds, own.Holds),
	}
	if a.estimating {
		for t := e.queue.queued.first; t != nil; t = t.next[queuing] {
			signals.Rate = max(signals.Rate, given(t.givenRate, given(a.given.Rate, t.rate.read(now))))
		}
	}
	hold, state := a.policy(signals, &e.options, a.state, now)
	if state.OffUntil != a.state.OffUntil {
		a.gain = gain{}
	}
	a.state = state
	return hold
}

func given(value, own float64) float64 {
	if math.IsNaN(value) {
		return own
	}
	return value
}

// estimate is the engine's own view; the rate is that of a type, which may be nil.
func (a *advisor[T]) estimate(host Host, t *Type[T], now time.Duration) Signals {
	s := Signals{Gain: a.gain.read(), Holds: float64(a.gain.holds)}
	if a.estimating {
		s.Utilization = host.Utilization(now)
	}
	if t != nil {
		s.Rate = t.rate.read(now)
	}
	return s
}
