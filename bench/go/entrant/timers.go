package entrant

import (
	"container/heap"
	"math"
	"time"
)

// timers are those of a loop, which alone touches them: a heap by the time at which they are due, and by the order in
// which they were set where that is the same.
type timers struct {
	heap timerHeap
	last uint64
}

type timer struct {
	due      time.Duration // since the start of the process
	number   uint64
	place    int // in the heap; below 0: in none
	callback func()
}

var processStart = time.Now()

// uptime is the monotonic clock.
func uptime() time.Duration { return time.Since(processStart) }

func newTimer(delay time.Duration, callback func()) *timer {
	return &timer{due: uptime() + delay, place: -1, callback: callback}
}

func (t *timers) add(one *timer) {
	t.last++
	one.number = t.last
	heap.Push(&t.heap, one)
}

// remove takes one out that has not been taken out yet.
func (t *timers) remove(one *timer) {
	if one.place >= 0 {
		heap.Remove(&t.heap, one.place)
	}
}

// take returns the next one that is due, or nil.
func (t *timers) take(now time.Duration) *timer {
	if len(t.heap) == 0 || t.heap[0].due > now {
		return nil
	}
	return heap.Pop(&t.heap).(*timer)
}

// run calls back those that were due at that time, each followed by after.
func (t *timers) run(now time.Duration, after func()) {
	for one := t.take(now); one != nil; one = t.take(now) {
		safely(one.callback)
		after()
	}
}

// wait is the timeout of a poll in milliseconds, rounded up: a timer that fires early has not fired.
func (t *timers) wait() int {
	if len(t.heap) == 0 {
		return forever
	}
	left := t.heap[0].due - uptime()
	return int(min((max(left, 0)+time.Millisecond-1)/time.Millisecond, math.MaxInt32))
}

// timerHeap implements heap.Interface.
type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }

func (h timerHeap) Less(i, j int) bool {
	if h[i].due != h[j].due {
		return h[i].due < h[j].due
	}
	return h[i].number < h[j].number
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *timerHeap) Push(one any) {
	one.(*timer).place = len(*h)
	*h = append(*h, one.(*timer))
}

func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	one.place = -1
	return one
}
