//go:build unix

package eventloop_test

import (
	"runtime"
	"syscall"
	"testing"
)

// oursFirst alternates from pair to pair, whatever the first one leaves to the second.
var oursFirst bool

// Processor time of a callback in µs, collection of garbage included: ours and that of goja_nodejs, one after the other. Each run
// is a pair, so -count is the number of pairs, and the output has every one of them:
//
//	go test -run '^$' -bench Pairs -benchtime 1x -count 15 ./eventloop
func BenchmarkPairs(b *testing.B) {
	for _, workload := range workloads {
		b.Run(workload.name, func(b *testing.B) {
			measure := func(loop looper) float64 {
				runtime.GC()
				begin := processorTime(b)
				workload.run(b, loop, workload.n)
				return (processorTime(b) - begin) / float64(workload.n)
			}
			var ours, theirs float64
			oursFirst = !oursFirst
			for range b.N {
				if oursFirst {
					ours = measure(entrants[0].loop())
				}
				theirs = measure(entrants[2].loop())
				if !oursFirst {
					ours = measure(entrants[0].loop())
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours, "ours")
			b.ReportMetric(theirs, "theirs")
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
