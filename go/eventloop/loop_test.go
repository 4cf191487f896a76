package eventloop

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"millrace.dev/go"
)

// made returns a loop that does not run, and is closed when the test is over.
func made(t testing.TB, config ...Config) *Loop {
	t.Helper()
	l, err := New(append(config, Config{})[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error("close:", err)
		}
	})
	return l
}

// cutShort makes a loop that the test closes before everything has run.
func cutShort(t *testing.T, config ...Config) *Loop {
	l, err := New(append(config, Config{})[0])
	must(t, err)
	t.Cleanup(func() {
		if err, left := l.Close(context.Background()), l.Left(); left != nil || !errors.Is(err, millrace.ErrClosed) {
			t.Error("close:", left, err)
		}
	})
	return l
}

// started returns a loop that runs until the test is over.
func started(t testing.TB, config ...Config) *Loop {
	t.Helper()
	l := made(t, config...)
	must(t, l.Start())
	return l
}

// submit insists.
func submit(l *Loop, task func()) {
	for l.Submit(task) != nil {
		runtime.Gosched()
	}
}

// run runs a loop until nothing keeps it alive.
func run(t testing.TB, l *Loop) {
	t.Helper()
	must(t, l.Run(context.Background()))
}

// do runs fn on the loop.
func do(t testing.TB, l *Loop, fn func()) {
	t.Helper()
	must(t, l.Do(context.Background(), fn))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asleep reports whether nobody runs the loop, so that Do is inline.
func asleep(l *Loop) bool { return l.state.Load() == nobody }

// settled waits until the loop sleeps.
func settled(t testing.TB, l *Loop) {
	t.Helper()
	must(t, l.Drain(context.Background()))
	for !asleep(l) {
		runtime.Gosched()
	}
}

// until waits for something about the loop that its mutex guards.
func until(l *Loop, condition func() bool) {
	for {
		l.mu.Lock()
		met := condition()
		l.mu.Unlock()
		if met {
			return
		}
		runtime.Gosched()
	}
}

// busy keeps the loop in a task until the function that it returns is called.
func busy(t testing.TB, l *Loop) (release func()) {
	t.Helper()
	entered, leave := make(chan struct{}), make(chan struct{})
	must(t, l.Submit(func() {
		close(entered)
		<-leave
	}))
	<-entered
	return func() { close(leave) }
}

// diary notes in which order things happen.
type diary struct{ lines []string }

func (d *diary) note(line string) { d.lines = append(d.lines, line) }

// write returns a task that notes a line.
func (d *diary) write(line string) func() { return func() { d.note(line) } }

func (d *diary) expect(t testing.TB, want ...string) {
	t.Helper()
	if !slices.Equal(d.lines, want) {
		t.Errorf("got  %v\nwant %v", d.lines, want)
	}
}
