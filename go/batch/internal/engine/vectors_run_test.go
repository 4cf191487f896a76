package engine

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"millrace.dev/go"
)

// virtualHost is a clock that stands still unless told, and the timers that hang on it.
type virtualHost struct {
	now           time.Duration
	holdAt        time.Duration
	expiryAt      time.Duration
	scheduled     bool
	utilization   Utilization
	busy          time.Duration
	scheduleError error
	outside, dead bool
}

func (h *virtualHost) Now() time.Duration { return h.now }
func (h *virtualHost) Inside() bool       { return !h.outside }
func (h *virtualHost) Alive() bool        { return !h.dead }
func (h *virtualHost) MayHold() bool      { return !h.dead }
func (h *virtualHost) Schedule() error {
	h.scheduled = h.scheduleError == nil
	return h.scheduleError
}
func (h *virtualHost) Arm(deadline time.Duration) error {
	h.holdAt = deadline
	return nil
}
func (h *virtualHost) Clock() time.Duration                  { return h.now }
func (h *virtualHost) Utilization(now time.Duration) float64 { return h.utilization.Read(now) }
func (h *virtualHost) Busy(time.Duration) time.Duration      { return h.busy }
func (h *virtualHost) HoldCost() time.Duration               { return 50 * time.Microsecond }
func (h *virtualHost) pass(d time.Duration, busy time.Duration) {
	h.utilization.Observe(h.now, h.now+d, busy)
	h.busy += busy
	h.now += d
}

// run drives an engine through the operations of a vector. The lock is a real one, so that a hook or a handler that is
// called with it held would show.
type run struct {
	host    virtualHost
	lock    sync.Mutex
	engine  *Engine[string]
	d       *Dispatcher[string]
	log     []Statement
	refs    map[string]Ref[string]
	acts    map[string][]*Statement
	failing map[string]bool
	retain  map[string]Retain
	mode    map[string]string
	known   map[string]bool
	given   Signals
	rates   map[string]bool
	invalid uint64
	already uint64
}

func newRun() *run {
	r := &run{
		host: virtualHost{holdAt: never, expiryAt: never, utilization: NewUtilization(0)},
		refs: map[string]Ref[string]{}, acts: map[string][]*Statement{}, failing: map[string]bool{},
		retain: map[string]Retain{}, mode: map[string]string{}, known: map[string]bool{}, rates: map[string]bool{},
		given: unknown,
	}
	r.lock.Lock()
	r.make(Options{})
	return r
}

func (r *run) out(s Statement) {
	s.Kind = Outcome
	r.log = append(r.log, s)
}

func (r *run) make(options Options) error {
	d := NewDispatcher[string](&r.lock, Hooks[string]{
		Failed: func(_ error, event *Event[string]) { r.out(Statement{Word: "error", ID: event.Data}) },
		Lost: func(event *Event[string], why Loss) {
			s := Statement{Word: "expired", ID: event.Data}
			switch why {
			case Unhandled:
				s.Word = "unhandled"
			case NotRetained:
				s.Word, s.Code = "refused", "retention"
			case Discarded:
				s.Word, s.Code = "refused", "cancelled"
			}
			r.out(s)
		},
		Batch: func(batch Batch[string]) {
			s := Statement{Word: "expect", Time: r.host.now, Trigger: batch.Trigger.String()}
			for event := batch.First; event != nil; event = event.Next() {
				s.IDs = append(s.IDs, event.Data)
			}
			if len(s.IDs) != batch.Count {
				panic(fmt.Sprintf("a batch of %d says that it has %d", len(s.IDs), batch.Count))
			}
			r.out(s)
		},
		Held:      func(event *Event[string]) { r.out(Statement{Word: "held", ID: event.Data}) },
		Replayed:  func(event *Event[string]) { r.out(Statement{Word: "replayed", ID: event.Data}) },
		ArmExpiry: func(deadline time.Duration) { r.host.expiryAt = deadline },
	}, nil)
	e, err := New(&r.host, d, options)
	if err != nil {
		return err
	}
	d.Attach(e)
	e.OnSuperseded = func(older *Event[string]) { r.out(Statement{Word: "superseded", ID: older.Data}) }
	e.OnHold = func(hold time.Duration) { r.out(Statement{Word: "hold", Time: hold}) }
	r.d, r.engine = d, e
	return nil
}

// typed is the type's entry; every type has one handler from the start.
func (r *run) typed(name string) *Type[string] {
	if !r.known[name] {
		r.known[name] = true
		r.d.Add(name, One(r.handle, false))
	}
	return r.engine.Queue().Type(name)
}

