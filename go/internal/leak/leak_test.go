package leak

import (
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"
)

// recorder is a test of which Check sees the beginning and the end.
type recorder struct {
	testing.TB
	cleanup func()
	failed  bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Cleanup(fn func())     { r.cleanup = fn }
func (r *recorder) Errorf(string, ...any) { r.failed = true }

// impatient lets the test not wait for what does not end.
func impatient(t *testing.T) {
	before := patience
	patience = 0
	t.Cleanup(func() { patience = before })
}

func TestALeakIsFound(t *testing.T) {
	before := goroutines()
	end := make(chan struct{})
	go func() { <-end }()
	t.Run("at once", func(t *testing.T) {
		impatient(t)
		left := wait(before)
		if len(left) != 1 || !strings.Contains(left[0], "created by millrace.dev/go/internal/leak.TestALeakIsFound") {
			t.Errorf("a goroutine is left behind, and found were %q", left)
		}
		if left := wait(goroutines()); len(left) > 0 {
			t.Errorf("it was there before: %q", left)
		}
	})
	// One that is on its way out is waited for.
	time.AfterFunc(time.Millisecond, func() { close(end) })
	if left := wait(before); len(left) > 0 {
		t.Errorf("it has ended: %q", left)
	}
}

func TestCheckLooksWhenTheTestIsOver(t *testing.T) {
	impatient(t)
	for _, leaks := range []bool{true, false} {
		var r recorder
		Check(&r)
		end, ended := make(chan struct{}), make(chan struct{})
		go func() {
			<-end
			close(ended)
		}()
		if !leaks {
			close(end)
			<-ended
			patience = time.Minute
		}
		if r.cleanup(); r.failed != leaks {
			t.Error("failed:", r.failed, "a goroutine was left:", leaks)
		}
		if leaks {
			close(end)
			<-ended
		}
	}
}

// Only those of the runtime itself are passed over, and not whatever mentions them.
func TestWhatIsExpected(t *testing.T) {
	before := goroutines()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	if left := wait(before); len(left) > 0 {
		t.Errorf("the one that waits for signals is the runtime's: %q", left)
	}
	for stack, want := range map[string]bool{
		"goroutine 7 [running]:\nx.f()\n\t/x.go:1\ncreated by testing.(*F).Fuzz in goroutine 1\n\t/fuzz.go:1":    true,
		"goroutine 7 [running]:\nx.f()\n\t/x.go:1\ntesting.(*M).Run()\n\t/m.go:1\ncreated by x.g in goroutine 1": false,
		"goroutine 7 [running]:\ntesting.(*F).Fuzz()\n\t/x.go:1":                                                 false,
	} {
		if expected(stack) != want {
			t.Errorf("expected is %v for\n%s", !want, stack)
		}
	}
}
