//go:build unix

package batch_test

import (
	"syscall"
	"testing"
	"time"

	"millrace.dev/go/batch"
)

// BenchmarkHold is what a hold costs on a loop that has nothing else to do: each event is held for a ms, and its handler
// emits the next one. cpu-ns/op is the CPU time of the process.
func BenchmarkHold(b *testing.B) {
	loop := newLoop(b)
	e := newEmitter(b, loop, settings{Policy: batch.Fixed, MaxDelay: time.Millisecond})
	held := 0
	e.On("x", func(string) {
		if held++; held < b.N {
			emit(b, e, "x", "")
		}
	})
	submit(b, loop, func() { emit(b, e, "x", "") })
	b.ResetTimer()
	before := cpuTime(b)
	if err := loop.Run(background); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
	if holds := e.Stats().BatchTriggerTotal[batch.TriggerDelay]; holds != uint64(b.N) {
		b.Errorf("%d holds of %d", holds, b.N)
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
