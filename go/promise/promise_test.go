package promise_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
	"millrace.dev/go/promise"
)

var errNo = errors.New("no")

// await waits with the background context.
func await[T any](t testing.TB, p *promise.Promise[T]) (T, error) {
	t.Helper()
	return p.Await(context.Background())
}

func TestAPromiseIsSettledOnce(t *testing.T) {
	l := startedLoop(t)
	p, resolve, reject := promise.New[int](l)
	if p.State() != promise.Pending {
		t.Error("made:", p.State())
	}
	resolve(1)
	resolve(2)
	reject(errNo)
	if v, err := await(t, p); v != 1 || err != nil || p.State() != promise.Fulfilled {
		t.Error(v, err, p.State())
	}
	p, resolve, reject = promise.New[int](l)
	reject(errNo)
	resolve(2)
	if v, err := await(t, p.Catch(func(err error) (int, error) { return 3, nil })); v != 3 || err != nil {
		t.Error(v, err)
	}
	if v, err := await(t, p); v != 0 || err != errNo || p.State() != promise.Rejected {
		t.Error(v, err, p.State())
	}
}

func TestReactionsNeverRunInTheCallThatCausesThem(t *testing.T) {
	l := newLoop(t)
	var lines []string
	check(t, l.Submit(func() {
		p, resolve, _ := promise.New[int](l)
		note := func(v int) (int, error) { lines = append(lines, fmt.Sprint("then ", v)); return v + 1, nil }
		promise.Then(promise.Then(p, note), note)
		resolve(1)
		lines = append(lines, "resolved")
		promise.Then(p, note)
		lines = append(lines, "attached")
	}))
	check(t, l.Submit(func() { lines = append(lines, "next task") }))
	check(t, l.Run(context.Background()))
	if want := []string{"resolved", "attached", "then 1", "then 1", "then 2", "next task"}; !slices.Equal(lines, want) {
		t.Errorf("got  %v\nwant %v", lines, want)
	}
}

func TestHandlersThatFailReject(t *testing.T) {
	// The loop tells of the goroutine that Goexit ended, too.
	var reported []error
	l := newLoop(t, eventloop.Config{OnError: func(err error) { reported = append(reported, err) }})
	check(t, l.Start())
	fails := map[string]func(){
		"panic":   func() { panic(errNo) },
		"nil":     func() { panic(nil) },
		"runtime": func() { var none []int; _ = none[len(none)] },
		"Goexit":  runtime.Goexit,
	}
	for name, fail := range fails {
		one := promise.Resolve(l, 1)
		promises := []*promise.Promise[int]{
			promise.Then(one, func(int) (int, error) { fail(); return 0, nil }),
			promise.Chain(one, func(int) *promise.Promise[int] { fail(); return nil }),
			promise.Reject[int](l, errNo).Catch(func(error) (int, error) { fail(); return 0, nil }),
			one.Finally(fail),
			promise.Async(l, func() (int, error) { fail(); return 0, nil }),
		}
		for i, p := range promises {
			_, err := await(t, p)
			var panicked *millrace.PanicError
			switch {
			case name == "Goexit" && err != millrace.ErrGoexit, name != "Goexit" && !errors.As(err, &panicked):
				t.Errorf("%s %d: %v", name, i, err)
			case name == "panic" && !errors.Is(err, errNo):
				t.Errorf("%s %d: %v does not wrap what it panicked with", name, i, err)
			}
		}
	}
	ended := 0
	on(t, l, func() {
		for _, err := range reported {
			if err == millrace.ErrGoexit {
				ended++
			}
		}
	})
	if ended != 4 {
		t.Errorf("reported %v, not four times that a handler has ended its goroutine", reported)
	}
}

