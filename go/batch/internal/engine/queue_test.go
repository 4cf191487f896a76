package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"millrace.dev/go"
)

// pair is an engine and a model that get the same operations.
type pair struct {
	t       *testing.T
	host    virtualHost
	lock    sync.Mutex
	engine  *Engine[string]
	d       *Dispatcher[string]
	model   model
	batches [][]string
	refs    []Ref[string]
	ids     []string
	done    []string
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, host: virtualHost{holdAt: never}}
	p.d = NewDispatcher[string](&p.lock, Hooks[string]{Batch: func(batch Batch[string]) {
		var ids []string
		for event := batch.First; event != nil; event = event.Next() {
			ids = append(ids, event.Data)
		}
		p.batches = append(p.batches, ids)
	}}, nil)
	p.lock.Lock()
	e, err := New(&p.host, p.d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.d.Attach(e)
	p.engine, p.model = e, model{options: e.Options(), maxBatch: map[string]int{}}
	return p
}

func (p *pair) set(o Options) {
	if o.Order != 0 && o.Order != p.model.options.Order {
		p.expect(p.model.turn(1<<30), func() { p.changed(o) })
	} else {
		p.changed(o)
	}
	p.model.options = p.model.options.with(o)
	p.model.options.MaxDeferral = max(0, p.model.options.MaxDeferral)
}

func (p *pair) changed(o Options) {
	if err := p.engine.Set(o); err != nil {
		p.t.Fatal(err)
	}
}

// expect does something that is to cause these batches.
func (p *pair) expect(batches [][]string, act func()) {
	p.t.Helper()
	p.batches = nil
	act()
	if fmt.Sprint(p.batches) != fmt.Sprint(batches) {
		p.t.Fatalf("after %v\nthe engine made  %v\nthe model makes  %v", p.done, p.batches, batches)
	}
}

// step does one of the operations that two numbers below 256 choose.
func (p *pair) step(what, how int) {
	p.done = append(p.done, fmt.Sprintf("%d %d", what, how))
	types := []string{"network", "chat", "signal", "work", "idle"}
	typ := types[how%len(types)]
	switch {
	case what < 150:
		e := &modelEvent{id: fmt.Sprint(len(p.ids)), typ: typ, bytes: int64(how / 16), priority: PriorityOf(typ)}
		given := OfType
		if what < 40 {
			given = Priority(how % 3)
			e.priority = given
		}
		var ref Ref[string]
		var err error
		if what%3 == 0 {
			e.key = fmt.Sprint(how / 32 % 3)
			ref, err = p.d.PushKeyed(p.engine.Queue().Type(typ), e.key, e.id, given, e.bytes)
		} else {
			ref, err = p.engine.Push(p.engine.Queue().Type(typ), e.id, given, e.bytes)
		}
		if taken := p.model.push(e); taken != (err == nil) || err != nil && !errors.Is(err, millrace.ErrOverload) {
			p.t.Fatalf("after %v: the engine says %v to an event, the model %v", p.done, err, taken)
		}
		p.ids, p.refs = append(p.ids, e.id), append(p.refs, ref)
	case what < 185:
		if len(p.ids) > 0 {
			at := max(0, len(p.ids)-1-how%20)
			if a, b := p.d.Cancel(p.refs[at]), p.model.cancel(p.ids[at]); a != b {
				p.t.Fatalf("after %v: the engine says %v to the cancel of %s, the model %v", p.done, a, p.ids[at], b)
			}
		}
	case what < 215:
		p.expect(p.model.turn(8), p.engine.Turn)
	case what < 230:
		p.host.now += time.Duration(how) * time.Millisecond / 4
		p.model.now = p.host.now
	case what < 234:
		p.expect(p.model.turn(1<<30), func() { p.engine.Flush() })
	case what < 238:
		p.engine.Queue().SetMaxBatch(p.engine.Queue().Type(typ), 1+how/32)
		p.model.maxBatch[typ] = 1 + how/32
	case what < 244:
		p.set(Options{MaxBatch: 1 + how%30})
	case what < 247:
		p.set(Options{Order: Order(1 + how%2)})
	case what < 250:
		p.set(Options{MaxQueue: 1 + how%40, MaxQueueBytes: 100 + int64(how)})
	default:
		p.set(Options{MaxDeferral: cmp.Or(time.Duration(how)*time.Millisecond/4, None)})
	}
	p.check()
}

