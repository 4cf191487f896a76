package engine

import (
	"math"
	"slices"
	"time"
)

// This file says how long the open batch may be held. Fixed holds for MaxDelay. Adaptive holds where that has been
// measured to pay: the law of costs (leastCostHold) proposes a hold, and a comparison with not holding disposes. Under
// Direct nobody asks.
//
// A hold of h ms spreads what a batch costs beside its events over the 1 + rate h events that a destination gets
// meanwhile, and delays each of them by h ms. MinSaving is the price of that delay: the share of a core that each ms has
// to save. The busier the loop, the lower the price, because a saturated loop loses more time to queueing than a hold
// takes. Cost and price together have one minimum, the square-root law of lot sizes.
//
// The law can be wrong: costs may hide elsewhere, and senders that wait for an answer only slow down. So windows of time
// with and without holding are compared by the busy time of the loop per event, and by the rate of events. Where holding
// saves nothing it is switched off, and tried again after a back-off.
//
// The estimators behind it are sums over time that keep no events and own no clock: rates, costs, the time of an event,
// and the utilization of a loop. All but the last belong to the advisor of a queue, which keeps them only while they
// matter: under Adaptive, with a MaxDelay or a MaxBatchTime. The utilization is the host's.

// Signals are what the engine knows about the loop and its events. NaN: not known.
type Signals struct {
	// Utilization is the busy share of the loop, 0 to 1.
	Utilization float64
	// Rate is the highest among the types that the dispatch point found pushed, and Total that of all types together, in
	// events per ms.
	Rate, Total float64
	// BatchCost is what a batch costs for each of its types beside its events, EventCost what each event adds, HoldCost
	// what a hold adds, in ms.
	BatchCost, EventCost, HoldCost float64
	// Saving is the share of the loop's time per event that holding saves, Slowdown the share of the rate that is lost
	// while batches are held.
	Saving, Slowdown float64
	// EventTime is for how long an event keeps the loop, in ms.
	EventTime float64
}

var unknown = Signals{
	math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(),
}

// with takes those of the signals that are given, and those of its own for the others.
func (s Signals) with(own Signals) Signals {
	return Signals{
		given(s.Utilization, own.Utilization), given(s.Rate, own.Rate), given(s.Total, own.Total),
		given(s.BatchCost, own.BatchCost), given(s.EventCost, own.EventCost), given(s.HoldCost, own.HoldCost),
		given(s.Saving, own.Saving), given(s.Slowdown, own.Slowdown), given(s.EventTime, own.EventTime),
	}
}

func given(value, own float64) float64 {
	if math.IsNaN(value) {
		return own
	}
	return value
}

// Reasons why no batch is held at present.
const (
	holding         = ""
	noDelay         = "no delay allowed"
	notAsked        = "not asked yet"
	nothingToSave   = "nothing to save"
	belowThePrice   = "saving is below the price"
	inPlainWindow   = "comparison window"
	noSaving        = "no saving measured"
	slowsItsSenders = "slows its senders down"
)

// ---- the law of costs

// leastCostHold is the hold, from the push of the oldest event on, that makes delay and busy time together cheapest: 0 to
// MaxDelay, and why it is 0. A pure function, written so that a signal that is not a number holds nothing.
func leastCostHold(s *Signals, o *Options) (time.Duration, string) {
	if !(o.MaxDelay > 0 && s.Rate > 0 && s.Total > 0 && s.BatchCost > 0) {
		return 0, nothingToSave
	}
	price := o.MinSaving * (1 - s.Utilization) * (1 - s.Utilization)
	cost := s.BatchCost + s.HoldCost
	hold := milliseconds(o.MaxDelay)
	if price != 0 {
		hold = min(hold, (math.Sqrt(s.Total*s.Rate*cost/price)-1)/s.Rate)
	}
	if !(hold > 0 && s.Total*cost/(1+s.Rate*hold)+price*hold < s.Total*s.BatchCost) {
		return 0, belowThePrice
	}
	// Not less than the clock can tell.
	return max(1, duration(hold)), holding
}

// ---- comparison: windows that hold, and windows that do not