func (r *run) handle(id string) {
	acts := r.acts[id]
	delete(r.acts, id)
	r.lock.Lock()
	for _, s := range acts {
		r.apply(s)
	}
	r.lock.Unlock()
	if r.failing[id] {
		panic("the handler of " + id + " fails")
	}
}

func (r *run) apply(s *Statement) {
	switch s.Word {
	case "config":
		r.checked(s.Pairs, r.make(changes(s.Pairs)))
	case "at":
		r.wait(s.Time)
		if s.Inner != nil {
			r.apply(s.Inner)
		}
	case "advance":
		r.wait(r.host.now + s.Time)
	case "busy":
		r.host.pass(s.Time, s.Time)
	case "push":
		r.push(s)
	case "turn":
		r.host.scheduled = false
		r.engine.Turn()
	case "handle":
		r.typed(s.Type)
		r.d.Add(s.Type, One(r.handle, false))
	case "unhandle":
		r.typed(s.Type)
		r.d.RemoveAll(s.Type)
	case "cancel":
		if !r.d.Cancel(r.refs[s.ID]) {
			r.already++
			r.out(Statement{Word: "refused", ID: s.ID, Code: "already"})
		}
	case "fail":
		r.failing[s.ID] = true
	case "from":
		r.acts[s.ID] = append(r.acts[s.ID], s.Inner)
	case "signal":
		r.signal(s)
	case "set":
		if s.Type == "" {
			r.checked(s.Pairs, r.engine.Set(changes(s.Pairs)))
		} else {
			r.checked(s.Pairs, r.setType(r.typed(s.Type), s.Pairs))
		}
	case "flush":
		if err := r.engine.Flush(); err != nil {
			panic(err)
		}
	case "close":
		if err := r.engine.Close(s.Discard); err != nil {
			panic(err)
		}
	default:
		panic("no such operation: " + s.Word)
	}
}

func (r *run) wait(until time.Duration) {
	for {
		h := &r.host
		next := h.holdAt
		if h.expiryAt >= 0 && (next < 0 || h.expiryAt < next) {
			next = h.expiryAt
		}
		if next < 0 || next > until {
			break
		}
		h.pass(max(0, next-h.now), 0)
		if h.holdAt == next {
			h.holdAt = never
			r.engine.HoldEnded()
		} else {
			r.d.Expire(h.now)
		}
	}
	r.host.pass(max(0, until-r.host.now), 0)
}

var classOf = map[string]Priority{"": OfType, "high": High, "normal": Normal, "low": Low}

func (r *run) push(s *Statement) {
	t := r.typed(s.Type)
	ref, err := r.pushTo(t, s)
	switch {
	case errors.Is(err, millrace.ErrOverload):
		r.out(Statement{Word: "refused", ID: s.ID, Code: "overloaded"})
	case errors.Is(err, millrace.ErrClosed):
		r.out(Statement{Word: "refused", ID: s.ID, Code: "closed"})
	case err != nil:
		panic(err)
	default:
		r.refs[s.ID] = ref
	}
}

func (r *run) pushTo(t *Type[string], s *Statement) (Ref[string], error) {
	if s.Key == "" {
		return r.engine.Push(t, s.ID, classOf[s.Class], s.Bytes)
	}
	return r.d.PushKeyed(t, s.Key, s.ID, classOf[s.Class], s.Bytes)
}

// merges are the functions of the type option merge. The data of an event is its ID, and a combined one has the newer's.
var merges = map[string]Merge[string]{
	"on":   func(_, newer string, bytes int64) (string, int64, error) { return newer, bytes, nil },
	"fail": func(_, newer string, _ int64) (string, int64, error) { panic("the merge of " + newer + " fails") },
}

func (r *run) signal(s *Statement) {
	if s.Type != "" {
		r.rates[s.Type] = true
		r.engine.GiveRate(r.typed(s.Type), s.Pairs[0].Number)
		return
	}
	for _, pair := range s.Pairs {
		switch pair.Key {
		case "utilization":
			r.given.Utilization = pair.Number
		case "total":
			r.given.Total = pair.Number
		case "batch_cost":
			r.given.BatchCost = pair.Number
		case "hold_cost":
			r.given.HoldCost = pair.Number
		case "saving":
			r.given.Saving = pair.Number
		case "slowdown":
			r.given.Slowdown = pair.Number
		case "rate":
			r.given.Rate = pair.Number
			for name := range r.rates {
				r.engine.GiveRate(r.typed(name), math.NaN())
			}
		}
	}
	r.engine.GiveSignals(r.given)
}