func TestBadInputOfPromises(t *testing.T) {
	l := startedLoop(t)
	one := promise.Resolve(l, 1)
	no := func() *promise.Promise[int] { return promise.Reject[int](l, errNo) }
	var itself *promise.Promise[int]
	on(t, l, func() {
		itself = promise.Chain(one, func(int) *promise.Promise[int] { return itself })
		itself.Catch(func(error) (int, error) { return 0, nil })
	})
	for _, c := range []struct {
		p    *promise.Promise[int]
		want error
	}{
		{promise.Then[int, int](one, nil), eventloop.ErrNilTask},
		{promise.Then[int, int](no(), nil), errNo},
		{promise.Chain[int, int](one, nil), eventloop.ErrNilTask},
		{promise.Chain[int, int](no(), nil), errNo},
		{promise.Chain(one, func(int) *promise.Promise[int] { return nil }), promise.ErrNilPromise},
		{no().Catch(nil), eventloop.ErrNilTask},
		{one.Finally(nil), eventloop.ErrNilTask},
		{promise.Async[int](l, nil), eventloop.ErrNilTask},
		{promise.Reject[int](l, nil), promise.ErrNoReason},
		{promise.Race(l, nil, one), promise.ErrNilPromise},
		{itself, promise.ErrCycle},
	} {
		if _, err := await(t, c.p); err != c.want {
			t.Errorf("%v instead of %v", err, c.want)
		}
	}
	if _, err := await(t, promise.All(l, one, nil)); err != promise.ErrNilPromise {
		t.Error(err)
	}
	if v, err := await(t, promise.Any(l, nil, one)); v != 1 || err != nil {
		t.Error(v, err)
	}
	if v, err := await(t, one.Catch(nil)); v != 1 || err != nil {
		t.Error(v, err)
	}
}

func TestAnErrorOfAHandlerLeavesNoValue(t *testing.T) {
	l := startedLoop(t)
	p := promise.Then(promise.Resolve(l, 1), func(int) (int, error) { return 7, errNo })
	if v, err := await(t, p); v != 0 || err != errNo {
		t.Error(v, err)
	}
}

func TestAny(t *testing.T) {
	l := startedLoop(t)
	other := errors.New("other")
	p := promise.Any(l, promise.Reject[int](l, errNo), promise.Reject[int](l, other))
	_, err := await(t, p)
	var all *promise.AggregateError
	if !errors.As(err, &all) || !slices.Equal(all.Errors, []error{errNo, other}) {
		t.Fatal(err)
	}
	if !errors.Is(err, errNo) || !errors.Is(err, other) {
		t.Error(err, "does not wrap both")
	}
	if _, err := await(t, promise.Any[int](l)); !errors.As(err, &all) || len(all.Errors) > 0 || err.Error() == "" {
		t.Error(err)
	}
}

func TestAwait(t *testing.T) {
	l := startedLoop(t)
	p, resolve, _ := promise.New[int](l)
	check(t, l.Do(context.Background(), func() {
		if _, err := p.Await(context.Background()); err != eventloop.ErrInside {
			t.Error("inside:", err)
		}
	}))
	ended, cancel := context.WithCancel(context.Background())
	var waiters sync.WaitGroup
	waiters.Go(func() {
		if _, err := p.Await(ended); err != context.Canceled {
			t.Error("ctx:", err)
		}
	})
	cancel()
	waiters.Wait()
	if _, err := p.Await(ended); err != context.Canceled {
		t.Error("ctx that has ended:", err)
	}
	for range 4 {
		waiters.Go(func() {
			if v, err := await(t, p); v != 1 || err != nil {
				t.Error(v, err)
			}
		})
	}
	resolve(1)
	waiters.Wait()
	if v, err := p.Await(ended); v != 1 || err != nil {
		t.Error("settled:", v, err)
	}
}

func TestAwaitNeedsNoLoopThatRuns(t *testing.T) {
	l := newLoop(t)
	if v, err := await(t, promise.Async(l, func() (int, error) { return 1, nil })); v != 1 || err != nil {
		t.Error(v, err)
	}
}

func TestAwaitEndsWithTheLoop(t *testing.T) {
	l := startedLoop(t)
	p, resolve, _ := promise.New[int](l)
	q := promise.Then(p, func(int) (int, error) { t.Error("a reaction after Close"); return 0, nil })
	failed := make(chan error)
	go func() {
		_, err := await(t, q)
		failed <- err
	}()
	err := l.Close(context.Background())
	check(t, err)
	if err := <-failed; err != millrace.ErrClosed {
		t.Error(err)
	}
	if _, err := await(t, p); err != millrace.ErrClosed {
		t.Error(err)
	}
	resolve(1)
	if v, err := await(t, p); v != 1 || err != nil {
		t.Error("settled after Close:", v, err)
	}
	if l.Stats().QueueDepth != 0 || l.Alive() {
		t.Error("a closed loop has taken a task")
	}
	if _, err := await(t, promise.Then(p, func(int) (int, error) { return 0, nil })); err != millrace.ErrClosed {
		t.Error("attached after Close:", err)
	}
	for _, p := range []*promise.Promise[struct{}]{
		promise.Sleep(l, 0), promise.Async(l, func() (struct{}, error) { t.Error("run"); return struct{}{}, nil }),
		promise.Resolve(l, struct{}{}).Timeout(time.Hour),
	} {
		if _, err := await(t, p); err != millrace.ErrClosed {
			t.Error("on a closed loop:", err)
		}
	}
}

