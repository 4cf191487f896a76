package engine

import (
	"math"
	"testing"
	"time"
)

// Adaptive is weighed here against the best way in hindsight, on a virtual loop and so without noise.

// Rooms of 50 members on a server of two cores, and durable inserts.
var (
	rooms = load{
		destinations: 10, batch: 450 * time.Microsecond, event: 100 * time.Microsecond, intake: 30 * time.Microsecond,
	}
	inserts = load{destinations: 1, batch: 2 * time.Millisecond, event: 20 * time.Microsecond, intake: 10 * time.Microsecond}
	budgets = []time.Duration{2 * time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond}
)

// at is the load at a rate in events per ms.
func (load load) at(rate float64) load {
	load.rate = rate
	return load
}

// score is the price of the cores in use and of the delay, at the default MinSaving.
func (o outcome) score() float64 {
	idle := 1 - min(1, o.cores)
	return o.cores + defaults.MinSaving*idle*idle*o.median
}

func TestAdaptiveIsWithinATenthOfTheBestWayInHindsight(t *testing.T) {
	dear, larger, cheap := rooms, rooms, rooms
	dear.event, dear.intake = 50*time.Microsecond, 20*time.Microsecond
	larger.destinations, larger.batch, larger.event = 20, 900*time.Microsecond, 200*time.Microsecond
	cheap.batch, cheap.event = 10*time.Microsecond, 10*time.Microsecond
	free := rooms
	free.batch, free.event = 0, 200*time.Microsecond
	for name, load := range map[string]load{
		"5,000 deliveries a second":         rooms.at(0.1),
		"20,000":                            rooms.at(0.4),
		"50,000":                            rooms.at(1),
		"100,000":                           rooms.at(2),
		"160,000, at saturation":            rooms.at(3.2),
		"450,000":                           dear.at(9),
		"60,000 in 20 larger rooms":         larger.at(0.6),
		"batches that cost next to nothing": cheap.at(5),
		"batches that cost nothing":         free.at(2),
		"1,000 durable inserts a second":    inserts.at(1),
	} {
		t.Run(name, func(t *testing.T) {
			best := serve(t, load, Options{}, 5).score()
			fixed := map[time.Duration]float64{}
			for _, ms := range []time.Duration{1, 2, 5, 10, 20, 50} {
				delay := ms * time.Millisecond
				fixed[delay] = serve(t, load, Options{Policy: Fixed, MaxDelay: delay}, 5).score()
			}
			for _, budget := range budgets {
				within := best
				for delay, score := range fixed {
					if delay <= budget {
						within = math.Min(within, score)
					}
				}
				ahead := within / serve(t, load, Options{MaxDelay: budget}, 5).score()
				if ahead < 0.91 {
					t.Errorf("it is %.3f of the best within %v", ahead, budget)
				}
			}
		})
	}
}

func TestAdaptiveLeavesAClosedLoopItsThroughput(t *testing.T) {
	manyRooms, manyInserts := rooms, inserts
	manyRooms.senders, manyInserts.senders = 500, 50
	for _, load := range []load{manyRooms, manyInserts} {
		endOfTurn := serve(t, load, Options{}, 13).perMs
		for _, budget := range budgets {
			share := serve(t, load, Options{MaxDelay: budget}, 13).perMs / endOfTurn
			if share < 0.97 {
				t.Errorf("%d senders get %.3f of the events through with %v", load.senders, share, budget)
			}
		}
	}
}

func TestAdaptiveSavesWhatALongHoldCanSave(t *testing.T) {
	load := rooms.at(1)
	endOfTurn := serve(t, load, Options{}, 5).cores
	if cores := serve(t, load, Options{MaxDelay: 50 * time.Millisecond}, 5).cores; cores > 0.64*endOfTurn {
		t.Errorf("it takes %.3f of the end of the turn", cores/endOfTurn)
	}
}
