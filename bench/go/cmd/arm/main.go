// Command arm measures one arm of one case and prints what it found as a JSON object:
//
//	arm CASE ARM OPS SEED         OPS 0: as many as is usual for the case
//	arm list                      the cases, each with its arms
//	arm stability SECONDS SEED    see tournament.Stability
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"millrace.dev/go/bench/tournament"
)

const mostSeconds = 7 * 24 * 3600

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	out := json.NewEncoder(os.Stdout)
	switch {
	case len(args) == 1 && args[0] == "list":
		return out.Encode(list())
	case len(args) == 3 && args[0] == "stability":
		seconds, err := strconv.ParseFloat(args[1], 64)
		if err != nil || !(seconds > 0 && seconds <= mostSeconds) {
			return fmt.Errorf("SECONDS is %q; it must be more than 0 and at most %d", args[1], mostSeconds)
		}
		seed, err := strconv.ParseUint(args[2], 10, 64)
		if err != nil {
			return fmt.Errorf("SEED is %q: %w", args[2], err)
		}
		return tournament.Stability(seconds, seed, func(line tournament.Interval) error { return out.Encode(line) })
	case len(args) == 4:
		return measure(args[0], args[1], args[2], args[3], out)
	}
	return fmt.Errorf("usage: arm CASE ARM OPS SEED | arm list | arm stability SECONDS SEED")
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
