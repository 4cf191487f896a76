// Command arm measures one arm of one case and prints what it found as a JSON object:
//
//	arm CASE ARM OPS SEED         OPS 0: as many as is usual for the case
//	arm list                      the cases, each with its arms
//	arm stability DURATION SEED RATE INTERVALS
//	                              see tournament.Stability; an object for each interval, then its summary. SIGINT and
//	                              SIGTERM end it early
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"millrace.dev/go/bench/tournament"
)

const (
	longest       = 7 * 24 * time.Hour
	fastest       = 100e6
	mostIntervals = 10_000
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	out := json.NewEncoder(stdout)
	switch {
	case len(args) == 1 && args[0] == "list":
		return out.Encode(list())
	case len(args) == 5 && args[0] == "stability":
		return stability(args[1], args[2], args[3], args[4], out)
	case len(args) == 4:
		return measure(args[0], args[1], args[2], args[3], out)
	}
	return fmt.Errorf("usage: arm CASE ARM OPS SEED | arm list | arm stability DURATION SEED RATE INTERVALS")
}

func stability(durationText, seedText, rateText, intervalsText string, out *json.Encoder) error {
	duration, err := time.ParseDuration(durationText)
	if err != nil || duration <= 0 || duration > longest {
		return fmt.Errorf("DURATION is %q; it must be more than 0 and at most %v, as 90s, 10m or 1h", durationText, longest)
	}
	seed, err := strconv.ParseUint(seedText, 10, 64)
	if err != nil {
		return fmt.Errorf("SEED is %q: %w", seedText, err)
	}
	rate, err := strconv.ParseFloat(rateText, 64)
	if err != nil || !(rate >= 0 && rate <= fastest) {
		return fmt.Errorf("RATE is %q; it must be from 0, for as many as the loop takes, to %.0f tasks a second",
			rateText, float64(fastest))
	}
	intervals, err := strconv.Atoi(intervalsText)
	if err != nil || intervals < 1 || intervals > mostIntervals {
		return fmt.Errorf("INTERVALS is %q; it must be from 1 to %d", intervalsText, mostIntervals)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	load := tournament.Load{Duration: duration, Seed: seed, Rate: rate, Intervals: intervals}
	summary, err := tournament.Stability(ctx, load, func(line tournament.Interval) error { return out.Encode(line) })
	if err != nil {
		return err
	}
	return out.Encode(summary)
}

func list() map[string]any {
	cases := []map[string]any{}
	for _, c := range tournament.Cases {
		arms := []string{}
		for _, a := range c.Arms {
			arms = append(arms, a.Name)
		}
		cases = append(cases, map[string]any{"name": c.Name, "arms": arms})
	}
	listed := tournament.Host()
	listed["cases"] = cases
	return listed
}

func measure(caseName, armName, opsText, seedText string, out *json.Encoder) error {
	c, arm, err := tournament.Find(caseName, armName)
	if err != nil {
		return err
	}
	ops, err := strconv.Atoi(opsText)
	if err != nil || ops < 0 {
		return fmt.Errorf("OPS is %q; it must be 0 or more", opsText)
	}
	if ops == 0 {
		ops = c.OpsOf(arm)
	}
	seed, err := strconv.ParseUint(seedText, 10, 64)
	if err != nil {
		return fmt.Errorf("SEED is %q: %w", seedText, err)
	}
	sample, err := arm.Run(ops, seed)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", caseName, armName, err)
	}
	return out.Encode(sample)
}
