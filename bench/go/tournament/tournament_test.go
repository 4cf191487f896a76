package tournament

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace.dev/go/bench/entrant"
	"millrace.dev/go/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// timeless are the cases and arms in which no single operation is timed.
var timeless = []string{"PingPong reused", "FDReady by the loop", "Queued100k", "Queued1M",
	"Microtasks", "Promises", "HundredMillion",
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
	if _, _, err := Find("PingPong", "nobody"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "goja_nodejs") {
		t.Errorf("an arm that there is not: %v", err)
	}
	if _, _, err := Find("Ping", ours); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "PingPong, ") {
		t.Errorf("a case that there is not: %v", err)
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

// backwards is a loop that runs its tasks, when there are so many, the other way round.
type backwards struct {
	entrant.Entrant
	many int

	mu   sync.Mutex
	held []func()
}

func (l *backwards) Submit(task func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, task)
	if len(l.held) < l.many {
		return nil
	}
	for _, task := range slices.Backward(l.held) {
		must(l.Entrant.Submit(task))
	}
	return nil
}

func TestNumberedTasksThatRunOutOfOrderEndTheCase(t *testing.T) {
	const ops = 2 * numbering
	start := func(int) (entrant.Entrant, error) {
		loop, err := entrant.NewMutex(0)
		return &backwards{Entrant: loop, many: ops}, err
	}
	_, err := arm("backwards", numbered, start).Run(ops, 1)
	if want := "8 of 8 tasks have run, 8 out of order"; err == nil || err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}

func TestStabilityReportsEachTenth(t *testing.T) {
	var lines []Interval
	summary, err := Stability(t.Context(), Load{Duration: 500 * time.Millisecond, Seed: 1}, func(line Interval) error {
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
	if tasks == 0 || tasks > summary.Ran || summary.Accepted != summary.Ran || summary.Stopped {
		t.Errorf("%d tasks in intervals, %+v", tasks, summary)
	}
}

func TestStabilityKeepsToItsRate(t *testing.T) {
	const rate, seconds = 2000, 1
	summary, err := Stability(t.Context(), Load{Duration: seconds * time.Second, Seed: 1, Rate: rate, Intervals: 1},
		func(Interval) error { return nil })
	// Each producer may be a burst ahead: of 200 calls, all of which might be batches of 99.
	if most := int64(rate*seconds + loaders*200*99); err != nil || summary.Ran > most {
		t.Errorf("%d tasks have run, %d are the most: %v", summary.Ran, most, err)
	}
}

func TestStabilityThatIsStoppedReportsWhatItHas(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var lines []Interval
	summary, err := Stability(ctx, Load{Duration: time.Hour, Seed: 1, Rate: 1000, Intervals: 3_600_000},
		func(line Interval) error {
			lines = append(lines, line)
			if len(lines) == 3 {
				stop()
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 3 || !summary.Stopped || summary.Accepted != summary.Ran {
		t.Errorf("%d intervals, %+v", len(lines), summary)
	}
}

func TestStabilityEndsWithTheErrorOfItsReport(t *testing.T) {
	gone := errors.New("nobody reads")
	_, err := Stability(t.Context(), Load{Duration: 200 * time.Millisecond, Seed: 1}, func(Interval) error { return gone })
	if !errors.Is(err, gone) {
		t.Errorf("the error is %v", err)
	}
}
