// Package leak tells tests of goroutines that outlive them.
package leak

import (
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines that are on their way out are waited for.
var patience = time.Minute

// Main runs the tests of a package and then fails it if goroutines are left that were not there before.
func Main(m *testing.M) {
	before := goroutines()
	code := m.Run()
	if left := wait(before); code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines left behind:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// Check fails the test if it ends with goroutines that were not there when Check was called. Not for parallel tests.
func Check(t testing.TB) {
	t.Helper()
	before := goroutines()
	t.Cleanup(func() {
		if left := wait(before); len(left) > 0 {
			t.Errorf("%d goroutines left behind:\n\n%s", len(left), strings.Join(left, "\n\n"))
		}
	})
}

// wait returns the stacks of goroutines that were not there before and do not end in time.
func wait(before map[string]string) []string {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		var left []string
		for id, stack := range goroutines() {
			if _, there := before[id]; !there && !expected(stack) {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// goroutines returns the stack of each goroutine by its number.
func goroutines() map[string]string {
	var text strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&text, 2)
	all := map[string]string{}
	for stack := range strings.SplitSeq(strings.TrimSpace(text.String()), "\n\n") {
		id, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		all[id] = stack
	}
	return all
}

// expected are goroutines that the runtime and the testing package keep for themselves, by the function that began
// each, and the one that asks.
func expected(stack string) bool {
	if strings.Contains(stack, "internal/leak.goroutines(") {
		return true
	}
	_, creator, _ := strings.Cut(stack, "\ncreated by ")
	return slices.ContainsFunc([]string{
		"testing.(*F).Fuzz", "testing.runFuzz", "os/signal.Notify.func", "runtime/pprof.StartCPUProfile", "runtime/trace.",
	}, func(name string) bool { return strings.HasPrefix(creator, name) })
}