const (
	// A window lasts for so many MaxDelays, within these bounds, and until so many events have left.
	shortestWindow, longestWindow = 50 * time.Millisecond, time.Second
	windowDelays                  = 4
	windowEvents                  = 8
	// The first windows alternate; afterwards one in so many does not hold.
	trialWindows = 4
	plainEach    = 16
	// With a smaller saving, or a greater fall of the rate, holding is switched off; a fall of so many standard deviations
	// is more than chance.
	leastSaving, mostSlowdown    = 0.02, 0.05
	chance                       = 3
	firstBackoff, longestBackoff = time.Second, time.Minute
)

// windows of one kind, added up; times are in ms.
type windows struct {
	count              int
	time, busy, events float64
}

func (w *windows) add(from, to tally) {
	w.count++
	w.time += milliseconds(to.time - from.time)
	w.busy += milliseconds(to.busy - from.busy)
	w.events += float64(to.left - from.left)
}

func (w *windows) halve() { w.time, w.busy, w.events = w.time/2, w.busy/2, w.events/2 }

// tally is a time, for how long the loop has been busy until then, and how many events have left.
type tally struct {
	time, busy time.Duration
	left       uint64
}

// comparison compares holding with not holding. It is asked each time the law has a hold, and says whether that counts. A
// window is under way from one such question to the first that finds it long enough. The law's own 0 throws a window
// away, with its number, so that a load at which the law changes its mind often does not stay in a window without holding
// for good.
type comparison struct {
	held, plain windows
	number      int // of the window that is under way, or of the next one
	underWay    bool
	start       tally
	// Until offUntil holding is switched off, for this reason, and the next time for backoff.
	offUntil, backoff time.Duration
	reason            string
	// The share of the busy time per event that holding was last found to save, and by which the rate falls; NaN: not known.
	saving, slowdown float64
}

func newComparison() comparison {
	return comparison{backoff: firstBackoff, saving: math.NaN(), slowdown: math.NaN()}
}

// throwAway: nothing is to be compared at present.
func (c *comparison) throwAway() {
	if c.underWay {
		c.underWay = false
		c.number++
	}
}

// ask says why the hold of the law does not count, or that it does.
func (c *comparison) ask(now tally, maxDelay time.Duration) string {
	if now.time < c.offUntil {
		return c.reason
	}
	if c.underWay {
		lasts := min(longestWindow, max(shortestWindow, windowDelays*maxDelay))
		switch passed := now.time - c.start.time; {
		case passed < 0:
			c.throwAway()
		case passed >= lasts && now.left-c.start.left >= windowEvents:
			c.end(now)
			if !c.judge(now.time) {
				return c.reason
			}
		}
	}
	if !c.underWay {
		c.underWay, c.start = true, now
	}
	if !c.holds() {
		return inPlainWindow
	}
	return holding
}

// askGiven is the same with a saving and a slowdown that are given; NaN: not known.
func (c *comparison) askGiven(now time.Duration, saving, slowdown float64) string {
	if now >= c.offUntil {
		c.throwAway()
		if c.verdict(now, saving, slowdown, true) {
			return holding
		}
	}
	return c.reason
}

// holds tells whether batches are held in the window.
func (c *comparison) holds() bool {
	if c.number < trialWindows {
		return c.number%2 == 1
	}
	return c.number%plainEach != 0
}

func (c *comparison) end(now tally) {
	if c.holds() {
		c.held.add(c.start, now)
	} else {
		// What is old counts less and less.
		c.held.halve()
		c.plain.halve()
		c.plain.add(c.start, now)
	}
	c.underWay = false
	c.number++
}

func (c *comparison) judge(now time.Duration) bool {
	held, plain := &c.held, &c.plain
	if held.count == 0 || plain.count == 0 {
		return true
	}
	c.saving, c.slowdown = math.NaN(), 0
	// A clock that measures nothing is no evidence.
	if plain.busy > 0 {
		c.saving = 1 - held.busy/held.events/(plain.busy/plain.events)
	}
	before, after := plain.events/plain.time, held.events/held.time
	if before-after > chance*math.Sqrt(before/plain.time+after/held.time) {
		c.slowdown = 1 - after/before
	}
	return c.verdict(now, c.saving, c.slowdown, min(held.count, plain.count) > 1)
}

