// Package bench has the tournament's cases as benchmarks of package testing: go test -bench=PingPong/entrant=millrace.
package bench

import (
	"strings"
	"testing"

	"millrace.dev/go/bench/tournament"
)

func run(b *testing.B, name string) {
	for _, c := range tournament.Cases {
		if c.Name != name {
			continue
		}
		for _, arm := range c.Arms {
			b.Run("entrant="+strings.ReplaceAll(arm.Name, " ", "_"), func(b *testing.B) {
				b.ReportAllocs() // shows those of the sample
				sample, err := arm.Run(b.N, 1)
				if err != nil {
					b.Fatal(err)
				}
				for metric, value := range sample {
					b.ReportMetric(value, unit(metric))
				}
			})
		}
		return
	}
	b.Fatalf("there is no case %s", name)
}

// unit is what benchstat knows a metric by.
func unit(metric string) string {
	switch metric {
	case "ns_per_op":
		return "ns/op"
	case "bytes_per_op":
		return "B/op"
	case "allocs_per_op":
		return "allocs/op"
	}
	return strings.ReplaceAll(metric, "_", "-")
}

func BenchmarkPingPong(b *testing.B)              { run(b, "PingPong") }
func BenchmarkPingPongReused(b *testing.B)        { run(b, "PingPong reused") }
func BenchmarkPingPongLatency(b *testing.B)       { run(b, "PingPongLatency") }
func BenchmarkPingPongLatencyReused(b *testing.B) { run(b, "PingPongLatency reused") }
func BenchmarkMultiProducer10(b *testing.B)       { run(b, "MultiProducer10") }
func BenchmarkMultiProducer100(b *testing.B)      { run(b, "MultiProducer100") }
func BenchmarkBurstSubmit(b *testing.B)           { run(b, "BurstSubmit") }
func BenchmarkGCPressure(b *testing.B)            { run(b, "GCPressure") }
func BenchmarkAllocation(b *testing.B)            { run(b, "Allocation") }
func BenchmarkDo(b *testing.B)                    { run(b, "Do") }
func BenchmarkDoFresh(b *testing.B)               { run(b, "Do fresh") }
func BenchmarkMixed(b *testing.B)                 { run(b, "Mixed") }
func BenchmarkBursty(b *testing.B)                { run(b, "Bursty") }
func BenchmarkFDReady(b *testing.B)               { run(b, "FDReady") }
func BenchmarkFDReadyByTheLoop(b *testing.B)      { run(b, "FDReady by the loop") }
func BenchmarkFDIdle(b *testing.B)                { run(b, "FDIdle") }
func BenchmarkTimers(b *testing.B)                { run(b, "Timers") }
func BenchmarkMicrotasks(b *testing.B)            { run(b, "Microtasks") }
func BenchmarkPromises(b *testing.B)              { run(b, "Promises") }
func BenchmarkHundredMillion(b *testing.B)        { run(b, "HundredMillion") }
