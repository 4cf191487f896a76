package tournament

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"millrace.dev/go/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// timeless are the cases and arms in which no single operation is timed.
var timeless = []string{"PingPong reused", "FDReady by the loop", "Queued100k", "Queued1M",
	"closure alone", "millrace SubmitBatch"}

func TestEachArmMeasures(t *testing.T) {
	for _, c := range Cases {
		for _, a := range c.Arms {
			t.Run(strings.ReplaceAll(c.Name+"/"+a.Name, " ", "_"), func(t *testing.T) {
				ops := min(max(c.Ops/500, 500), 2000)
				sample, err := a.Run(ops, 1)
				if err != nil {
					t.Fatal(err)
				}
				if sample["ns_per_op"] == 0 && sample["cpu_ns_per_op"] == 0 {
					t.Error("no time of an operation")
				}
				if sample["samples"] == 0 && !slices.Contains(timeless, c.Name) && !slices.Contains(timeless, a.Name) {
					t.Error("no percentiles")
				}
				for metric, value := range sample {
					zero := metric == "allocs_per_op" || metric == "bytes_per_op"
					if !(value > 0 || zero && value >= 0) || math.IsInf(value, 0) {
						t.Errorf("%s is %v", metric, value)
					}
				}
			})
		}
	}
}

func TestEachCaseNamesItsArmsOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases {
		for _, a := range c.Arms {
			key := c.Name + "/" + a.Name
			if seen[key] {
				t.Errorf("%s is there twice", key)
			}
			seen[key] = true
			if _, found, err := Find(c.Name, a.Name); err != nil || found.Name != a.Name {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	if _, _, err := Find("PingPong", "nobody"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an arm that there is not: %v", err)
	}
}

func TestPercentilesAreOfTheSortedTimes(t *testing.T) {
	times := make([]int64, 1000)
	for i := range times {
		times[i] = int64(1000 - i)
	}
	sample := Sample{}.addPercentiles(times)
	for metric, want := range (Sample{"p50_ns": 500, "p95_ns": 950, "p99_ns": 990, "p999_ns": 999, "samples": 1000}) {
		if sample[metric] != want {
			t.Errorf("%s is %v instead of %v", metric, sample[metric], want)
		}
	}
}

func TestAFailureOfACaseIsItsError(t *testing.T) {
	a := alone("fails", func(int) Sample {
		fail("%d went wrong", 1)
		return nil
	})
	if _, err := a.Run(1, 1); err == nil || err.Error() != "1 went wrong" {
		t.Errorf("the error is %v", err)
	}
}

func TestStabilityReportsEachTenth(t *testing.T) {
	var lines []Interval
	err := Stability(0.5, 1, func(line Interval) error {
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 10 {
		t.Fatalf("%d reports", len(lines))
	}
	tasks := int64(0)
	for _, line := range lines { // on a busy machine an interval may be too short for any task
		tasks += line.Tasks
		if line.HeapBytes == 0 || line.Goroutines == 0 {
			t.Errorf("nothing in %+v", line)
		}
	}
	if tasks == 0 {
		t.Error("no task has run")
	}
}

func TestStabilityEndsWithTheErrorOfItsReport(t *testing.T) {
	gone := errors.New("nobody reads")
	err := Stability(0.2, 1, func(Interval) error { return gone })
	if !errors.Is(err, gone) {
		t.Errorf("the error is %v", err)
	}
}