// The task that passes reactions on may be among those that Close returns.
func TestWhatCloseReturnsOfPromisesDoesNothing(t *testing.T) {
	l, err := eventloop.New(eventloop.Config{})
	check(t, err)
	for i := range 2 {
		p, resolve, _ := promise.New[int](l)
		promise.Then(p, func(int) (int, error) { t.Error("a reaction outside the loop"); return 0, nil })
		resolve(i)
		defer func() {
			if v, err := await(t, p); v != i || err != nil {
				t.Error(v, err)
			}
		}()
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	err, left := l.Close(ended), l.Left()
	if len(left) != 2 || err != context.Canceled {
		t.Fatal(len(left), err)
	}
	// Not even at the same time, which the race detector looks at.
	var both sync.WaitGroup
	both.Go(left[0])
	both.Go(left[1])
	both.Wait()
}

// What another goroutine settles while the loop is being closed is not passed on, until the loop itself looks at it.
func TestSettledWhileTheLoopIsBeingClosed(t *testing.T) {
	l := startedLoop(t)
	p, resolve, _ := promise.New[int](l)
	entered, settled := make(chan struct{}), make(chan struct{})
	var lines []string
	note := func(line string) func(int) (int, error) {
		return func(v int) (int, error) { lines = append(lines, line); return v, nil }
	}
	check(t, l.Submit(func() {
		close(entered)
		<-settled
		lines = append(lines, p.State().String())
	}))
	promise.Then(p, note("attached before"))
	check(t, l.Submit(func() { promise.Then(p, note("attached inside")) }))
	<-entered
	var closing sync.WaitGroup
	closing.Go(func() {
		if err, left := l.Close(context.Background()), l.Left(); len(left) > 0 || err != nil {
			t.Error(len(left), err)
		}
	})
	for l.Submit(func() {}) != millrace.ErrClosed {
		runtime.Gosched()
	}
	resolve(1)
	close(settled)
	closing.Wait()
	if want := []string{"fulfilled", "attached before", "attached inside"}; !slices.Equal(lines, want) {
		t.Errorf("got %v, want %v", lines, want)
	}
}

func TestAFullQueueDoesNotRefuseResults(t *testing.T) {
	l := newLoop(t, eventloop.Config{MaxQueue: 1})
	var lines []string
	check(t, l.Submit(func() { lines = append(lines, "task") }))
	for i := range 3 {
		p, resolve, _ := promise.New[int](l)
		promise.Then(p, func(v int) (int, error) { lines = append(lines, fmt.Sprint(v)); return v, nil })
		resolve(i)
	}
	if err := l.Submit(func() {}); err != millrace.ErrOverload {
		t.Error(err)
	}
	if n, err := l.SubmitBatch([]func(){func() {}}); n != 0 || err != millrace.ErrOverload {
		t.Error(n, err)
	}
	check(t, l.Run(context.Background()))
	if want := []string{"task", "0", "1", "2"}; !slices.Equal(lines, want) {
		t.Errorf("got %v, want %v", lines, want)
	}
}

// Settling from outside is in order with the tasks of the goroutine, and its microtasks follow it.
func TestResultsFromOutsideAreTasksOfTheirOwn(t *testing.T) {
	l := newLoop(t)
	var lines []string
	note := func(line string) func() { return func() { lines = append(lines, line) } }
	p, resolve, _ := promise.New[string](l)
	q := promise.Then(p, func(v string) (string, error) { note(v)(); return "second", nil })
	promise.Then(q, func(v string) (string, error) { note(v)(); return "", nil })
	check(t, l.Submit(note("before")))
	resolve("first")
	check(t, l.Submit(note("after")))
	// A task sees that it is settled, but those that came earlier come first.
	promise.Then(p, func(string) (string, error) { note("attached outside")(); return "", nil })
	if n := l.Stats().QueueDepth; n != 3 {
		t.Error(n, "tasks wait: there is to be one for the promise, whatever is attached")
	}
	check(t, l.SubmitPriority(millrace.High, func() {
		note(p.State().String())()
		promise.Then(p, func(string) (string, error) { note("attached inside")(); return "", nil })
	}))
	check(t, l.Run(context.Background()))
	want := []string{"fulfilled", "before", "first", "attached outside", "attached inside", "second", "after"}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %v\nwant %v", lines, want)
	}
}