func (p *pair) check() {
	p.t.Helper()
	stats := p.engine.Stats()
	var depth millrace.ByPriority[int]
	var bytes int64
	for _, e := range p.model.queue {
		*map[Priority]*int{High: &depth.High, Normal: &depth.Normal, Low: &depth.Low}[e.priority]++
		bytes += e.bytes
	}
	if stats.QueueDepth != depth || stats.QueueBytes != bytes || p.engine.Count() != len(p.model.queue) ||
		stats.RefusedTotal.Overloaded != uint64(p.model.refused) || stats.SupersededTotal != uint64(p.model.superseded) {
		p.t.Fatalf("after %v: %+v; the model has %v, %d bytes, %d refused, %d superseded",
			p.done, stats, depth, bytes, p.model.refused, p.model.superseded)
	}
}

func (p *pair) end() {
	p.expect(p.model.turn(1<<30), func() { p.engine.Close(false) })
}

// TestAgainstTheModel gives both the same random operations.
func TestAgainstTheModel(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		p := newPair(t)
		for range 400 {
			p.step(random.IntN(256), random.IntN(256))
		}
		p.end()
	}
}

// FuzzQueue is the same with operations that the fuzzer chooses.
func FuzzQueue(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		seed := make([]byte, 200)
		for i := range seed {
			seed[i] = byte(random.IntN(256))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, operations []byte) {
		p := newPair(t)
		for len(operations) >= 2 {
			p.step(int(operations[0]), int(operations[1]))
			operations = operations[2:]
		}
		p.end()
	})
}

func TestTypesMadeUpAsItRunsAreForgotten(t *testing.T) {
	p := newPair(t)
	p.engine.Queue().Type("kept").Pinned = true
	p.d.Add("heard", One(func(string) {}, false))
	var lost Ref[string]
	for n := range 4 * fewTypes {
		ref, err := p.engine.Push(p.engine.Queue().Type(fmt.Sprint(n)), "x", OfType, 0)
		if err != nil {
			t.Fatal(err)
		}
		lost = ref
		p.engine.Turn()
	}
	if n := len(p.engine.Queue().types); n > 2*fewTypes {
		t.Errorf("%d types are remembered", n)
	}
	for _, name := range []string{"kept", "heard"} {
		if p.engine.queue.types[name] == nil {
			t.Errorf("%q was forgotten", name)
		}
	}
	if p.d.Cancel(lost) {
		t.Error("an event that has left was cancelled")
	}
}

// TestAForgottenTypeIsFoundAgain: a type that is forgotten while its last event is on its way, and made anew by a
// handler of that batch.
func TestAForgottenTypeIsFoundAgain(t *testing.T) {
	p := newPair(t)
	got := ""
	p.d.Add("first", One(func(string) {
		p.lock.Lock()
		defer p.lock.Unlock()
		for n := range 2 * fewTypes {
			p.engine.Queue().Type(fmt.Sprint(n))
		}
		if p.engine.queue.types["second"] != nil {
			t.Error("the type was not forgotten")
		}
		p.d.Add("second", One(func(data string) { got = data }, false))
	}, false))
	for _, name := range []string{"first", "second"} {
		if _, err := p.engine.Push(p.engine.Queue().Type(name), name, OfType, 0); err != nil {
			t.Fatal(err)
		}
	}
	p.engine.Turn()
	if got != "second" {
		t.Errorf("the handler got %q", got)
	}
}

