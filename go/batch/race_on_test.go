//go:build race

package batch_test

// raceEnabled: sync.Pool drops at random what it is given, so that allocations cannot be counted.
const raceEnabled = true