func TestUnhandledRejections(t *testing.T) {
	var told []error
	l := newLoop(t, eventloop.Config{OnRejection: func(reason error) { told = append(told, reason) }})
	late := errors.New("late")
	check(t, l.Submit(func() {
		promise.Reject[int](l, errNo)
		// In time: in the same task, in a microtask of it, and in a tick of that.
		promise.Reject[int](l, errNo).Catch(func(error) (int, error) { return 0, nil })
		p := promise.Reject[int](l, errNo)
		q := promise.Reject[int](l, errNo)
		check(t, l.Microtask(func() {
			p.Catch(func(error) (int, error) { return 0, nil })
			check(t, l.NextTick(func() { q.Catch(func(error) (int, error) { return 0, nil }) }))
		}))
		r := promise.Reject[int](l, late)
		_, err := l.Immediate(func() { r.Catch(func(error) (int, error) { return 0, nil }) })
		check(t, err)
	}))
	check(t, l.Run(context.Background()))
	if want := []error{errNo, late}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	// Once only, and from outside too.
	told = nil
	promise.Reject[int](l, errNo)
	promise.Async(l, func() (int, error) { return 0, late })
	promise.Reject[int](l, errNo).Catch(func(error) (int, error) { return 0, nil })
	check(t, l.Run(context.Background()))
	check(t, l.Run(context.Background()))
	if want := []error{errNo, late}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if errs := l.Stats().ErrorsTotal; errs != 4 {
		t.Error(errs, "errors were counted")
	}
}

// Whoever makes a promise outside a loop that runs cannot attach a handler in time, and need not.
func TestRejectionsOfOtherGoroutinesAreTheirs(t *testing.T) {
	var told []error
	l := newLoop(t, eventloop.Config{OnRejection: func(reason error) { told = append(told, reason) }})
	check(t, l.Start())
	p := promise.Reject[int](l, errNo)
	q := promise.Then(p, func(int) (int, error) { return 0, nil })
	r := promise.Then(promise.Resolve(l, 0), func(int) (int, error) { panic("loud") })
	on(t, l, func() {
		// Made inside, so this one counts.
		promise.Then(q, func(int) (int, error) { return 0, nil })
	})
	if _, err := await(t, q); err != errNo {
		t.Error(err)
	}
	check(t, l.Drain(context.Background()))
	on(t, l, func() {
		var panicked *millrace.PanicError
		if len(told) != 2 || !errors.As(told[0], &panicked) || told[1] != errNo {
			t.Error(told)
		}
		if r.State() != promise.Rejected {
			t.Error(r.State())
		}
	})
}

func TestUnhandledRejectionsGoToTheErrorHandler(t *testing.T) {
	var told []error
	l := newLoop(t, eventloop.Config{OnError: func(err error) { told = append(told, err) }})
	check(t, l.Submit(func() { promise.Reject[int](l, errNo) }))
	check(t, l.Run(context.Background()))
	if len(told) != 1 || !errors.Is(told[0], millrace.ErrUnhandled) || !errors.Is(told[0], errNo) {
		t.Error(told)
	}
}

func TestAHookForRejectionsThatPanicsIsReported(t *testing.T) {
	var told []error
	l := newLoop(t, eventloop.Config{
		OnError:     func(err error) { told = append(told, err) },
		OnRejection: func(reason error) { panic(reason) },
	})
	ran := false
	check(t, l.Submit(func() { promise.Reject[int](l, errNo) }))
	check(t, l.Submit(func() { ran = true }))
	check(t, l.Run(context.Background()))
	if len(told) != 1 || !errors.Is(told[0], errNo) || !ran {
		t.Error(told, ran)
	}
}

func TestAsyncKeepsTheLoopAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t)
		start, got := time.Now(), 0
		check(t, l.Submit(func() {
			p := promise.Async(l, func() (int, error) { time.Sleep(time.Second); return 1, nil })
			promise.Then(p, func(v int) (int, error) {
				if !l.Inside() {
					t.Error("a reaction outside the loop")
				}
				got = v
				return v, nil
			})
		}))
		check(t, l.Run(context.Background()))
		if got != 1 || time.Since(start) != time.Second {
			t.Error("Run has returned after", time.Since(start), "with", got)
		}
	})
}

