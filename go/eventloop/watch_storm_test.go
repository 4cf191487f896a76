//go:build linux

package eventloop

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"millrace.dev/go"
	"millrace.dev/go/internal/leak"
)

// Many connections, each with its own writer.
func TestWatchStorm(t *testing.T) {
	leak.Check(t)
	const connections, messages, size = 200, 100, 16
	l := started(t)
	var received [connections]int
	var open sync.WaitGroup
	open.Add(connections)
	for i := range connections {
		ours, theirs := socketPair(t)
		buffer := make([]byte, 5*size)
		var w *Watcher
		ready := make(chan struct{})
		w = watch(t, l, ours, Readable, func(Events) {
			<-ready
			n, err := syscall.Read(ours, buffer)
			if err != nil {
				t.Error(err)
			}
			if received[i] += n; received[i] == messages*size {
				w.Stop()
				open.Done()
			}
		})
		close(ready)
		go func() {
			message := make([]byte, size)
			for range messages {
				for {
					if _, err := syscall.Write(theirs, message); err != syscall.EAGAIN {
						break
					}
					runtime.Gosched()
				}
			}
		}()
	}
	open.Wait()
	do(t, l, func() {
		for i, n := range received {
			if n != messages*size {
				t.Errorf("connection %d: %d bytes of %d", i, n, messages*size)
			}
		}
	})
}

// A descriptor that is always ready, more tasks than a turn ends with, and immediates: each has its turn.
func TestAlwaysReadyStarvesNothing(t *testing.T) {
	leak.Check(t)
	for _, queued := range []int{1, 10, 300} {
		l := made(t)
		ours, _ := socketPair(t)
		const rounds = 100
		calls, tasks, immediates, timers := 0, 0, 0, 0
		sinceCall, mostTasks, sinceTask, mostCalls := 0, 0, 0, 0
		var w *Watcher
		w = watch(t, l, ours, Writable, func(Events) {
			calls++
			sinceTask++
			mostTasks, sinceCall = max(mostTasks, sinceCall), 0
			if calls >= rounds && tasks >= rounds && immediates >= rounds && timers >= 5 {
				w.Stop()
			}
		})
		var task, immediate, timer func()
		task = func() {
			tasks++
			sinceCall++
			mostCalls, sinceTask = max(mostCalls, sinceTask), 0
			if w.tag.Load() != 0 {
				l.Submit(task)
			}
		}
		immediate = func() {
			immediates++
			sinceTask = 0
			if w.tag.Load() != 0 {
				l.Immediate(immediate)
			}
		}
		timer = func() {
			timers++
			if w.tag.Load() != 0 {
				l.After(0, timer)
			}
		}
		for range queued {
			l.Submit(task)
		}
		l.Submit(func() { l.Immediate(immediate); timer() })
		run(t, l)
		if mostCalls > 1 {
			t.Errorf("%d queued: %d rounds of callbacks without a task or an immediate", queued, mostCalls)
		}
		if mostTasks > 65 {
			t.Errorf("%d queued: %d tasks between two rounds of callbacks", queued, mostTasks)
		}
	}
}

// New events again and again, rather than an old one: tasks still have their turn.
func TestEdgesDoNotStarveTasks(t *testing.T) {
	leak.Check(t)
	l := made(t)
	first, second := socketPair(t)
	calls, tasks, row, most := 0, 0, 0, 0
	var watchers []*Watcher
	// Each callback makes the other descriptor ready.
	pass := func(from, to int) func(Events) {
		return func(Events) {
			receive(t, from, 1)
			calls++
			row++
			most = max(most, row)
			if tasks > 1000 {
				watchers[0].Stop()
				watchers[1].Stop()
				return
			}
			send(t, from, "x")
		}
	}
	watchers = append(watchers, watch(t, l, first, Readable, pass(first, second)))
	watchers = append(watchers, watch(t, l, second, Readable, pass(second, first)))
	send(t, first, "x")
	var task func()
	task = func() {
		tasks++
		row = 0
		if watchers[0].tag.Load() != 0 {
			l.Submit(task)
		}
	}
	l.Submit(task)
	run(t, l)
	if most > 1 {
		t.Errorf("%d callbacks in a row", most)
	}
	if calls < 10 {
		t.Errorf("%d callbacks for %d tasks", calls, tasks)
	}
}

