package engine

import (
	"math"
	"time"
)

// This file says how long the open batch may be held. Fixed holds for MaxDelay. Adaptive holds where that has been
// measured to pay: the law of costs (leastCostHold) proposes a hold, and a comparison with not holding disposes. Under
// Direct nobody asks.
//
// A hold of h ms spreads what a batch costs beside its events over the 1 + rate h events that a destination gets
// meanwhile, and its own cost over all events of the batch; it delays each of them by h ms. MinSaving is the price of that
// delay: the share of a core that each ms has to save. The busier the loop, the lower the price, because a saturated loop
// loses more time to queueing than a hold takes. Cost and price together have one minimum, the square-root law of lot
// sizes.
//
// The law can be wrong: costs may hide elsewhere, and senders that wait for an answer only slow down. So windows of time
// with and without holding are compared by the busy time of the loop per event, and by how fast events are pushed. Where
// holding saves nothing it is switched off, and tried again after a back-off.
//
// A batch that is not held may be large all the same, when events come faster than they are handled. MaxBatchTime then
// bounds it (timeLimit), unless that makes its events dearer. A held batch is large because that pays.
//
// The estimators behind it are sums over time that keep no events and own no clock: rates, costs, and the utilization of
// a loop. All but the last belong to the advisor of a queue, which keeps them only while they matter: under Adaptive,
// with a MaxDelay. The utilization is the host's.

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
}

var unknown = Signals{
	math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(),
}