func TestPendingPromisesDoNotKeepTheLoopAlive(t *testing.T) {
	l := newLoop(t)
	check(t, l.Submit(func() {
		p, _, _ := promise.New[int](l)
		promise.Then(p, func(int) (int, error) { return 0, nil })
	}))
	check(t, l.Run(context.Background()))
	if l.Alive() {
		t.Error("alive")
	}
}

func TestPromisesOfSeveralLoops(t *testing.T) {
	a, b := startedLoop(t), startedLoop(t)
	p, resolve, _ := promise.New[int](a)
	inside := func(l *eventloop.Loop) func(int) (int, error) {
		return func(v int) (int, error) {
			if !l.Inside() {
				t.Error("a reaction on the wrong loop")
			}
			return v + 1, nil
		}
	}
	chained := promise.Chain(promise.Then(p, inside(a)), func(v int) *promise.Promise[int] {
		q, resolve, _ := promise.New[int](b)
		go resolve(v)
		return promise.Then(q, inside(b))
	})
	all := promise.All(b, promise.Then(chained, inside(a)), promise.Resolve(b, 1), p)
	resolve(0)
	if v, err := await(t, all); err != nil || !slices.Equal(v, []int{3, 1, 0}) {
		t.Error(v, err)
	}
}

// Each reaction runs once, in the order in which its goroutine has attached it, whoever settles the promise when.
func TestGoroutinesSettleAndAttachAtOnce(t *testing.T) {
	const attachers, each, settlers = 4, 50, 3
	l := startedLoop(t)
	var ran atomic.Int64
	for range 100 {
		p, resolve, reject := promise.New[int](l)
		var next [attachers]int // of the loop
		var all sync.WaitGroup
		for s := range settlers {
			all.Go(func() {
				if s == 0 {
					reject(errNo)
				} else {
					resolve(s)
				}
			})
		}
		for a := range attachers {
			attach := func() {
				for i := range each {
					p.Finally(func() {
						if next[a] != i {
							t.Errorf("reaction %d of attacher %d ran as number %d", i, a, next[a])
						}
						next[a]++
						ran.Add(1)
					}).Catch(func(error) (int, error) { return 0, nil })
				}
			}
			all.Go(func() {
				if a == 0 {
					// Inside, too.
					if err := l.Do(context.Background(), attach); err != nil {
						t.Error(err)
					}
					return
				}
				attach()
			})
		}
		all.Go(func() {
			v, err := await(t, p)
			if w, err2 := await(t, p); v != w || err != err2 || (err == nil) != (v > 0) {
				t.Error(v, err, w, err2)
			}
		})
		all.Wait()
	}
	check(t, l.Drain(context.Background()))
	if n := ran.Load(); n != 100*attachers*each {
		t.Errorf("%d reactions ran of %d", n, 100*attachers*each)
	}
}

// While a loop is closed, a result is passed on, or Await tells that it was not: nobody waits for ever.
func TestCloseWhilePromisesAreSettled(t *testing.T) {
	passedOn, refused := 0, 0
	for range 200 {
		l := startedLoop(t)
		p, resolve, _ := promise.New[int](l)
		q := promise.Then(p, func(v int) (int, error) { return v, nil })
		var all sync.WaitGroup
		all.Go(func() { resolve(1) })
		all.Go(func() {
			if err := l.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		switch v, err := await(t, q); {
		case v == 1 && err == nil:
			passedOn++
		case err == millrace.ErrClosed:
			refused++
		default:
			t.Error(v, err)
		}
		all.Wait()
		if v, err := await(t, p); v != 1 || err != nil {
			t.Error("the result itself was lost:", v, err)
		}
	}
	t.Log(passedOn, "passed on,", refused, "came after Close")
}

func TestAChainIsNotKeptByItsEnd(t *testing.T) {
	l := startedLoop(t)
	type number = *promise.Promise[int]
	for name, step := range map[string]func(number) number{
		"Then":    func(p number) number { return promise.Then(p, same1) },
		"Catch":   func(p number) number { return p.Catch(func(err error) (int, error) { return 0, err }) },
		"Finally": func(p number) number { return p.Finally(func() {}) },
		"Chain": func(p number) number {
			return promise.Chain(p, func(v int) number { return promise.Resolve(l, v) })
		},
		"adopted": func(p number) number {
			return promise.Chain(promise.Resolve(l, 0), func(int) number { return p })
		},
	} {
		var first weak.Pointer[promise.Promise[int]]
		var last number
		on(t, l, func() {
			last = promise.Resolve(l, 7)
			first = weak.Make(last)
			for range 3 {
				last = step(last)
			}
		})
		if v, err := await(t, last); v != 7 || err != nil {
			t.Fatal(name, v, err)
		}
		for i := 0; first.Value() != nil; i++ {
			if i == 20 {
				t.Error(name, "keeps the first number")
				break
			}
			runtime.GC()
			on(t, l, func() {})
		}
		runtime.KeepAlive(last)
	}
}

func TestSleepAndTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t)
		start := time.Now()
		var slept, late time.Duration
		var timedOut error
		check(t, l.Submit(func() {
			never, _, _ := promise.New[int](l)
			promise.Then(promise.Sleep(l, time.Second), func(struct{}) (int, error) {
				slept = time.Since(start)
				return 0, nil
			})
			never.Timeout(2 * time.Second).Catch(func(err error) (int, error) {
				timedOut, late = err, time.Since(start)
				return 0, nil
			})
		}))
		check(t, l.Run(context.Background()))
		if slept != time.Second || late != 2*time.Second || timedOut != context.DeadlineExceeded {
			t.Error(slept, late, timedOut)
		}
		// In time: the timer goes, and Run ends with it.
		var got int
		check(t, l.Submit(func() {
			after := promise.Then(promise.Sleep(l, time.Second), func(struct{}) (int, error) { return 7, nil })
			promise.Then(after.Timeout(time.Hour), func(v int) (int, error) { got = v; return 0, nil })
		}))
		check(t, l.Run(context.Background()))
		if passed := time.Since(start); passed != 3*time.Second || got != 7 {
			t.Error(passed, got)
		}
	})
}

func TestAwaitInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startedLoop(t)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := promise.Sleep(l, 2*time.Second).Await(ctx); err != context.DeadlineExceeded {
			t.Error(err)
		}
		// A reaction of a timer runs before the next timer of the same time.
		var lines []string
		p := promise.Then(promise.Sleep(l, time.Second), func(struct{}) (int, error) {
			lines = append(lines, "reaction")
			return 0, nil
		})
		_, err := l.After(time.Second, func() { lines = append(lines, "timer") })
		check(t, err)
		_, err = await(t, p)
		check(t, err)
		check(t, l.Drain(context.Background()))
		if !slices.Equal(lines, []string{"reaction", "timer"}) {
			t.Error(lines)
		}
	})
}

func same1(v int) (int, error) { return v, nil }

func BenchmarkThen(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		p := promise.Resolve(l, 0)
		for range n {
			p = promise.Then(p, same1)
		}
	})
}

func BenchmarkCatch(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		p := promise.Resolve(l, 0)
		for range n {
			p = p.Catch(func(err error) (int, error) { return 0, err })
		}
	})
}

func BenchmarkFinally(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		p := promise.Resolve(l, 0)
		for range n {
			p = p.Finally(func() {})
		}
	})
}

func BenchmarkChain(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		p := promise.Resolve(l, 0)
		inner := p
		for range n {
			p = promise.Chain(p, func(int) *promise.Promise[int] { return inner })
		}
	})
}

func BenchmarkNewPromise(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		for i := range n {
			p, resolve, _ := promise.New[int](l)
			promise.Then(p, same1)
			resolve(i)
		}
	})
}

func BenchmarkAllOf10(b *testing.B) {
	benchLoop(b, func(l *eventloop.Loop, n int) {
		p := promise.Resolve(l, 0)
		for range n {
			promise.All(l, p, p, p, p, p, p, p, p, p, p)
		}
	})
}

// A result comes from another goroutine and a reaction runs: the way of a completed operation.
func BenchmarkResolveFromOutside(b *testing.B) {
	l := startedLoop(b)
	b.ReportAllocs()
	for i := range b.N {
		p, resolve, _ := promise.New[int](l)
		promise.Then(p, same1)
		resolve(i)
	}
	check(b, l.Drain(context.Background()))
}

func BenchmarkAwait(b *testing.B) {
	l := startedLoop(b)
	ctx := context.Background()
	b.ReportAllocs()
	for i := range b.N {
		p, resolve, _ := promise.New[int](l)
		l.Submit(func() { resolve(i) })
		if _, err := p.Await(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAsync(b *testing.B) {
	l := startedLoop(b)
	ctx := context.Background()
	b.ReportAllocs()
	for i := range b.N {
		if _, err := promise.Async(l, func() (int, error) { return i, nil }).Await(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