func changes(pairs []Pair) (o Options) {
	for _, pair := range pairs {
		n, d := explicit(pair.Number), explicit(Milliseconds(pair.Number))
		switch pair.Key {
		case "policy":
			o.Policy = map[string]PolicyName{"adaptive": Adaptive, "fixed": Fixed, "direct": Direct}[pair.Text]
		case "order":
			o.Order = map[string]Order{"arrival": ByArrival, "type": ByType}[pair.Text]
		case "hold":
			o.Hold = map[string]Hold{"tuned": Tuned, "always": Always}[pair.Text]
		case "max_batch":
			o.MaxBatch = int(n)
		case "max_delay":
			o.MaxDelay = d
		case "min_saving":
			o.MinSaving = n
		case "max_batch_time":
			o.MaxBatchTime = d
		case "threshold":
			o.Threshold = int(n)
		case "max_queue":
			o.MaxQueue = int(n)
		case "max_queue_bytes":
			o.MaxQueueBytes = int64(n)
		case "max_deferral":
			o.MaxDeferral = d
		default:
			panic("no such option: " + pair.Key)
		}
	}
	return o
}

// explicit is a number of a vector as an option that is given: 0 is None, and what is below 0 stays apart from it.
func explicit[N float64 | time.Duration](n N) N {
	if n <= 0 {
		return n + None
	}
	return n
}

func (r *run) setType(t *Type[string], pairs []Pair) error {
	retain := r.retain[t.Name]
	mode, priority, maxBatch, merge := r.mode[t.Name], t.Priority, t.MaxBatch(), t.merge
	for _, pair := range pairs {
		switch pair.Key {
		case "priority":
			priority = classOf[pair.Text]
		case "max_batch":
			maxBatch = int(explicit(pair.Number))
			if err := CheckMaxBatch(maxBatch); err != nil {
				return err
			}
		case "merge":
			merge = merges[pair.Text]
		case "retain":
			mode = pair.Text
		case "retain_max":
			retain.Max = int(explicit(pair.Number))
		case "retain_max_bytes":
			retain.MaxBytes = int64(explicit(pair.Number))
		case "retain_max_age":
			retain.MaxAge = explicit(Milliseconds(pair.Number))
		default:
			panic("no such option: " + pair.Key)
		}
	}
	retain.Replay = ReplayFirst
	if mode == "each" {
		retain.Replay = ReplayEach
	}
	complete, err := retain.Complete()
	if err != nil {
		return err
	}
	t.Priority = priority
	t.SetMerge(merge)
	r.engine.Queue().SetMaxBatch(t, maxBatch)
	r.retain[t.Name], r.mode[t.Name] = retain, mode
	if mode == "first" || mode == "each" {
		r.d.Retain(t, complete)
	} else {
		r.d.Retain(t, nil)
	}
	return nil
}

var keyOf = map[string]string{
	"MaxBatch": "max_batch", "MaxDelay": "max_delay", "MinSaving": "min_saving", "MaxBatchTime": "max_batch_time",
	"Threshold": "threshold", "MaxQueue": "max_queue", "MaxQueueBytes": "max_queue_bytes", "MaxDeferral": "max_deferral",
	"Retain.Max": "retain_max", "Retain.MaxBytes": "retain_max_bytes", "Retain.MaxAge": "retain_max_age",
}

func (r *run) checked(pairs []Pair, err error) {
	var bad *millrace.OptionError
	switch {
	case errors.As(err, &bad):
		r.invalid++
		r.out(Statement{Word: "refused", ID: keyOf[bad.Name], Code: "invalid"})
	case err != nil && !errors.Is(err, millrace.ErrClosed):
		panic(err)
	}
}

