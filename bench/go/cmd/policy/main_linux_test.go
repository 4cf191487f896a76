package main

import (
	"path/filepath"
	"testing"
	"time"

	"millrace.dev/go/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestEachWayLogsEveryRecord(t *testing.T) {
	for _, way := range []string{"direct", "end of turn", "fixed 5", "adaptive 5"} {
		t.Run(way, func(t *testing.T) {
			config, err := configOf(way)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "log")
			found, err := measure(config, 500, 20*time.Millisecond, 100*time.Millisecond, path)
			if err != nil {
				t.Fatal(err)
			}
			if !found.Complete {
				t.Error("the file does not have all records")
			}
			if found.MsgsPerSecond == 0 || found.P50 <= 0 {
				t.Errorf("%v records a second, after %v ms", found.MsgsPerSecond, found.P50)
			}
		})
	}
}

func TestFiguresAreOfTheMeasuredTime(t *testing.T) {
	const ms = time.Millisecond
	log := &durableLog{
		before:    moment{at: 1000 * ms, slept: 200 * ms},
		after:     moment{at: 3000 * ms, slept: 1700 * ms},
		latencies: []time.Duration{8 * ms, 2 * ms, 5 * ms, 1 * ms},
	}
	found, err := log.sample(true, 2*time.Second)
	want := sample{Complete: true, Cores: 0.25, BusyUsPerItem: 125_000, MsgsPerSecond: 2, P50: 5, P99: 8}
	if err != nil || found != want {
		t.Errorf("%+v, %v; want %+v", found, err, want)
	}
}

func TestRefusesArgumentsThatMeanNothing(t *testing.T) {
	for _, args := range [][]string{
		{"direct", "1", "1", "1"},
		{"fixed", "1", "1", "1", "log"},
		{"fixed soon", "1", "1", "1", "log"},
		{"end of turn 5", "1", "1", "1", "log"},
		{"direct", "0", "1", "1", "log"},
		{"direct", "1", "NaN", "1", "log"},
		{"direct", "1", "1", "-1", "log"},
	} {
		if err := run(args); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