// with takes those of the signals that are given, and those of its own for the others.
func (s Signals) with(own Signals) Signals {
	return Signals{
		given(s.Utilization, own.Utilization), given(s.Rate, own.Rate), given(s.Total, own.Total),
		given(s.BatchCost, own.BatchCost), given(s.EventCost, own.EventCost), given(s.HoldCost, own.HoldCost),
		given(s.Saving, own.Saving), given(s.Slowdown, own.Slowdown),
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
	spread := s.Total*s.BatchCost + s.Rate*s.HoldCost
	hold := milliseconds(o.MaxDelay)
	if price != 0 {
		hold = min(hold, (math.Sqrt(s.Rate*spread/price)-1)/s.Rate)
	}
	used := s.Total*s.BatchCost/(1+s.Rate*hold) + s.Total*s.HoldCost/(1+s.Total*hold)
	if !(hold > 0 && used+price*hold < s.Total*s.BatchCost) {
		return 0, belowThePrice
	}
	// Not less than the clock can tell.
	return max(1, duration(hold)), holding
}

// ---- comparison: windows that hold, and windows that do not

const (
	// A window lasts for the shortest time, or where batches are held for so many MaxDelays within these bounds, and until
	// so many events have left.
	shortestWindow, longestWindow = 50 * time.Millisecond, time.Second
	windowDelays                  = 4
	windowEvents                  = 8
	// It is measured from the second asking on to which so much of the last one's events left; after so many, in any case.
	settled, mostSettling = 0.9, 8
	// The first windows alternate. After them one does not hold, this far on, and then each time twice as far.
	trialWindows                = 4
	firstDistance, mostDistance = 8, 128
	// With a smaller saving, or a greater fall of the rate, holding is switched off; a fall of so many standard deviations
	// is more than chance.
	leastSaving, mostSlowdown = 0.02, 0.05
	chance                    = 4
)

// windows of one kind, added up; times are in ms.
type windows struct {
	count                    int
	time, busy, left, pushed float64
}

func (w *windows) add(from, to tally) {
	w.count++
	w.time += milliseconds(to.time - from.time)
	w.busy += milliseconds(to.busy - from.busy)
	w.left += float64(to.left - from.left)
	w.pushed += float64(to.pushed - from.pushed)
}

func (w *windows) halve() {
	w.time, w.busy, w.left, w.pushed = w.time/2, w.busy/2, w.left/2, w.pushed/2
}

// tally is a time, for how long the loop has been busy until then, and how many events have left and been pushed.
type tally struct {
	time, busy   time.Duration
	left, pushed uint64
}

// comparison compares holding with not holding. It is asked each time the law has a hold, and says whether that counts.
// One window follows the other, each from the asking that ends the one before it to the first that finds it long enough.
// The law's own 0 throws a window away, with its number, so that a load at which the law changes its mind often does not
// stay in a window without holding for good.
//
// A window is measured once its batches have settled. Near saturation a large batch makes the next ones large: without
// that a window that does not hold would look as cheap as the held one before it.
type comparison struct {
	held, plain windows
	number      int  // of the window
	nextPlain   int  // number of the next window after the trial that does not hold
	distance    int  // from that to the one after it
	askings     int  // in the window, until it is measured
	measured    bool // from start on
	start       tally
	// Events that had left at the last asking, and since the one before it.
	lastLeft, lastSize uint64
	// Holding is switched off, for this reason.
	off    backoff
	reason string
	// The share of the busy time per event that holding was last found to save, and by which the rate falls; NaN: not known.
	saving, slowdown float64
}

func newComparison() comparison {
	return comparison{
		nextPlain: firstDistance, distance: firstDistance, off: backoff{next: firstBackoff},
		saving: math.NaN(), slowdown: math.NaN(),
	}
}

// throwAway: nothing is to be compared at present.
func (c *comparison) throwAway() {
	if c.askings > 0 {
		c.next()
	}
}

func (c *comparison) next() {
	c.askings, c.measured = 0, false
	if c.number == c.nextPlain {
		c.nextPlain += c.distance
	}
	c.number++
}

// ask says why the hold of the law does not count, or that it does.
func (c *comparison) ask(now tally, maxDelay time.Duration) string {
	if now.time < c.off.until {
		return c.reason
	}
	if c.measured && now.time < c.start.time {
		c.throwAway()
	}
	before := c.lastSize
	c.lastLeft, c.lastSize = now.left, now.left-c.lastLeft
	if c.measured {
		if !c.look(now, maxDelay) {
			return c.reason
		}
	} else if c.askings++; c.askings > mostSettling || c.askings > 1 && float64(c.lastSize) >= settled*float64(before) {
		c.measured, c.start = true, now
	}
	if !c.holds() {
		return inPlainWindow
	}
	return holding
}

// askGiven is the same with a saving and a slowdown that are given; NaN: not known.
func (c *comparison) askGiven(now time.Duration, saving, slowdown float64) string {
	if now >= c.off.until {
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
	return c.number != c.nextPlain
}

// look ends the window if it has been measured for long enough, and tells whether holding goes on.
func (c *comparison) look(now tally, maxDelay time.Duration) bool {
	held, lasts := c.holds(), shortestWindow
	if held {
		lasts = min(longestWindow, max(shortestWindow, windowDelays*maxDelay))
	}
	switch passed := now.time - c.start.time; {
	case passed >= lasts && now.left-c.start.left >= windowEvents:
		return c.end(now)
	case held && c.number < trialWindows && passed >= shortestWindow:
		// Senders that wait for what is held are not to wait for the end of the window.
		sum := c.held
		sum.add(c.start, now)
		if slowdown, _ := c.fall(&sum); slowdown > mostSlowdown {
			c.slowdown = slowdown
			return c.verdict(now.time, math.NaN(), slowdown, false)
		}
	}
	return true
}

// end adds the window to those of its kind, and tells whether holding goes on.
func (c *comparison) end(now tally) bool {
	held, plain := &c.held, &c.plain
	isHeld := c.holds()
	if isHeld {
		held.add(c.start, now)
	} else {
		// Old windows count less and less.
		held.halve()
		plain.halve()
		plain.add(c.start, now)
	}
	if held.count > 0 && plain.count > 0 {
		c.saving = math.NaN()
		// A clock that measures nothing is no evidence.
		if plain.busy > 0 {
			c.saving = 1 - held.busy/held.left/(plain.busy/plain.left)
		}
		var fall float64
		c.slowdown, fall = c.fall(held)
		isSure := min(held.count, plain.count) > 1
		if !c.verdict(now.time, c.saving-fall, c.slowdown, isSure) {
			return false
		}
		if isSure && !isHeld {
			c.distance = min(2*c.distance, mostDistance)
		}
	}
	c.next()
	return true
}

// fall is the share by which fewer events are pushed while batches are held: where it is more than chance, and otherwise
// 0; and what of it is more than one standard deviation. What is pushed counts, since a window that holds ends with
// events under way.
func (c *comparison) fall(held *windows) (sure, likely float64) {
	if !(c.plain.pushed > 0) {
		return 0, 0
	}
	before, after := c.plain.pushed/c.plain.time, held.pushed/held.time
	fall, deviation := before-after, math.Sqrt(before/c.plain.time+after/held.time)
	if fall > chance*deviation {
		sure = fall / before
	}
	return sure, max(0, (fall-deviation)/before)
}

// verdict tells whether holding goes on. isSure: the saving comes from enough windows to be judged.
func (c *comparison) verdict(now time.Duration, saving, slowdown float64, isSure bool) bool {
	slows := slowdown > mostSlowdown
	if !slows && !(isSure && saving < leastSaving) {
		if isSure {
			c.off.next = firstBackoff
		}
		return true
	}
	if slows {
		// Senders that wait for an answer go on doing so.
		c.off.begin(now, 4)
		c.reason = slowsItsSenders
	} else {
		c.off.begin(now, 2)
		c.reason = noSaving
	}
	c.held, c.plain = windows{}, windows{}
	c.askings, c.measured = 0, false
	c.number, c.nextPlain, c.distance = 0, firstDistance, firstDistance
	return false
}

const firstBackoff, longestBackoff = time.Second, time.Minute

// backoff is until when something is off, and for how long it is off the next time.
type backoff struct{ until, next time.Duration }

// begin: off from now on, and the next time so many times as long.
func (b *backoff) begin(now, times time.Duration) {
	b.until, b.next = now+b.next, min(times*b.next, longestBackoff)
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

// ---- the limit by time

const (
	// A smaller batch says little about the time of its events.
	timedEvents = 8
	// The limit is set by so many batches in a row that took too long, and has proved good when so many have met it.
	overTime, provenGood = 2, 4
	// Events that take so much longer than without the limit have become dearer by it.
	dearer = 1.1
)

// timeLimit limits the events of a batch that is not held, by the time that such batches take. What a batch costs
// beside its events is spent for fewer of them then, so a limit that makes events dearer is lifted again: a queue that
// can hardly keep up would be the last to bear it.
type timeLimit struct {
	limit  int     // 0: none
	over   int     // batches in a row that took too long
	before float64 // ms per event when the limit was set
	met    int     // batches that met the limit since
	off    backoff // there is no limit
}

// sample is told of a batch that was not held, and done now. d and most are ms.
func (l *timeLimit) sample(n int, d float64, now time.Duration, most float64, maxBatch int) {
	if now < l.off.until || n < timedEvents && n != l.limit {
		return
	}
	fit := func() { l.limit = max(1, int(float64(n)*most/d)) }
	switch perEvent := d / float64(n); {
	case l.limit == 0 && d <= most:
		l.over = 0
	case l.limit == 0:
		if l.over++; l.over == overTime {
			l.over, l.met, l.before = 0, 0, perEvent
			fit()
		}
	case n != l.limit:
	case perEvent > dearer*l.before:
		l.limit = 0
		l.off.begin(now, 2)
	default:
		if l.met++; l.met == provenGood {
			l.off.next = firstBackoff
		}
		if d > most {
			fit()
		} else if d < most/2 {
			if l.limit *= 2; l.limit >= maxBatch {
				l.limit = 0
			}
		}
	}
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
	// Hold of the last batch about which the policy was asked, and why it was not held.
	chosen time.Duration
	why    string

	estimating bool     // whether rates and costs matter
	timing     bool     // whether the time of a batch does
	firstFresh *Type[T] // types pushed since the last dispatch point
	rate       float64  // the highest among those that the last dispatch point found
	total      rate
	left       uint64 // events that have left
	nextSample int    // number of the next batch that is a sample, and of how many types events were pushed for it
	types      int
	costs      costs
	byTime     timeLimit
	limit      int     // events that a batch can hold that is not held
	given      Signals // in place of the estimates, for tests and replays; NaN: the engine's own
}

func newAdvisor[T any](o *Options) advisor[T] {
	return advisor[T]{
		options: o, comparison: newComparison(), why: notAsked, nextSample: 1, costs: costs{share: 1},
		byTime: timeLimit{off: backoff{next: firstBackoff}}, given: unknown,
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

func (a *advisor[T]) setLimit() {
	a.limit = a.options.MaxBatch
	if a.timing && a.byTime.limit > 0 {
		a.limit = min(a.limit, a.byTime.limit)
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

// Sample is what a batch counts for that leaves at a dispatch point: so many types, for the costs; and whether it counts
// for the limit by time. Zero: what it takes does not matter.
type Sample struct {
	types int
	timed bool
}

// compares tells whether the batch about which the policy was asked last leaves in a window that does not hold.
func (a *advisor[T]) compares() bool { return a.estimating && a.why == inPlainWindow }

func (a *advisor[T]) sample(events int, limits bool) (s Sample) {
	if a.estimating {
		s.types = max(1, a.types)
		a.types = 0
		a.nextSample++
	}
	s.timed = a.timing && limits && (events >= timedEvents || events == a.byTime.limit)
	return s
}

// spent: handing such a batch to its handlers took this long.
func (a *advisor[T]) spent(s Sample, events int, took, now time.Duration) {
	if a.estimating && s.types > 0 {
		a.costs.sample(s.types, events, took, now)
	}
	if a.timing && s.timed {
		a.byTime.sample(events, milliseconds(took), now, milliseconds(a.options.MaxBatchTime), a.options.MaxBatch)
		a.setLimit()
	}
}

// hold is how long the open batch may be held from the push of its oldest event.
func (a *advisor[T]) hold(host Host, now time.Duration, pushed uint64) time.Duration {
	switch o := a.options; {
	case o.MaxDelay == 0:
		// Nothing to ask: the common case costs no estimate.
		return 0
	case o.Policy == Fixed:
		a.chosen, a.why = o.MaxDelay, holding
	default:
		a.chosen, a.why = a.adaptive(host, now, pushed)
	}
	return a.chosen
}

func (a *advisor[T]) adaptive(host Host, now time.Duration, pushed uint64) (time.Duration, string) {
	s := a.given.with(a.estimate(host, nil, now))
	// A signal given in its place is in it already.
	s.Rate = a.rate
	hold, why := leastCostHold(&s, a.options)
	switch saving, slowdown := a.given.Saving, a.given.Slowdown; {
	case hold == 0 || a.options.Hold == Always:
		a.comparison.throwAway()
	case !math.IsNaN(saving) || !math.IsNaN(slowdown):
		why = a.comparison.askGiven(now, saving, slowdown)
	default:
		why = a.comparison.ask(tally{now, host.Busy(now), a.left, pushed}, a.options.MaxDelay)
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
		Saving: a.comparison.saving, Slowdown: a.comparison.slowdown,
	}
	if a.estimating {
		s.Utilization = host.Utilization(now)
	}
	if t != nil {
		s.Rate = t.rate.read(now)
	}
	return s
}
