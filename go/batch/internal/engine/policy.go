package engine

import (
	"math"
	"time"
)

// A policy says how long the open batch may be held. It is a pure function: no clock, no queue, no loop; what it knows
// are [Signals], and what it remembers is handed back to it. fixed holds for MaxDelay, adaptive only while the loop is
// busy, more is expected, and holding has been measured to pay. Under Direct nobody asks.
//
// The estimators behind the signals are sums over time that keep no events: the rate of a type (an exponentially
// weighted mean), the gain of holding (the last 16 holds), the utilization of a loop (slices of 25 ms). The advisor of
// each queue owns those of rate and gain, and keeps them only while they matter, under Adaptive with a MaxDelay; the
// host owns the utilization.

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

// policy answers how long a batch may be held from the push of its oldest event, 0 to MaxDelay.
type policy func(signals Signals, o *Options, state PolicyState, now time.Duration) (time.Duration, PolicyState)

var policies = [...]policy{Adaptive: adaptive, Fixed: fixed, Direct: nil}

// fixed holds a batch until it is full or MaxDelay has passed since its oldest event: a predictable cadence.
func fixed(_ Signals, o *Options, state PolicyState, _ time.Duration) (time.Duration, PolicyState) {
	return o.MaxDelay, state
}

const (
	// Below busyFrom the loop has time to spare, and a hold only adds latency; from busyFull on a hold is MaxDelay.
	busyFrom, busyFull = 0.6, 0.9
	// Fewer expected or gained events a batch than worthwhile, and a hold costs more than it saves.
	worthwhile                   = 0.5
	firstBackoff, longestBackoff = time.Second, time.Minute
)

// adaptive holds a batch only when the loop is busy, more is expected for a destination of the batch, and the user
// allowed a delay. It measures what holding gains, and switches it off, with exponential back-off, if that is 0.
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
	if !(signals.Utilization >= busyFrom && signals.Rate*milliseconds(o.MaxDelay) >= worthwhile) {
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

// ---- estimators

const halfLife = 100 * time.Millisecond

// rate is how many events a type gets per ms: an exponentially weighted mean with a half-life of 100 ms. An event adds
// ln 2 / 100 and loses half of that every 100 ms, so a steady stream of r events per ms settles at r.
type rate struct {
	value float64
	at    time.Duration
}

// read is the rate decayed to now.
func (r *rate) read(now time.Duration) float64 {
	if r.value == 0 {
		return 0
	}
	return r.value * math.Exp2(-float64(now-r.at)/float64(halfLife))
}

// fold adds events that were pushed since the last update.
func (r *rate) fold(events int, now time.Duration) {
	r.value = r.read(now) + float64(events)*math.Ln2/milliseconds(halfLife)
	r.at = now
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

const holdsOnRecord = 16

// gain is what holding brought: over the last 16 holds, how many more events the batch had than when the hold began.
type gain struct {
	extra       [holdsOnRecord]int
	next, holds int
}

func (g *gain) record(extra int) {
	g.extra[g.next] = extra
	g.next = (g.next + 1) % holdsOnRecord
	g.holds = min(g.holds+1, holdsOnRecord)
}

// read is the mean of extra events a batch; 0 without a record.
func (g *gain) read() float64 {
	if g.holds == 0 {
		return 0
	}
	sum := 0
	for _, extra := range g.extra[:g.holds] {
		sum += extra
	}
	return float64(sum) / float64(g.holds)
}

const (
	sliceTime  = 25 * time.Millisecond
	sliceCount = 10
)

// Utilization is the busy share of a loop over about 250 ms: ten slices of 25 ms, the current one included. The caller
// says which spans of time were how busy. Slices instead of a list of spans, so that memory and cost do not grow with
// turns.
type Utilization struct {
	busy [sliceCount]time.Duration
	// Number of the newest slice that was written: it and the nine before it are valid.
	newest int64
	start  time.Duration
}

// NewUtilization observes a loop from `start` on, which is not negative.
func NewUtilization(start time.Duration) Utilization {
	return Utilization{start: start, newest: int64(start / sliceTime)}
}

// Observe notes that the loop was busy for `busy` of the span, spread evenly over it. Spans must not go back in time.
func (u *Utilization) Observe(from, to, busy time.Duration) {
	if to <= from {
		return
	}
	share := min(1, float64(busy)/float64(to-from))
	last := int64(to / sliceTime)
	// Of a span longer than the window only the end still counts.
	first := max(int64(from/sliceTime), last-sliceCount+1)
	u.advance(last)
	for n := first; n <= last; n++ {
		begin, end := max(from, time.Duration(n)*sliceTime), min(to, time.Duration(n+1)*sliceTime)
		if end > begin {
			u.busy[n%sliceCount] += time.Duration(float64(end-begin) * share)
		}
	}
}

// Read is the busy share at `now`, 0 to 1.
func (u *Utilization) Read(now time.Duration) float64 {
	current := int64(now / sliceTime)
	u.advance(current)
	begin := max(u.start, time.Duration(current-sliceCount+1)*sliceTime)
	if now <= begin {
		return 0
	}
	var busy time.Duration
	for _, part := range u.busy {
		busy += part
	}
	return min(1, float64(busy)/float64(now-begin))
}

func (u *Utilization) advance(to int64) {
	if to-u.newest >= sliceCount {
		u.busy = [sliceCount]time.Duration{}
	} else {
		for n := u.newest + 1; n <= to; n++ {
			u.busy[n%sliceCount] = 0
		}
	}
	u.newest = max(u.newest, to)
}

// ---- the advisor

// advisor is what a queue knows that its policy needs: the rates of its types, and what holding has brought. It keeps
// these only while they matter, under Adaptive with a MaxDelay, and asks the policy.
type advisor[T any] struct {
	policy     policy
	state      PolicyState
	gain       gain
	firstFresh *Type[T] // types pushed since the last dispatch point
	estimating bool     // whether rates and gains matter
	given      Signals  // in place of the estimates, for tests and replays; NaN: the engine's own
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
		for _, t := range e.queue.queued {
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
