package entrant

import (
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"millrace.dev/go/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// all calls test for each entrant, with a loop of its own and a check that the loop leaves no goroutine.
func all(t *testing.T, test func(t *testing.T, loop Entrant)) {
	t.Helper()
	for _, each := range All {
		t.Run(strings.ReplaceAll(each.Name, " ", "_"), func(t *testing.T) {
			loop, err := each.New(0)
			if err != nil {
				t.Fatal(err)
			}
			test(t, loop)
		})
	}
}

// designOf is the design of the entrant whose subtest this is.
func designOf(t *testing.T) string {
	t.Helper()
	for _, each := range All {
		if strings.HasSuffix(t.Name(), "/"+strings.ReplaceAll(each.Name, " ", "_")) {
			return each.Design
		}
	}
	t.Fatalf("%s is of no entrant", t.Name())
	return ""
}

func submit(t *testing.T, loop Entrant, task func()) {
	t.Helper()
	if err := loop.Submit(task); err != nil {
		t.Error(err)
	}
}

func closed(t *testing.T, loop Entrant) {
	t.Helper()
	if err := loop.Close(); err != nil {
		t.Error(err)
	}
}

func TestEachTaskRunsOnceInTheOrderOfItsProducer(t *testing.T) {
	const producers, tasks = 4, 2000
	all(t, func(t *testing.T, loop Entrant) {
		var last [producers]int // of the loop alone, which the race detector holds it to
		disorder := 0
		var all sync.WaitGroup
		for producer := range producers {
			all.Go(func() {
				for number := 1; number <= tasks; number++ {
					submit(t, loop, func() {
						if last[producer] != number-1 {
							disorder++
						}
						last[producer] = number
					})
				}
			})
		}
		all.Wait()
		closed(t, loop)
		for producer, number := range last {
			if number != tasks || disorder > 0 {
				t.Fatalf("producer %d: the last task was %d of %d; %d out of order", producer, number, tasks, disorder)
			}
		}
	})
}

func TestASleepingLoopWakesForEachTask(t *testing.T) {
	all(t, func(t *testing.T, loop Entrant) {
		for range 300 {
			done := make(chan struct{})
			submit(t, loop, func() { close(done) })
			<-done
		}
		closed(t, loop)
	})
}

func TestTasksThatWaitMayBeMany(t *testing.T) {
	const tasks = 50_000
	for _, each := range All {
		loop, err := each.New(tasks + 1)
		if err != nil {
			t.Fatal(err)
		}
		started, gate := make(chan struct{}), make(chan struct{})
		submit(t, loop, func() {
			close(started)
			<-gate
		})
		<-started
		n := 0
		for range tasks {
			submit(t, loop, func() { n++ })
		}
		close(gate)
		closed(t, loop)
		if n != tasks {
			t.Errorf("%s: %d of %d ran", each.Name, n, tasks)
		}
	}
}

func TestNativeTasks(t *testing.T) {
	all(t, func(t *testing.T, loop Entrant) {
		defer closed(t, loop)
		native, ok := loop.(Native)
		if !ok {
			return
		}
		var n atomic.Int64
		var wg sync.WaitGroup
		wg.Add(3)
		again := loop.(Preparer).Prepare(func() { wg.Done() })
		done := make(chan struct{})
		for i, err := range []error{native.Count(&n, &wg), again(), again(), native.Signal(done)} {
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		wg.Wait()
		<-done
		if n.Load() != 1 {
			t.Errorf("counted %d", n.Load())
		}
	})
}

func TestWatchersCallBackWhileTheDescriptorIsReadable(t *testing.T) {
	all(t, func(t *testing.T, loop Entrant) {
		defer closed(t, loop)
		watcher, ok := loop.(Watcher)
		if !ok {
			return
		}
		ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(ends[0])
		defer syscall.Close(ends[1])
		got := make(chan byte, 2)
		stop, err := watcher.Watch(ends[0], func() {
			var one [1]byte
			if n, _ := syscall.Read(ends[0], one[:]); n == 1 {
				got <- one[0]
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"a", "bc"} { // of two bytes it is told twice
			if _, err := syscall.Write(ends[1], []byte(text)); err != nil {
				t.Fatal(err)
			}
			for _, want := range []byte(text) {
				if b := <-got; b != want {
					t.Fatalf("read %c instead of %c", b, want)
				}
			}
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTimersDoNotFireEarly(t *testing.T) {
	each(t, func(t *testing.T, loop Entrant, timer Timer) {
		fired := make(chan time.Time, 1)
		start := time.Now()
		if _, err := timer.After(20*time.Millisecond, func() { fired <- time.Now() }); err != nil {
			t.Fatal(err)
		}
		if at := <-fired; at.Sub(start) < 20*time.Millisecond {
			t.Errorf("fired after %v", at.Sub(start))
		}
		closed(t, loop)
	})
}