func (r *run) query(s *Statement) map[string]float64 {
	if s.Word == "estimate" {
		if s.Type != "" {
			r.typed(s.Type)
		}
		own := r.engine.Estimate(s.Type)
		return map[string]float64{
			"utilization": own.Utilization, "rate": own.Rate, "total": own.Total, "batch_cost": own.BatchCost,
			"event_cost": own.EventCost, "hold_cost": own.HoldCost, "limit": float64(r.engine.Stats().Policy.Limit),
			"saving": given(own.Saving, 0), "slowdown": given(own.Slowdown, 0),
		}
	}
	stats := r.engine.Stats()
	values := map[string]float64{
		"queued": float64(r.engine.Count()), "bytes": float64(stats.QueueBytes), "pushed": float64(stats.PushedTotal),
		"delivered": float64(stats.DeliveredTotal), "batches": float64(stats.BatchTotal),
		"cancelled": float64(stats.CancelledTotal), "superseded": float64(stats.SupersededTotal), "errors": float64(stats.ErrorsTotal),
		"unhandled": float64(stats.UnhandledTotal), "retained": float64(stats.Retained.Count),
		"retained.bytes": float64(stats.Retained.Bytes), "held": float64(stats.Retained.Held),
		"replayed": float64(stats.Retained.Replayed), "expired": float64(stats.Retained.Expired),
		"refused.overloaded": float64(stats.RefusedTotal.Overloaded), "refused.closed": float64(stats.RefusedTotal.Closed),
		"refused.cancelled": float64(stats.RefusedTotal.Cancelled),
		"refused.retention": float64(stats.RefusedTotal.Retention),
		"refused.invalid":   float64(r.invalid), "refused.already": float64(r.already),
	}
	depth, wait := stats.QueueDepth, stats.QueueWaitMax
	values["depth.high"], values["wait.high"] = float64(depth.High), milliseconds(wait.High)
	values["depth.normal"], values["wait.normal"] = float64(depth.Normal), milliseconds(wait.Normal)
	values["depth.low"], values["wait.low"] = float64(depth.Low), milliseconds(wait.Low)
	for t := TriggerSize; t <= TriggerClose; t++ {
		values["trigger."+t.String()] = float64(stats.BatchTriggerTotal[t])
	}
	return values
}

// runVector runs a vector: nil, or the first mismatch.
func runVector(v *Vector) error {
	r := newRun()
	defer r.lock.Unlock()
	line := 1
	mismatch := func(line int, expected, actual string) error {
		return fmt.Errorf("%s:%d: expected '%s', got '%s'", v.File, line, expected, actual)
	}
	for i := range v.Statements {
		s := &v.Statements[i]
		switch s.Kind {
		case Outcome:
			if len(r.log) == 0 || !same(s, &r.log[0]) {
				return mismatch(s.Line, text(s), first(r.log))
			}
			r.log = r.log[1:]
		case Query:
			values := r.query(s)
			for _, pair := range s.Pairs {
				actual, found := values[pair.Key]
				if !found || !near(pair.Number, actual) {
					return mismatch(s.Line, pair.Key+"="+pair.Text, fmt.Sprint(actual))
				}
			}
		default:
			if len(r.log) > 0 {
				return mismatch(line, "nothing", text(&r.log[0]))
			}
			r.apply(s)
		}
		line = s.Line
	}
	if len(r.log) > 0 {
		return mismatch(line, "nothing", text(&r.log[0]))
	}
	return nil
}

func near(a, b float64) bool { return math.Abs(a-b) <= max(0.001, math.Abs(a)/1000) }

func same(a, b *Statement) bool {
	return a.Word == b.Word && near(milliseconds(a.Time), milliseconds(b.Time)) && a.Trigger == b.Trigger &&
		a.ID == b.ID && a.Code == b.Code && strings.Join(a.IDs, " ") == strings.Join(b.IDs, " ")
}

func first(log []Statement) string {
	if len(log) == 0 {
		return "nothing"
	}
	return text(&log[0])
}

// text is the line of a vector for an outcome.
func text(s *Statement) string {
	switch s.Word {
	case "expect":
		return fmt.Sprintf("expect %v %s %s", milliseconds(s.Time), s.Trigger, strings.Join(s.IDs, " "))
	case "hold":
		return fmt.Sprintf("hold %v", milliseconds(s.Time))
	}
	return strings.TrimSpace(s.Word + " " + s.ID + " " + s.Code)
}

// ---- what only vectors and models ask of an engine

// RemoveAll removes all handlers of a type.
func (d *Dispatcher[T]) RemoveAll(name string) {
	if t := d.engine.queue.types[name]; t != nil {
		for _, h := range t.handlers {
			h.of = nil
		}
		t.handlers = nil
		t.note()
	}
}

// MaxBatch is the number of events of the type a batch can hold.
func (t *Type[T]) MaxBatch() int { return t.maxBatch }

// Estimate is how the engine sees its load; the rate is that of a type.
func (e *Engine[T]) Estimate(name string) Signals {
	return e.advisor.estimate(e.host, e.queue.types[name], e.host.Now())
}

// GiveSignals puts signals in place of the engine's estimates, NaN: its own; for tests and replays. GiveRate does so
// for one type.
func (e *Engine[T]) GiveSignals(s Signals) {
	e.advisor.given = s
}

func (e *Engine[T]) GiveRate(t *Type[T], rate float64) { t.givenRate, t.Pinned = rate, true }

// Count is the number of queued events.
func (e *Engine[T]) Count() int { return e.queue.count }
