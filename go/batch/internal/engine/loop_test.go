package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// This file is a server on a virtual clock, to weigh policies without noise: an engine with its real policy and estimators
// on a loop whose every step takes a given time. Events come at random times for some destinations. A turn of the loop
// takes in all that have come, and hands over batches at its end. In a closed loop each sender sends again when its event
// was handed over.

// Other work of the loop, and the time between an event that was handed over and the next one of its sender.
const (
	wakeCost  = 20 * time.Microsecond
	turnCost  = 20 * time.Microsecond
	timerCost = 30 * time.Microsecond
	roundTrip = 200 * time.Microsecond
)

// load is what comes: in an open loop at a rate in events per ms, in a closed one from senders.
type load struct {
	rate         float64
	senders      int
	destinations int
	// A batch costs this for each destination in it, an event in it that, and taking in an event the last.
	batch, event, intake time.Duration
}

// outcome is what a run came to after its warm-up: cores in use, the median delay in ms, events handed over per ms.
type outcome struct{ cores, median, perMs float64 }

// arrival is an event: when it comes, and to which destination.
type arrival struct {
	due time.Duration
	to  int
}

type virtualLoop struct {
	virtualHost
	load    load
	engine  *Engine[arrival]
	types   []*Type[arrival]
	coming  []arrival // the next one first
	delays  []time.Duration
	weighed bool // the warm-up is over
}

func (l *virtualLoop) work(d time.Duration) { l.pass(d, d) }

// Deliver is the sink's.
func (l *virtualLoop) Deliver(batch Batch[arrival]) bool {
	var events []arrival
	there := make([]bool, l.load.destinations)
	cost := time.Duration(batch.Count) * l.load.event
	for event := batch.First; event != nil; {
		next := event.Next()
		events = append(events, event.Data)
		if to := event.Data.to; !there[to] {
			there[to] = true
			cost += l.load.batch
		}
		l.engine.Recycle(event)
		event = next
	}
	l.work(cost)
	for _, event := range events {
		if l.weighed {
			l.delays = append(l.delays, l.now-event.due)
		}
		if l.load.senders > 0 {
			l.coming = append(l.coming, arrival{l.now + roundTrip, event.to})
		}
	}
	if batch.Sample != (Sample{}) {
		l.engine.Spent(batch.Sample, batch.Count, cost)
	}
	return true
}

func (l *virtualLoop) Prepare(time.Duration)   {}
func (l *virtualLoop) Discard(*Event[arrival]) {}
func (l *virtualLoop) End()                    {}

// serve runs the server for some seconds after three of warm-up.
func serve(t *testing.T, load load, options Options, seconds int) outcome {
	t.Helper()
	const begin = 3 * time.Second
	end := begin + time.Duration(seconds)*time.Second
	l := &virtualLoop{virtualHost: virtualHost{holdAt: never, utilization: NewUtilization(0)}, load: load}
	l.coming = load.arrivals(end)
	var err error
	if l.engine, err = New[arrival](l, l, options); err != nil {
		t.Fatal(err)
	}
	for i := range load.destinations {
		l.types = append(l.types, l.engine.Queue().Type("room "+string(rune('A'+i))))
	}
	var busyBefore time.Duration
	for l.now < end {
		if !l.weighed && l.now >= begin {
			l.weighed, busyBefore = true, l.busy
		}
		wakeAt := end
		if len(l.coming) > 0 {
			wakeAt = min(wakeAt, l.coming[0].due)
		}
		if l.holdAt >= 0 {
			wakeAt = min(wakeAt, l.holdAt)
		}
		if !l.scheduled && wakeAt > l.now {
			l.pass(wakeAt-l.now, 0)
			l.work(wakeCost)
		}
		l.work(turnCost)
		if l.holdAt >= 0 && l.holdAt <= l.now {
			l.holdAt = never
			l.work(timerCost)
			l.engine.HoldEnded()
		}
		for len(l.coming) > 0 && l.coming[0].due <= l.now {
			event := l.coming[0]
			l.coming = l.coming[1:]
			l.work(load.intake)
			if _, err := l.engine.Push(l.types[event.to], event, OfType, 0); err != nil {
				t.Fatal(err)
			}
		}
		if l.scheduled {
			l.scheduled = false
			l.engine.Turn()
		}
	}
	slices.Sort(l.delays)
	passed := milliseconds(l.now - begin)
	return outcome{
		cores: milliseconds(l.busy-busyBefore) / passed, median: milliseconds(l.delays[len(l.delays)/2]),
		perMs: float64(len(l.delays)) / passed,
	}
}

// arrivals are a Poisson process, or the first event of each sender.
func (load load) arrivals(end time.Duration) (all []arrival) {
	random := rand.New(rand.NewPCG(1, 1))
	if load.senders == 0 {
		for due := time.Duration(0); due < end; {
			due += duration(-math.Log(1-random.Float64()) / load.rate)
			all = append(all, arrival{due, random.IntN(load.destinations)})
		}
		return all
	}
	for i := range load.senders {
		all = append(all, arrival{duration(random.Float64() * milliseconds(roundTrip)), i % load.destinations})
	}
	slices.SortFunc(all, func(a, b arrival) int { return int(a.due - b.due) })
	return all
}
