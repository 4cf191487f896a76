package engine

import "time"

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