// HIGH tasks and timers come between two callbacks of one list.
func TestUrgentBetweenCallbacks(t *testing.T) {
	leak.Check(t)
	l := made(t)
	var got []string
	var watchers []*Watcher
	watchers, _ = pairs(t, l, 3, func(i int, _ Events) {
		got = append(got, "ready")
		watchers[i].Stop()
		l.Submit(func() { got = append(got, "task") })
		l.SubmitPriority(millrace.High, func() { got = append(got, "high") })
	})
	run(t, l)
	want := "ready high ready high ready high task task task"
	if joined := join(got); joined != want {
		t.Errorf("got  %s\nwant %s", joined, want)
	}
}

func join(words []string) (all string) {
	for i, word := range words {
		if i > 0 {
			all += " "
		}
		all += word
	}
	return all
}

// A callback that panics or ends its goroutine is used up; the others of the list follow.
func TestWatcherThatFails(t *testing.T) {
	leak.Check(t)
	var errs []error
	l := made(t, Config{OnError: func(err error) { errs = append(errs, err) }})
	calls := map[int]int{}
	var watchers []*Watcher
	watchers, _ = pairs(t, l, 30, func(i int, _ Events) {
		calls[i]++
		watchers[i].Stop()
		switch i % 3 {
		case 0:
			panic(i)
		case 1:
			runtime.Goexit()
		}
	})
	// Not run, for the testing package takes Goexit of its own goroutine amiss.
	must(t, l.Start())
	must(t, l.Drain(context.Background()))
	l.Stop()
	if len(calls) != 30 || len(errs) != 20 {
		t.Errorf("%d watchers called, %d errors", len(calls), len(errs))
	}
	for i, n := range calls {
		if n != 1 {
			t.Errorf("watcher %d: %d calls", i, n)
		}
	}
}

// Callers of Do own the loop again and again while descriptors become ready.
func TestWatchAndDo(t *testing.T) {
	leak.Check(t)
	l := started(t)
	const messages = 2000
	ours, theirs := socketPair(t)
	received := 0
	all := make(chan struct{})
	watch(t, l, ours, Readable, func(Events) {
		if received += len(receive(t, ours, 16)); received == messages {
			close(all)
		}
	})
	var stop atomic.Bool
	var callers sync.WaitGroup
	for range 2 {
		callers.Add(1)
		go func() {
			defer callers.Done()
			for !stop.Load() {
				do(t, l, func() { received += 0 })
			}
		}()
	}
	for range messages {
		send(t, theirs, "x")
		if rand.IntN(4) == 0 {
			giveChance(l)
		}
	}
	<-all
	stop.Store(true)
	callers.Wait()
	// While a caller owns the loop, an event waits for it, and no longer.
	do(t, l, func() { received = messages - 1; all = make(chan struct{}); send(t, theirs, "x") })
	<-all
}

// giveChance gives the loop a chance to fall asleep.
func giveChance(l *Loop) {
	for range 20 {
		if asleep(l) {
			return
		}
		runtime.Gosched()
	}
}

// Everything at once, from several goroutines, with Stop and Start in between: the race detector looks on, and nothing
// may be left over.
func TestWatchFromManyGoroutines(t *testing.T) {
	leak.Check(t)
	l := made(t)
	var stop atomic.Bool
	var workers sync.WaitGroup
	for range 3 {
		ours, theirs := socketPair(t)
		workers.Add(1)
		go func() {
			defer workers.Done()
			for !stop.Load() {
				var calls atomic.Int32
				w, err := l.Watch(ours, Readable|Writable, func(Events) { calls.Add(1) })
				if err != nil {
					t.Error(err)
					return
				}
				for range rand.IntN(8) {
					switch rand.IntN(5) {
					case 0:
						w.Unref()
					case 1:
						w.Ref()
					case 2:
						send(t, theirs, "x")
						receive(t, ours, 1)
					default:
						if err := w.Modify(Events(rand.IntN(8))); err != nil {
							t.Error(err)
						}
					}
				}
				if err := w.Stop(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for range 10 {
		if err := l.Start(); err != nil {
			t.Fatal(err)
		}
		do(t, l, func() {})
		l.Stop()
	}
	stop.Store(true)
	workers.Wait()
	if n := l.live.Load(); n != 0 {
		t.Error("live:", n)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Error(err)
	}
}
