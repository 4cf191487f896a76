package eventloop

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

// TestFiveMillionTasks submits that many from four goroutines that are held back by nothing but ErrOverload: each
// producer's tasks run in order, none is lost or run twice, and what the loop holds stays bounded. MILLRACE_TASKS sets
// another number; the long suite takes 100,000,000.
func TestFiveMillionTasks(t *testing.T) {
	const producers, maxQueue = 4, 1 << 16
	all := 5_000_000
	if raceEnabled {
		all = 500_000
	}
	if given := os.Getenv("MILLRACE_TASKS"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < producers {
			t.Fatalf("MILLRACE_TASKS=%q is not a number of tasks", given)
		}
		all = n
	}
	l := started(t, Config{MaxQueue: maxQueue})
	before := heap()
	began := time.Now()
	ran, most := 0, uint64(0)
	var next [producers]int
	var producing sync.WaitGroup
	refused := [producers]int{}
	check := func(p, i int) {
		if next[p] != i {
			t.Errorf("producer %d: task %d came when %d was next", p, i, next[p])
		}
		next[p]++
		if ran++; ran%(all/10) == 0 {
			// Among the tasks, with a queue that may be full.
			now := heap()
			most = max(most, now)
			passed := time.Since(began).Round(time.Millisecond)
			t.Logf("%3d %%: %d tasks, %v, %d KB", ran/(all/10)*10, ran, passed, now>>10)
		}
	}
	for p := range producers {
		producing.Go(func() {
			for i := range (all + p) / producers {
				task := func() { check(p, i) }
				for l.Submit(task) != nil {
					refused[p]++
					runtime.Gosched()
				}
			}
		})
	}
	producing.Wait()
	settled(t, l)
	passed := time.Since(began)
	do(t, l, func() {
		if ran != all {
			t.Errorf("%d of %d tasks ran", ran, all)
		}
		for p, n := range next {
			if want := (all + p) / producers; n != want {
				t.Errorf("producer %d: %d of %d", p, n, want)
			}
		}
	})
	s := l.Stats()
	if int(s.SubmittedTotal) != all || s.QueueDepth != 0 || int(s.RefusedTotal) != refused[0]+refused[1]+refused[2]+refused[3] {
		t.Errorf("%+v, refused %v", s, refused)
	}
	// A task that waits takes 8 bytes of a chunk, and 32 for its closure.
	if bound := before + maxQueue*(8+32) + 1<<20; most > bound {
		t.Errorf("%d KB were in use, more than %d KB", most>>10, bound>>10)
	}
	// With nothing in the queue only the chunks that are kept for reuse are left.
	if after, bound := heap(), before+2*sparesKept*(chunkSize*8+64)+1<<18; after > bound {
		t.Errorf("%d KB are in use in the end, more than %d KB", after>>10, bound>>10)
	}
	t.Logf("%d tasks in %v: %.1f ns each, %d times refused, at most %d KB in use", all, passed.Round(time.Millisecond),
		float64(passed.Nanoseconds())/float64(all), s.RefusedTotal, most>>10)
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A burst is gone from the heap when it has run, but for the chunks that are kept.
func TestABurstGivesItsChunksBack(t *testing.T) {
	l := started(t)
	settled(t, l)
	before := heap()
	release := busy(t, l)
	task := func() {}
	burst := 1_000_000
	if raceEnabled {
		burst = 100_000
	}
	for range burst {
		must(t, l.Submit(task))
	}
	if full := heap(); full < before+uint64(burst)*8 {
		t.Errorf("%d KB for %d tasks", (full-before)>>10, burst)
	}
	release()
	settled(t, l)
	// There were no spare ones before, so that producers have got none back.
	if spares := l.freed.Load().depth; spares != sparesKept {
		t.Error(spares, "chunks kept")
	}
	if after := heap(); after > before+2*sparesKept*(chunkSize*8+64)+1<<18 {
		t.Errorf("%d KB more than before", (after-before)>>10)
	}
	// They are used again: nothing is allocated for tasks now.
	n := testing.AllocsPerRun(10, func() {
		release := make(chan struct{})
		l.Submit(func() { <-release })
		for range sparesKept * chunkSize / 2 {
			l.Submit(task)
		}
		close(release)
		settled(t, l)
	})
	if n > 50 {
		t.Error(n, "allocations")
	}
}
