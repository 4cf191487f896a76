//go:build unix

package eventloop_test

import (
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// Processor time of a callback in µs, collection of garbage included: ours and that of goja_nodejs in turn, in pairs
// whose first alternates. Medians of the pairs; the ratio is theirs by ours, that of each pair for itself.
//
//	go test -run '^$' -bench Pairs -benchtime 1x ./eventloop
func BenchmarkPairs(b *testing.B) {
	const pairs = 15
	for _, workload := range workloads {
		b.Run(workload.name, func(b *testing.B) {
			measure := func(loop looper) float64 {
				runtime.GC()
				begin := processorTime(b)
				workload.run(b, loop, workload.n)
				return (processorTime(b) - begin) / float64(workload.n)
			}
			var ours, theirs, ratios []float64
			for pair := range pairs * b.N {
				var us, them float64
				if pair%2 == 0 {
					us = measure(entrants[0].loop())
				}
				them = measure(entrants[2].loop())
				if pair%2 == 1 {
					us = measure(entrants[0].loop())
				}
				ours, theirs, ratios = append(ours, us), append(theirs, them), append(ratios, them/us)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(ours), "ours")
			b.ReportMetric(median(theirs), "theirs")
			b.ReportMetric(median(ratios), "theirs/ours")
		})
	}
}

// processorTime is that of the process so far, in µs.
func processorTime(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1000
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
