// Package tournament holds the cases in which the entrants are compared.
package tournament

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// A Sample is what one arm of a case measured, by metric:
//
//	ns_per_op, bytes_per_op, allocs_per_op   time and allocation of an operation
//	p50_ns, p95_ns, p99_ns, p999_ns          how long one takes, by the clock
//	cpu_ns_per_op                            processor time of the whole process
//	retained_bytes_per_op                    what is still in use when all is done
//	samples                                  how many measurements the percentiles are of
type Sample map[string]float64

var origin = time.Now()

// now is the monotonic time in nanoseconds.
func now() int64 { return int64(time.Since(origin)) }

// timed measures work that does ops operations, after a warm-up with a tenth of them.
func timed(ops int, work func(ops int)) Sample {
	work(max(ops/10, 1))
	return timedCold(ops, work)
}

func timedCold(ops int, work func(ops int)) Sample {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	work(ops)
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	return Sample{
		"ns_per_op":     float64(elapsed) / float64(ops),
		"bytes_per_op":  float64(after.TotalAlloc-before.TotalAlloc) / float64(ops),
		"allocs_per_op": float64(after.Mallocs-before.Mallocs) / float64(ops),
	}
}

// addPercentiles adds those of times in nanoseconds, which it sorts.
func (s Sample) addPercentiles(times []int64) Sample {
	if len(times) == 0 {
		return s
	}
	slices.Sort(times)
	at := func(share float64) float64 {
		rank := int(math.Ceil(share * float64(len(times))))
		return float64(max(times[max(rank, 1)-1], 1))
	}
	s["p50_ns"], s["p95_ns"], s["p99_ns"], s["p999_ns"] = at(0.5), at(0.95), at(0.99), at(0.999)
	s["samples"] = float64(len(times))
	return s
}