// verdict tells whether holding goes on. sure: the saving comes from enough windows to be judged.
func (c *comparison) verdict(now time.Duration, saving, slowdown float64, sure bool) bool {
	slows := slowdown > mostSlowdown
	if !slows && !(sure && saving < leastSaving) {
		if sure {
			c.backoff = firstBackoff
		}
		return true
	}
	off := comparison{
		offUntil: now + c.backoff, backoff: min(2*c.backoff, longestBackoff), reason: noSaving,
		saving: c.saving, slowdown: c.slowdown,
	}
	if slows {
		off.reason = slowsItsSenders
	}
	*c = off
	return false
}

// ---- rates

const halfLife = 100 * time.Millisecond

// rate is how many events come per ms: an exponentially weighted mean with a half-life of 100 ms. An event adds
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
	return r.value * decay(now-r.at, halfLife)
}

// fold adds events that were pushed since the last update.
func (r *rate) fold(events int, now time.Duration) {
	r.value = r.read(now) + float64(events)*math.Ln2/milliseconds(halfLife)
	r.at = now
}

// decay is what is left of a weight after this time, which counts as 0 when it has gone back.
func decay(passed, halfLife time.Duration) float64 {
	return math.Exp2(-float64(max(0, passed)) / float64(halfLife))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func duration(ms float64) time.Duration {
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}

// ---- costs

const (
	costHalfLife = time.Second
	// Batches whose sizes differ by less tell nothing about which cost is whose.
	leastDifference = 0.001
)

// costs are what a batch costs for each of its types, and what each event adds: least squares with two parameters over
// the batches of the last seconds. As long as all batches are alike, the two cannot be told apart: they are taken for
// the batch's, so that a hold is tried, and the first held batches tell. From then on they are divided as last seen.
type costs struct {
	batch, event float64 // ms
	// Sums over the batches, of their types g, events n and times d.
	gg, gn, nn, gd, nd float64
	share              float64 // the part of the time that is the batches'
	at                 time.Duration
}

func (c *costs) sample(types, events int, took, now time.Duration) {
	keep := decay(now-c.at, costHalfLife)
	c.at = now
	g, n, d := float64(types), float64(events), milliseconds(took)
	c.gg, c.gn, c.nn = c.gg*keep+g*g, c.gn*keep+g*n, c.nn*keep+n*n
	c.gd, c.nd = c.gd*keep+g*d, c.nd*keep+n*d
	det := c.gg*c.nn - c.gn*c.gn
	if !(det > leastDifference*c.gg*c.nn) {
		c.event = (1 - c.share) * c.nd / c.nn
		c.batch = c.share * c.nd / c.gn
		return
	}
	c.batch, c.event = (c.gd*c.nn-c.nd*c.gn)/det, (c.gg*c.nd-c.gn*c.gd)/det
	if c.batch < 0 {
		c.batch, c.event = 0, c.nd/c.nn
	} else if c.event < 0 {
		c.batch, c.event = c.gd/c.gg, 0
	}
	if whole := c.batch*c.gn + c.event*c.nn; whole > 0 {
		c.share = c.batch * c.gn / whole
	}
}

// eventTime is for how long an event keeps the loop, in ms: the least of the last four batches. The least, because a
// goroutine that is preempted or collects garbage in one batch says nothing about the events.
type eventTime struct {
	last [4]float64
	n    int
}

func (t *eventTime) sample(events int, took time.Duration) {
	t.last[t.n%len(t.last)] = milliseconds(took) / float64(events)
	t.n++
}

// read is NaN as long as it is not known.
func (t *eventTime) read() float64 {
	if t.n == 0 {
		return math.NaN()
	}
	return slices.Min(t.last[:min(t.n, len(t.last))])
}

// ---- utilization

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

// advisor is what a queue knows that its policy needs, and what the policy has said.
type advisor[T any] struct {
	options    *Options
	comparison comparison
	// How long the last batch about which the policy was asked could be held, and why it was not.
	chosen time.Duration
	why    string

	estimating bool     // whether rates and costs matter
	timing     bool     // whether the time of an event does
	firstFresh *Type[T] // types pushed since the last dispatch point
	rate       float64  // the highest among those that the last dispatch point found
	total      rate
	left       uint64 // events that have left
	nextSample int    // number of the next batch that is a sample, and of how many types events were pushed for it
	types      int
	costs      costs
	eventTime  eventTime
	limit      int     // events that a batch can hold
	given      Signals // in place of the estimates, for tests and replays; NaN: the engine's own
}

func newAdvisor[T any](o *Options) advisor[T] {
	return advisor[T]{
		options: o, comparison: newComparison(), why: notAsked, nextSample: 1, costs: costs{share: 1}, given: unknown,
	}
}

// configure: the options have changed.
func (a *advisor[T]) configure() {
	o := a.options
	a.estimating = o.Policy == Adaptive && o.MaxDelay > 0
	a.timing = o.Policy == Adaptive && o.MaxBatchTime > 0
	if o.MaxDelay == 0 {
		a.chosen, a.why = 0, notAsked
	}
	a.setLimit()
}

// setLimit: a batch is no larger than what the loop can do in MaxBatchTime.
func (a *advisor[T]) setLimit() {
	a.limit = a.options.MaxBatch
	if !a.timing {
		return
	}
	fit := math.Floor(milliseconds(a.options.MaxBatchTime) / given(a.given.EventTime, a.eventTime.read()))
	if fit < float64(a.limit) {
		a.limit = max(1, int(fit))
	}
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
	if a.firstFresh == nil {
		return
	}
	a.rate = 0
	events := 0
	for t := a.firstFresh; t != nil; {
		next := t.nextFresh
		t.rate.fold(t.fresh, now)
		a.rate = max(a.rate, given(t.givenRate, given(a.given.Rate, t.rate.value)))
		if t.countedFor != a.nextSample {
			t.countedFor = a.nextSample
			a.types++
		}
		events += t.fresh
		t.fresh, t.nextFresh = 0, nil
		t = next
	}
	a.firstFresh = nil
	a.total.fold(events, now)
}

// sample is how many types a batch counts for that leaves at a dispatch point; 0: what it takes does not matter.
func (a *advisor[T]) sample(events int) (types int) {
	if a.estimating || a.timing && events > 1 {
		types = max(1, a.types)
		a.types = 0
		a.nextSample++
	}
	return types
}

// spent: handing such a batch to its handlers took this long.
func (a *advisor[T]) spent(types, events int, took, now time.Duration) {
	if a.estimating {
		a.costs.sample(types, events, took, now)
	}
	if a.timing && events > 1 {
		a.eventTime.sample(events, took)
		a.setLimit()
	}
}

// hold is how long the open batch may be held from the push of its oldest event.
func (a *advisor[T]) hold(host Host, now time.Duration) time.Duration {
	switch o := a.options; {
	case o.MaxDelay == 0:
		// Nothing to ask: the common case costs no estimate.
		a.comparison.throwAway()
		return 0
	case o.Policy == Fixed:
		a.chosen, a.why = o.MaxDelay, holding
	default:
		a.chosen, a.why = a.adaptive(host, now)
	}
	return a.chosen
}

func (a *advisor[T]) adaptive(host Host, now time.Duration) (time.Duration, string) {
	s := a.given.with(a.estimate(host, nil, now))
	// What is given in its place is in it already.
	s.Rate = a.rate
	hold, why := leastCostHold(&s, a.options)
	switch saving, slowdown := a.given.Saving, a.given.Slowdown; {
	case hold == 0 || a.options.Hold == Always:
		a.comparison.throwAway()
	case !math.IsNaN(saving) || !math.IsNaN(slowdown):
		why = a.comparison.askGiven(now, saving, slowdown)
	default:
		why = a.comparison.ask(tally{now, host.Busy(now), a.left}, a.options.MaxDelay)
	}
	if why != holding {
		hold = 0
	}
	return hold, why
}

// estimate is the engine's own view; the rate is that of a type, which may be nil.
func (a *advisor[T]) estimate(host Host, t *Type[T], now time.Duration) Signals {
	s := Signals{
		Total: a.total.read(now), BatchCost: a.costs.batch, EventCost: a.costs.event, HoldCost: milliseconds(host.HoldCost()),
		Saving: a.comparison.saving, Slowdown: a.comparison.slowdown, EventTime: a.eventTime.read(),
	}
	if a.estimating {
		s.Utilization = host.Utilization(now)
	}
	if t != nil {
		s.Rate = t.rate.read(now)
	}
	return s
}