func TestEventsAreUsedAgainAndABurstIsForgotten(t *testing.T) {
	p := newPair(t)
	p.set(Options{MaxQueue: 100_000, MaxBatch: 100_000})
	typ := p.engine.Queue().Type("x")
	p.d.Add("x", One(func(string) {}, false))
	p.d.hooks.Batch = nil
	turn := func(n int) {
		for range n {
			p.engine.Push(typ, "", OfType, 0)
		}
		p.engine.Turn()
	}
	turn(50_000)
	if n := testing.AllocsPerRun(5, func() { turn(50_000) }); n > 5 {
		t.Errorf("50,000 events that have been there before allocate %v times", n)
	}
	if n := p.engine.recycler.free.count; n != 50_000 {
		t.Errorf("%d events are kept, want 50,000", n)
	}
	for range 2 * pointsRemembered {
		turn(1)
	}
	if n := p.engine.recycler.free.count; n > keptAlways {
		t.Errorf("%d events are kept of a burst long ago", n)
	}
}

func TestKeysAreBoundedAsEventsAre(t *testing.T) {
	p := newPair(t)
	p.set(Options{MaxQueue: 100_000, MaxBatch: 100_000})
	typ := p.engine.Queue().Type("x")
	p.d.Add("x", One(func(string) {}, false))
	push := func(key any) Ref[string] {
		ref, err := p.d.PushKeyed(typ, key, "", OfType, 0)
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	// One event is always queued, so that the type is never without one.
	push("kept")
	for n := range 50_000 {
		if !p.d.Cancel(push(n)) {
			t.Fatal("an event that is queued was not cancelled")
		}
		push(math.NaN())
		if n%100 == 0 {
			p.engine.Turn()
			push("kept")
		}
	}
	if n := len(typ.keys); n > 1000 {
		t.Errorf("the map has %d entries", n)
	}
	if s := p.engine.Stats(); s.SupersededTotal != 0 {
		t.Errorf("%d events were superseded", s.SupersededTotal)
	}
	for n := range 50_000 {
		push(n)
	}
	p.engine.Turn()
	if typ.keys != nil {
		t.Errorf("after a burst of keys the map has %d entries", len(typ.keys))
	}
}

// TestARefOfASupersededEventNamesNoOther: it has the number of the newer event, so it must never be another one with that number.
func TestARefOfASupersededEventNamesNoOther(t *testing.T) {
	p := newPair(t)
	typ := p.engine.Queue().Type("x")
	var refs []Ref[string]
	for n := range 20 {
		ref, err := p.d.PushKeyed(typ, "key", fmt.Sprint(n), OfType, 0)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	for _, ref := range refs[:19] {
		if p.d.Cancel(ref) {
			t.Fatal("a superseded event was cancelled")
		}
	}
	p.expect([][]string{{"19"}}, p.engine.Turn)
	if p.d.Cancel(refs[19]) {
		t.Error("an event that has left was cancelled")
	}
}

func TestAHostThatTakesNoCalls(t *testing.T) {
	p := newPair(t)
	typ := p.engine.Queue().Type("x")
	refused := errors.New("refused")
	p.host.scheduleError = refused
	if _, err := p.engine.Push(typ, "a", OfType, 0); err != refused || p.engine.Count() != 0 {
		t.Errorf("got %v with %d queued", err, p.engine.Count())
	}
	// What is queued already leaves at the next dispatch point, however much there is.
	p.host.scheduleError = nil
	p.set(Options{MaxBatch: 1})
	for n := range 20 {
		if _, err := p.engine.Push(typ, fmt.Sprint(n), OfType, 0); err != nil {
			t.Fatal(err)
		}
	}
	p.host.scheduleError = refused
	p.batches = nil
	p.engine.Turn()
	if len(p.batches) != 20 {
		t.Errorf("%d batches left, want 20", len(p.batches))
	}
}

// FuzzPolicy: a policy never answers out of range, whatever the signals are.
func FuzzPolicy(f *testing.F) {
	f.Add(0.5, 10.0, 10.0, 0.5, 0.05, math.NaN(), math.NaN(), 0.005, int64(50*time.Millisecond), int64(0))
	f.Add(1.0, 1e7, 1e7, 1.0, 0.0, 0.5, 0.0, 0.0, int64(time.Second), int64(time.Hour))
	f.Add(math.NaN(), 1.0, 1e-3, 1e300, -1.0, 0.0, 0.0, 1.0, int64(0), int64(5*time.Second))
	f.Add(0.9, 1.0, 2.0, 3.0, 0.1, 0.5, 0.06, 0.1, int64(time.Second), int64(time.Minute))
	f.Fuzz(func(
		t *testing.T, utilization, rate, total, batchCost, holdCost, saving, slowdown, minSaving float64, maxDelay, now int64,
	) {
		const century = 100 * 365 * 24 * time.Hour
		within := func(n int64, most time.Duration) time.Duration { return time.Duration(n&(1<<62-1)) % (most + 1) }
		o := defaults
		o.MaxDelay = within(maxDelay, time.Minute)
		o.MinSaving = max(0, min(1, given(minSaving, 0)))
		s := Signals{Utilization: utilization, Rate: rate, Total: total, BatchCost: batchCost, HoldCost: holdCost}
		if hold, why := leastCostHold(&s, &o); hold < 0 || hold > o.MaxDelay || (hold > 0) != (why == holding) {
			t.Errorf("the hold is %v (%s), MaxDelay %v", hold, why, o.MaxDelay)
		}
		c := newComparison()
		at := within(now, century)
		for range 10 {
			before := c
			why := c.askGiven(at, saving, slowdown)
			if c.off.next < firstBackoff || c.off.next > longestBackoff {
				t.Errorf("the back-off is %v", c.off.next)
			}
			off := slowdown > mostSlowdown || saving < leastSaving
			if off != (why == noSaving || why == slowsItsSenders) || !off && why != holding {
				t.Errorf("with a saving of %v and a slowdown of %v it says %q", saving, slowdown, why)
			}
			if off && (c.off.until <= at || c.off.until > at+longestBackoff || c.off.until != at+before.off.next) {
				t.Errorf("off until %v, at %v", c.off.until, at)
			}
			at = max(at, c.off.until)
		}
	})
}

func TestAWindowThatBeganInTheFutureIsThrownAway(t *testing.T) {
	c := newComparison()
	c.ask(tally{time: time.Hour}, 0)
	c.ask(tally{time: time.Hour}, 0)
	if why := c.ask(tally{time: time.Second, left: 8}, 0); why != holding || c.number != 1 || c.plain.count != 0 {
		t.Errorf("it says %q in window %d, after %d", why, c.number, c.plain.count)
	}
}

func TestWindowsWithoutHoldingBecomeRare(t *testing.T) {
	c := newComparison()
	now := tally{}
	// after asks so many times. Each time the loop has been busy for 1 ms, or for `held` where batches are held. It returns
	// the numbers of the windows that do not hold.
	after := func(askings int, held time.Duration) (plain []int) {
		last := -1
		for range askings {
			if c.number != last && !c.holds() {
				plain = append(plain, c.number)
			}
			last = c.number
			now.time += shortestWindow
			now.left += windowEvents
			now.pushed += windowEvents
			if c.holds() {
				now.busy += held
			} else {
				now.busy += time.Millisecond
			}
			c.ask(now, 0)
		}
		return plain
	}
	// Each window takes three askings: two to settle, and the one that ends it.
	if plain := after(3*500, time.Millisecond/2); fmt.Sprint(plain) != "[0 2 8 24 56 120 248 376]" {
		t.Errorf("windows %v do not hold", plain)
	}
	if after(3*200, 2*time.Millisecond); c.number != 0 || c.reason != noSaving {
		t.Errorf("in window %d: %s", c.number, c.reason)
	}
	now.time = max(now.time, c.off.until)
	if plain := after(3*100, time.Millisecond/2); fmt.Sprint(plain) != "[0 2 8 24 56]" {
		t.Errorf("after a back-off windows %v do not hold", plain)
	}
}

func TestATrialEndsWhenSendersAreFoundToWait(t *testing.T) {
	const maxDelay = 100 * time.Millisecond
	c := newComparison()
	now := tally{}
	ask := func(passed time.Duration, events uint64) string {
		now.time += passed
		now.left += events
		now.pushed += events
		return c.ask(now, maxDelay)
	}
	ask(0, 1000)
	ask(0, 1000)
	if why := ask(shortestWindow, 1000); why != holding {
		t.Fatalf("in the second window: %q", why)
	}
	ask(0, 1000)
	ask(0, 1000)
	if why := ask(shortestWindow-1, 500); why != holding {
		t.Errorf("before 50 ms are over: %q", why)
	}
	if why := ask(1, 0); why != slowsItsSenders || c.off.next != 4*firstBackoff || c.slowdown != 0.5 {
		t.Errorf("after 50 of 400 ms: %q, a slowdown of %v, the next back-off %v", why, c.slowdown, c.off.next)
	}
}

// FuzzTimeLimit: a limit is below what a batch can hold, and there is none while it is off.
func FuzzTimeLimit(f *testing.F) {
	f.Add([]byte{1, 100, 100, 1, 100, 100, 1, 5, 20, 5, 200, 5, 0, 5, 1})
	f.Fuzz(func(t *testing.T, batches []byte) {
		const most, maxBatch = 5, 200
		l := timeLimit{off: backoff{next: firstBackoff}}
		now := time.Duration(0)
		for ; len(batches) >= 3; batches = batches[3:] {
			now += time.Duration(batches[0]) * time.Duration(batches[0]) * time.Millisecond
			n := 1 + int(batches[1])%maxBatch
			if batches[1]%2 == 0 && l.limit > 0 {
				n = l.limit
			}
			l.sample(n, float64(batches[2])/8, now, most, maxBatch)
			if l.limit < 0 || l.limit >= maxBatch || now < l.off.until && l.limit > 0 ||
				l.off.next < firstBackoff || l.off.next > longestBackoff {
				t.Fatalf("after %d events: %+v", n, l)
			}
		}
	})
}

// FuzzCosts: costs are at least 0, whatever the batches were.
func FuzzCosts(f *testing.F) {
	f.Add([]byte{1, 1, 10, 20, 1, 50, 90, 4})
	f.Fuzz(func(t *testing.T, batches []byte) {
		c := costs{share: 1}
		now := time.Duration(0)
		for len(batches) >= 4 {
			b := batches[:4]
			batches = batches[4:]
			now += time.Duration(b[0]) * time.Duration(b[0]) * time.Millisecond
			c.sample(1+int(b[1]), 1+int(b[2]), time.Duration(b[3])*time.Millisecond, now)
			if !(c.batch >= 0 && c.event >= 0 && c.share >= 0 && c.share <= 1) {
				t.Fatalf("the costs are %+v", c)
			}
		}
	})
}

// FuzzUtilization: a busy share is one, whatever is observed.
func FuzzUtilization(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 100, 50})
	f.Fuzz(func(t *testing.T, spans []byte) {
		u := NewUtilization(0)
		now := time.Duration(0)
		for len(spans) >= 2 {
			span := time.Duration(spans[0]) * time.Duration(spans[0]) * time.Millisecond / 100
			u.Observe(now, now+span, span*time.Duration(spans[1])/200)
			now += span
			if share := u.Read(now); !(share >= 0 && share <= 1) {
				t.Fatalf("the share is %v", share)
			}
			spans = spans[2:]
		}
	})
}

func TestNamesForPeople(t *testing.T) {
	var names []string
	for trigger := TriggerSize; trigger <= TriggerClose+1; trigger++ {
		names = append(names, trigger.String())
	}
	want := []string{"size", "threshold", "delay", "turn", "priority", "flush", "close", "unknown"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
}

func TestUtilizationForgetsWhatWasLongAgo(t *testing.T) {
	u := NewUtilization(0)
	u.Observe(0, time.Second, time.Second)
	if share := u.Read(time.Second); share != 1 {
		t.Errorf("busy all the time, the share is %v", share)
	}
	if share := u.Read(time.Minute); share != 0 {
		t.Errorf("idle for a minute, the share is %v", share)
	}
}
