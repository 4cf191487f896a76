package eventloop

import (
	"math/rand/v2"
	"slices"
	"testing"

	"millrace.dev/go"
)

// Most tasks are queued with no look at any bound. They must all the same be refused exactly when the queue is full,
// and the mark of the pressure hook must be seen exactly when it is reached, however the classes are mixed, by one or
// by the batch, and also when Stop has put back what was taken.
func TestTheBoundsAreExactInEveryMix(t *testing.T) {
	const lanes = len(Loop{}.lanes)
	random := rand.New(rand.NewPCG(1, 2))
	room := lanes * chunkSize
	for _, maxQueue := range []int{1, chunkSize, room - 1, room, room + 1, 2*room - 1, 3*room + 7} {
		for _, high := range []int{1, chunkSize + 1, room + 5, maxQueue} {
			high = min(high, maxQueue)
			l := made(t, Config{MaxQueue: maxQueue, PressureMark: high, OnPressure: nop[int]})
			queued, submitted, refused := 0, 0, 0
			check := func(taken, offered int) {
				t.Helper()
				if want := min(offered, max(0, maxQueue-queued)); taken != want {
					t.Fatalf("%d of %d were taken when %d of %d waited", taken, offered, queued, maxQueue)
				}
				queued += taken
				submitted += taken
				refused += offered - taken
				if !l.told && l.pressed != (queued >= high) {
					t.Fatalf("pressed is %v when %d wait, of %d", l.pressed, queued, high)
				}
				if s := l.Stats(); s.QueueDepth != queued || int(s.SubmittedTotal) != submitted || int(s.RefusedTotal) != refused {
					t.Fatalf("%+v instead of %d, %d and %d", s, queued, submitted, refused)
				}
			}
			for round := range 20 {
				if queued >= maxQueue {
					// By what the last task has submitted, and what Stop has put back.
					run(t, l)
					queued = 0
				}
				must(t, l.Submit(func() {
					for range random.IntN(2 * lanes) {
						l.SubmitPriority(millrace.Priority(random.IntN(lanes+1)), func() {})
					}
					l.Stop()
				}))
				check(1, 1)
				// Until the queue is full, or not so far.
				full, left := refused+5, random.IntN(maxQueue)
				for ; refused < full && (round%2 == 0 || left > 0); left-- {
					if random.IntN(50) == 0 {
						tasks := slices.Repeat([]func(){func() {}}, random.IntN(2*chunkSize))
						n, _ := l.SubmitBatch(tasks)
						check(n, len(tasks))
					} else {
						taken := 1
						if l.SubmitPriority(millrace.Priority(random.IntN(lanes+1)), func() {}) != nil {
							taken = 0
						}
						check(taken, 1)
					}
				}
				run(t, l)
				s := l.Stats()
				queued, submitted, refused = s.QueueDepth, int(s.SubmittedTotal), int(s.RefusedTotal)
			}
			run(t, l)
			if s := l.Stats(); s.QueueDepth != 0 {
				t.Fatalf("%+v", s)
			}
		}
	}
}

// A lane that would take tasks with no look at anything does look when the loop is closed meanwhile.
func TestAClosedLoopTakesNothingIntoAChunkThatHasRoom(t *testing.T) {
	l, err := New(Config{})
	must(t, err)
	for class, priority := range []millrace.Priority{laneNormal: millrace.Normal, laneHigh: millrace.High, laneLow: millrace.Low} {
		must(t, l.SubmitPriority(priority, func() {}))
		if lane := &l.lanes[class]; lane.n >= lane.limit {
			t.Errorf("%v: room for %d, %d taken", priority, lane.limit, lane.n)
		}
	}
	err, left := l.Close(cancelled()), l.Left()
	if len(left) != 3 || err == nil {
		t.Errorf("%d left, %v", len(left), err)
	}
	for priority := millrace.High; priority <= millrace.Low; priority++ {
		if err := l.SubmitPriority(priority, func() {}); err != millrace.ErrClosed {
			t.Errorf("%v: %v", priority, err)
		}
	}
	closing, err := New(Config{})
	must(t, err)
	must(t, closing.Submit(func() {
		must(t, closing.Submit(func() {}))
		closing.Close(cancelled())
		for priority := millrace.High; priority <= millrace.Low; priority++ {
			if err := closing.SubmitPriority(priority, func() {}); err != millrace.ErrClosed {
				t.Errorf("%v while it closes: %v", priority, err)
			}
		}
	}))
	run(t, closing)
}

// Tasks that came with no look at the mark while it was passed do not hide that it is passed again.
func TestPressureIsSeenAgainInTheSameChunk(t *testing.T) {
	const high = 20
	l := made(t, Config{PressureMark: high, OnPressure: nop[int]})
	submit := func(n int) {
		for range n {
			must(t, l.Submit(func() {}))
		}
	}
	look := func(when string, want bool) {
		if l.pressed != want {
			t.Errorf("%s: pressed is %v", when, l.pressed)
		}
	}
	must(t, l.Submit(func() { submit(1) }))
	submit(chunkSize)
	must(t, l.Submit(func() {
		look("when it has fallen", false)
		submit(high - 2)
		look("before the mark", false)
		submit(1)
		look("at the mark", true)
	}))
	look("at first", true)
	run(t, l)
	// The queue falls before the hook is called.
	submit(1)
	l.pressed = true
	l.tighten()
	submit(1)
	l.tellPressure()
	submit(high - 3)
	look("before the mark, untold", false)
	submit(1)
	look("at the mark, untold", true)
	run(t, l)
}

// What Stop puts back leaves less room than the lanes had when they were last looked at.
func TestTheBoundHoldsWhenStopPutsBackWhatWasTaken(t *testing.T) {
	const most = 3*chunkSize + 2
	l := made(t, Config{MaxQueue: most})
	submit := func(priority millrace.Priority) error { return l.SubmitPriority(priority, func() {}) }
	must(t, l.Submit(func() {
		must(t, submit(millrace.Normal))
		must(t, submit(millrace.Low))
		l.Stop()
	}))
	for range chunkSize - 1 {
		must(t, submit(millrace.Normal))
		must(t, submit(millrace.Low))
	}
	run(t, l)
	queued := l.Stats().QueueDepth
	if queued != 2*chunkSize {
		t.Fatal(queued, "wait")
	}
	for i := queued; i < most; i++ {
		must(t, submit([]millrace.Priority{millrace.Normal, millrace.Low}[i%2]))
	}
	for _, priority := range []millrace.Priority{millrace.Normal, millrace.Low, millrace.High} {
		if err := submit(priority); err != millrace.ErrOverload {
			t.Error(priority, err)
		}
	}
	run(t, l)
}
