package engine

import (
	"math"
	"time"
)

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
