// Package leak tells tests of goroutines that outlive them.
package leak

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// Main runs the tests of a package and fails it if there are more goroutines afterwards than before.
func Main(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", stacks[:runtime.Stack(stacks, true)])
			code = 1
			break
		}
	}
	os.Exit(code)
}
