package batch_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/batch"
	"millrace.dev/go/eventloop"
	"millrace.dev/go/internal/looptest"
)

func newLoop(t testing.TB) *eventloop.Loop {
	t.Helper()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loop.Close(background) })
	return loop
}

// settings are those of most emitters here.
type settings = batch.EmitterConfig[string]

func newEmitter(t testing.TB, loop *eventloop.Loop, config ...settings) *batch.Emitter[string] {
	t.Helper()
	e, err := batch.NewEmitter(loop, append(config, settings{})[0])
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ended is a context that has.
func ended() context.Context {
	ctx, end := context.WithCancel(background)
	end()
	return ctx
}

// closing closes an emitter on a goroutine, and returns when it takes no more.
func closing(e *batch.Emitter[string]) <-chan error {
	closed := make(chan error, 1)
	go func() { closed <- e.Close(background) }()
	for e.Set(settings{}) == nil {
		runtime.Gosched()
	}
	return closed
}

// runLoop runs a loop until nothing keeps it alive.
func runLoop(t testing.TB, loop *eventloop.Loop) {
	t.Helper()
	if err := loop.Run(background); err != nil {
		t.Fatal(err)
	}
}

// submit queues a task of the loop.
func submit(t testing.TB, loop *eventloop.Loop, task func()) {
	t.Helper()
	if err := loop.Submit(task); err != nil {
		t.Fatal(err)
	}
}

// log collects what handlers and hooks got, in order. They all run on the loop, or while it does not.
type log struct{ lines []string }

func (l *log) add(format string, values ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, values...))
}

func (l *log) handler(prefix string) func(string) {
	return func(data string) { l.add("%s%s", prefix, data) }
}

func (l *log) want(t *testing.T, lines ...string) {
	t.Helper()
	if !slices.Equal(l.lines, lines) {
		t.Errorf("got  %q\nwant %q", l.lines, lines)
	}
	l.lines = nil
}

func emit(t testing.TB, e *batch.Emitter[string], typ string, all ...string) {
	t.Helper()
	for _, data := range all {
		if err := e.Emit(typ, data); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEventsOfATurnLeaveAtItsEnd(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop)
	for _, typ := range []string{"network", "work", "signal"} {
		e.On(typ, l.handler(typ+" "))
	}
	submit(t, loop, func() {
		emit(t, e, "work", "a")
		emit(t, e, "network", "b", "c")
		emit(t, e, "signal", "d")
		l.add("task")
	})
	submit(t, loop, func() {
		emit(t, e, "network", "e")
		l.add("another task")
	})
	runLoop(t, loop)
	l.want(t, "task", "another task", "signal d", "network b", "network c", "network e", "work a")
	if s := e.Stats(); s.BatchTriggerTotal[batch.TriggerTurn] != 1 || s.DeliveredTotal != 5 || s.BatchTotal != 1 {
		t.Errorf("stats: %+v", s)
	}
}

func TestEventsFromOutsideBeforeTheLoopRuns(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{MaxDeferral: time.Hour})
	emit(t, e, "x", "a", "b")
	e.On("x", l.handler(""))
	event, err := e.Push("x", "c", batch.EventConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if !e.Cancel(event) || e.Cancel(event) {
		t.Error("a queued event is cancelled once")
	}
	urgent, err := e.Push("x", "d", batch.EventConfig{Priority: millrace.High})
	if err != nil {
		t.Fatal(err)
	}
	runLoop(t, loop)
	l.want(t, "d", "a", "b")
	if e.Cancel(urgent) || e.Cancel(batch.Event[string]{}) {
		t.Error("an event that has left, or none at all, was cancelled")
	}
}

func TestBatchHandlersAndOthers(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop)
	e.OnBatch("x", func(all []string, info batch.Info) { l.add("%s %v %v", info.Type, info.Trigger, all) })
	e.On("y", l.handler("y "))
	one := e.On("x", l.handler("x "))
	emit(t, e, "y", "1")
	emit(t, e, "x", "2")
	emit(t, e, "y", "3")
	emit(t, e, "x", "4")
	runLoop(t, loop)
	l.want(t, "y 1", "x turn [2 4]", "x 2", "y 3", "x 4")
	if newEmitter(t, loop).Off(one) || !e.Off(one) || e.Off(one) || e.Off(nil) {
		t.Error("Off tells whether it took a handler away")
	}
	e.Once("x", l.handler("once "))
	emit(t, e, "x", "5", "6")
	runLoop(t, loop)
	l.want(t, "x turn [5 6]", "once 5")
	if s := e.Stats(); s.DeliveredTotal != 6 || s.UnhandledTotal != 0 {
		t.Errorf("stats: %+v", s)
	}
}

func TestOnceIsUsedUpByTheFirstEvent(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{OnLost: func(lost batch.Lost[string]) { l.add("lost %s: %v", lost.Data, lost.Why) }})
	h := e.Once("x", l.handler(""))
	emit(t, e, "x", "a", "b")
	runLoop(t, loop)
	l.want(t, "a", "lost b: millrace: no handler: register one in time")
	if e.Off(h) {
		t.Error("Off took away a handler that is used up")
	}
}

func TestWhatHandlersEmitLeavesInTheSameTurn(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop)
	e.On("x", func(data string) {
		l.add("%s", data)
		if data == "a" {
			emit(t, e, "y", "b")
			emit(t, e, "signal", "c")
			if err := e.Flush(); err != nil {
				t.Error(err)
			}
			l.add("not nested")
		}
	})
	e.On("y", l.handler(""))
	e.On("signal", l.handler(""))
	emit(t, e, "x", "a")
	runLoop(t, loop)
	l.want(t, "a", "not nested", "c", "b")
}

func TestFailingHandlers(t *testing.T) {
	loop, l := newLoop(t), &log{}
	broken := errors.New("broken")
	e := newEmitter(t, loop, settings{
		OnError: func(err error) {
			var of *batch.HandlerError
			var p *millrace.PanicError
			if !errors.As(err, &of) || of.Type != "x" || !errors.As(err, &p) || !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
			if !strings.Contains(string(p.Stack), "TestFailingHandlers") {
				t.Errorf("the stack is that of somebody else: %s", p.Stack)
			}
			l.add("error")
			panic("the hook fails, too")
		},
	})
	e.On("x", func(data string) {
		l.add("%s", data)
		if data == "b" {
			panic(broken)
		}
	})
	e.On("x", l.handler("second "))
	emit(t, e, "x", "a", "b", "c")
	runLoop(t, loop)
	l.want(t, "a", "second a", "b", "error", "c", "second c")
	if s := e.Stats(); s.ErrorsTotal != 1 || s.DeliveredTotal != 3 {
		t.Errorf("stats: %+v", s)
	}
}

// TestHandlersThatEndTheirGoroutine: whatever is under way when a handler calls runtime.Goexit, every other event
// gets to its handler once, in order, on the goroutine that goes on for the loop.
func TestHandlersThatEndTheirGoroutine(t *testing.T) {
	cases := map[string]func(e *batch.Emitter[string], l *log){
		"in a batch": func(e *batch.Emitter[string], l *log) {
			emit(t, e, "x", "a", "exit", "b", "c")
		},
		"in a flush": func(e *batch.Emitter[string], l *log) {
			emit(t, e, "x", "a", "exit", "b", "c")
			e.Flush()
		},
		"in a close": func(e *batch.Emitter[string], l *log) {
			emit(t, e, "x", "a", "exit", "b", "c")
			e.Close(background)
		},
		"in a replay": func(e *batch.Emitter[string], l *log) {
			e.SetType("late", batch.TypeConfig[string]{Retain: batch.Retain{Replay: batch.ReplayFirst}})
			emit(t, e, "late", "a", "exit", "b")
			e.Flush()
			e.On("late", exiting(l))
			emit(t, e, "late", "c")
		},
	}
	for name, act := range cases {
		t.Run(name, func(t *testing.T) {
			loop, l := newLoop(t), &log{}
			errs := 0
			e := newEmitter(t, loop, settings{
				OnError: func(err error) {
					if !errors.Is(err, millrace.ErrGoexit) {
						t.Errorf("got %v", err)
					}
					errs++
				},
			})
			e.On("x", exiting(l))
			submit(t, loop, func() { act(e, l) })
			// The goroutine of Run ends with the handler, when the loop has ended on another one.
			apart(func() { loop.Run(background) })
			l.want(t, "a", "b", "c")
			if errs != 1 {
				t.Errorf("%d errors told, want 1", errs)
			}
		})
	}
}

func TestAHandlerInsideAnotherEndsTheirGoroutine(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{Policy: batch.Direct, OnError: func(err error) { l.add("%v", err) }})
	e.On("x", exiting(l))
	e.On("outer", func(string) { emit(t, e, "x", "exit") })
	submit(t, loop, func() { emit(t, e, "outer", "") })
	submit(t, loop, func() { emit(t, e, "x", "a") })
	apart(func() { loop.Run(background) })
	l.want(t, fmt.Sprintf("a handler of %q failed: %v", "x", millrace.ErrGoexit),
		fmt.Sprintf("a handler of %q failed: %v", "outer", millrace.ErrGoexit), "a")
}

func exiting(l *log) func(string) {
	return func(data string) {
		if data == "exit" {
			runtime.Goexit()
		}
		l.add("%s", data)
	}
}

func TestBoundsRefuseTheCaller(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{
		MaxQueue:      3,
		MaxQueueBytes: 10,
		Size:          func(s string) int { return len(s) },
	})
	e.On("x", l.handler(""))
	if err := e.SetType("y", batch.TypeConfig[string]{Size: func(string) int { return -1 }}); err != nil {
		t.Fatal(err)
	}
	emit(t, e, "x", "12345678")
	if err := e.Emit("x", "123"); !errors.Is(err, millrace.ErrOverload) {
		t.Errorf("too many bytes: %v", err)
	}
	if _, err := e.Push("x", "123", batch.EventConfig{Bytes: 2}); err != nil {
		t.Errorf("as many bytes as there is room for: %v", err)
	}
	if err := e.Emit("y", ""); !errors.Is(err, millrace.ErrOption) {
		t.Errorf("a size below 0: %v", err)
	}
	emit(t, e, "x", "")
	if err := e.Emit("x", ""); !errors.Is(err, millrace.ErrOverload) {
		t.Errorf("too many events: %v", err)
	}
	runLoop(t, loop)
	l.want(t, "12345678", "123", "")
	emit(t, e, "x", "room again")
	runLoop(t, loop)
	l.want(t, "room again")
	if s := e.Stats(); s.RefusedTotal.Overloaded != 2 {
		t.Errorf("stats: %+v", s)
	}
}

func TestDirectRunsHandlersInsideEmitOnTheLoopOnly(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{Policy: batch.Direct, MaxQueue: 1})
	e.On("x", l.handler(""))
	emit(t, e, "x", "from outside")
	l.want(t)
	if err := e.Emit("x", "one more"); !errors.Is(err, millrace.ErrOverload) {
		t.Errorf("beyond the bound: %v", err)
	}
	runLoop(t, loop)
	l.want(t, "from outside")
	submit(t, loop, func() {
		emit(t, e, "x", "inside")
		l.add("after")
	})
	runLoop(t, loop)
	l.want(t, "inside", "after")
	if s := e.Stats(); s.BatchTriggerTotal[batch.TriggerSize] != 2 {
		t.Errorf("stats: %+v", s)
	}
}

func TestSetFlushAndCloseFromOutside(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{Policy: batch.Fixed, MaxDelay: time.Minute})
	e.OnBatch("x", func(all []string, info batch.Info) { l.add("%v %v", info.Trigger, all) })
	emit(t, e, "x", "a", "b")
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	emit(t, e, "x", "c")
	l.want(t)
	if err := e.Set(settings{Policy: batch.Adaptive, MaxDelay: batch.None}); err != nil {
		t.Fatal(err)
	}
	runLoop(t, loop)
	// What comes before the flush takes effect may leave with it, and counts towards the bounds until then.
	l.want(t, "flush [a b c]")
	emit(t, e, "x", "d")
	closed := closing(e)
	if err := e.Emit("x", "e"); !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := e.Set(settings{MaxBatch: 1}); !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("Set after Close: %v", err)
	}
	runLoop(t, loop)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	l.want(t, "close [d]")
	if e.Close(background) != nil || e.Flush() != nil {
		t.Error("closing again is no error")
	}
}

func TestCloseDiscards(t *testing.T) {
	for _, where := range []string{"inside", "outside", "of a loop that was closed before"} {
		t.Run(where, func(t *testing.T) {
			loop, l := newLoop(t), &log{}
			e := newEmitter(t, loop, settings{
				Retain: batch.Retain{Replay: batch.ReplayFirst},
				OnLost: func(lost batch.Lost[string]) { l.add("%s: %v", lost.Data, lost.Why) },
			})
			emit(t, e, "late", "a")
			runLoop(t, loop)
			act := func() {
				emit(t, e, "x", "b", "c")
				e.On("x", l.handler("handled "))
				e.On("late", l.handler("replayed "))
			}
			switch where {
			case "inside":
				submit(t, loop, func() {
					act()
					if err := e.Close(ended()); err != nil {
						t.Error(err)
					}
				})
				runLoop(t, loop)
			case "outside":
				act()
				if err := e.Close(ended()); err != context.Canceled {
					t.Errorf("got %v", err)
				}
				runLoop(t, loop)
			default:
				// With events queued: TestALoopClosedUnderAWakeUp.
				loop.Close(background)
				if err := e.Emit("x", "refused"); !errors.Is(err, millrace.ErrClosed) || !errors.Is(err, millrace.ErrClosed) {
					t.Errorf("got %v", err)
				}
				if err := e.Close(background); !errors.Is(err, millrace.ErrClosed) {
					t.Errorf("got %v", err)
				}
				<-e.Done()
				l.want(t, "a: batch: the retained event ended without a handler: the emitter was closed")
				return
			}
			<-e.Done()
			l.want(t, "b: millrace: discarded by Close", "c: millrace: discarded by Close",
				"a: batch: the retained event ended without a handler: the emitter was closed")
		})
	}
}

func TestLateHandlersGetWhatIsRetained(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{
		Retain: batch.Retain{Replay: batch.ReplayFirst, Max: 2},
		OnLost: func(lost batch.Lost[string]) { l.add("lost %s: %v", lost.Data, lost.Why) },
	})
	if err := e.SetType("each", batch.TypeConfig[string]{Retain: batch.Retain{Replay: batch.ReplayEach}}); err != nil {
		t.Fatal(err)
	}
	if err := e.SetType("not", batch.TypeConfig[string]{Retain: batch.Retain{Replay: batch.ReplayNever}}); err != nil {
		t.Fatal(err)
	}
	emit(t, e, "x", "a", "b", "c")
	emit(t, e, "not", "d")
	emit(t, e, "each", "e")
	cancelled, err := e.Push("each", "f", batch.EventConfig{})
	if err != nil {
		t.Fatal(err)
	}
	runLoop(t, loop)
	l.want(t, "lost c: "+batch.ErrRetention.Error(), "lost d: "+millrace.ErrUnhandled.Error())
	if !e.Cancel(cancelled) || e.Cancel(cancelled) {
		t.Error("a retained event is cancelled once")
	}
	if s := e.Stats(); s.Retained.Count != 3 || s.RefusedTotal.Retention != 1 || s.UnhandledTotal != 1 {
		t.Errorf("stats: %+v", s)
	}
	e.On("x", l.handler("x "))
	e.On("each", l.handler("one "))
	l.want(t)
	emit(t, e, "x", "newer")
	runLoop(t, loop)
	l.want(t, "x a", "x b", "one e", "x newer")
	e.OnBatch("each", func(all []string, info batch.Info) { l.add("two %v %v", all, info.Trigger) })
	runLoop(t, loop)
	l.want(t, "two [e] turn")
	if err := e.SetType("each", batch.TypeConfig[string]{Retain: batch.Retain{Replay: batch.ReplayNever}}); err != nil {
		t.Fatal(err)
	}
	if s := e.Stats(); s.Retained.Count != 0 || s.Retained.Replayed != 4 || s.Retained.Expired != 0 {
		t.Errorf("stats: %+v", s)
	}
}

func TestRetainedEventsExpireAndKeepNothingAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, err := eventloop.New(eventloop.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer loop.Close(background)
		l := &log{}
		start := time.Now()
		e := newEmitter(t, loop, settings{
			Retain: batch.Retain{Replay: batch.ReplayFirst, MaxAge: time.Second},
			OnLost: func(lost batch.Lost[string]) { l.add("%s after %v", lost.Data, time.Since(start)) },
		})
		emit(t, e, "x", "a")
		runLoop(t, loop)
		if s := e.Stats(); s.Retained.Count != 1 || time.Since(start) != 0 {
			t.Errorf("after %v: %+v", time.Since(start), s)
		}
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		loop.Stop()
		l.want(t, "a after 1s")
	})
}

func TestHoldsEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, err := eventloop.New(eventloop.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer loop.Close(background)
		l := &log{}
		start := time.Now()
		e := newEmitter(t, loop, settings{Policy: batch.Fixed, MaxDelay: 30 * time.Millisecond})
		e.OnBatch("x", func(all []string, info batch.Info) { l.add("%v %v after %v", all, info.Trigger, time.Since(start)) })
		e.On("signal", l.handler("signal "))
		emit(t, e, "x", "a")
		// The hold keeps the loop alive.
		loop.After(20*time.Millisecond, func() { emit(t, e, "x", "b") })
		runLoop(t, loop)
		l.want(t, "[a b] delay after 30ms")
		emit(t, e, "x", "c")
		loop.After(10*time.Millisecond, func() { emit(t, e, "signal", "d") })
		runLoop(t, loop)
		l.want(t, "signal d", "[c] priority after 40ms")
		// A handler that takes long moves the end of the hold of what was emitted before it not at all.
		e.On("slow", func(string) { time.Sleep(25 * time.Millisecond) })
		submit(t, loop, func() {
			emit(t, e, "slow", "")
			if err := e.Flush(); err != nil {
				t.Error(err)
			}
			emit(t, e, "x", "e")
		})
		runLoop(t, loop)
		l.want(t, "[e] delay after 95ms")
		// Cancelled, it holds nothing up.
		event, err := e.Push("x", "f", batch.EventConfig{})
		if err != nil {
			t.Fatal(err)
		}
		submit(t, loop, func() { loop.Immediate(func() { e.Cancel(event) }) })
		now := time.Now()
		runLoop(t, loop)
		if time.Since(now) != 0 {
			t.Errorf("the loop went on for %v for an event that was cancelled", time.Since(now))
		}
		l.want(t)
	})
}

func TestAPushIntoAHeldBatchAsksForNoTurn(t *testing.T) {
	loop := looptest.Started(t)
	got := make(chan string, 1000)
	e := newEmitter(t, loop, settings{Policy: batch.Fixed, MaxDelay: time.Minute})
	e.On("x", func(data string) { got <- data })
	emit(t, e, "x", "first")
	for e.Stats().BatchHold == 0 {
		runtime.Gosched()
	}
	submitted := loop.Stats().SubmittedTotal
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for range 50 {
				emit(t, e, "x", "from outside")
			}
		})
	}
	others.Wait()
	if more := loop.Stats().SubmittedTotal - submitted; more != 0 {
		t.Errorf("200 events for a held batch submitted %d tasks", more)
	}
	looptest.On(t, loop, func() {
		live := loop.Stats().Live
		emit(t, e, "x", "from the loop")
		if loop.Stats().Live != live {
			t.Error("an event for a held batch has asked for the end of a turn")
		}
	})
	if len(got) != 0 {
		t.Errorf("%d events were not held", len(got))
	}
	// One that ends the hold does, from any goroutine.
	emit(t, e, "signal", "")
	for range 202 {
		<-got
	}
}

func TestAHeldBatchOfAClosedLoopTakesNoEvent(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{
		Policy: batch.Fixed, MaxDelay: time.Minute, OnLost: func(lost batch.Lost[string]) { l.add("%s: %v", lost.Data, lost.Why) },
	})
	e.On("x", l.handler(""))
	submit(t, loop, func() {
		emit(t, e, "x", "held")
		loop.Immediate(func() {
			if e.Stats().BatchHold == 0 {
				t.Error("nothing is held")
			}
			loop.Stop()
		})
	})
	runLoop(t, loop)
	if err := loop.Close(background); err != nil {
		t.Fatal(err)
	}
	if err := e.Emit("x", "late"); !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("Emit returned %v", err)
	}
	if err := e.Close(background); !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("Close returned %v", err)
	}
	l.want(t, "held: "+millrace.ErrCancelled.Error())
}

func TestAHeldBatchOfAClosingLoop(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{Policy: batch.Fixed, MaxDelay: time.Minute})
	e.On("x", l.handler(""))
	submit(t, loop, func() { emit(t, e, "x", "held") })
	begun, goOn := make(chan struct{}), make(chan struct{})
	submit(t, loop, func() {
		loop.Immediate(func() {
			if e.Stats().BatchHold == 0 {
				t.Error("nothing is held")
			}
			close(begun)
			<-goOn
			// The loop drops its timers before the turn ends.
			emit(t, e, "x", "on the loop")
		})
	})
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun
	closed := make(chan error, 1)
	go func() { closed <- loop.Close(background) }()
	for loop.Submit(func() {}) == nil {
		runtime.Gosched()
	}
	if err := e.Emit("x", "late"); !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("Emit returned %v", err)
	}
	close(goOn)
	if err, left := <-closed, loop.Left(); len(left) > 0 || err != nil {
		t.Errorf("Close left %d, %v", len(left), err)
	}
	l.want(t, "held", "on the loop")
}

func TestABatchKeepsTheLoopForMaxBatchTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, err := eventloop.New(eventloop.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer loop.Close(background)
		l := &log{}
		e := newEmitter(t, loop)
		e.OnBatch("x", func(all []string, info batch.Info) {
			l.add("%d %v", len(all), info.Trigger)
			loop.Submit(func() { l.add("task") })
		})
		e.On("x", func(string) { time.Sleep(time.Millisecond) })
		emitAll := func(n int) {
			t.Helper()
			submit(t, loop, func() {
				for range n {
					emit(t, e, "x", "")
				}
			})
			runLoop(t, loop)
		}
		if err := e.Set(settings{MaxBatchTime: 5 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		// Two batches in a row have to take too long.
		emitAll(8)
		emitAll(8)
		l.want(t, "8 turn", "task", "8 turn", "task")
		emitAll(12)
		l.want(t, "5 size", "task", "5 size", "task", "2 turn", "task")
		if limit := e.Stats().Policy.Limit; limit != 5 {
			t.Errorf("the limit is %d", limit)
		}
		if err := e.Set(settings{MaxBatchTime: 3 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		emitAll(5)
		l.want(t, "5 turn", "task")
		emitAll(4)
		l.want(t, "3 size", "task", "1 turn", "task")
		if err := e.Set(settings{MaxBatchTime: batch.None}); err != nil {
			t.Fatal(err)
		}
		emitAll(12)
		l.want(t, "12 turn", "task")
		if limit := e.Stats().Policy.Limit; limit != 0 {
			t.Errorf("the limit is %d", limit)
		}
	})
}

func TestAdaptiveHoldsOnALoop(t *testing.T) {
	// batches of events of which two come each ms, each ms that a batch takes being 0.5 and 0.05 for each event.
	run := func(t *testing.T, maxDelay time.Duration) (stats batch.Stats) {
		synctest.Test(t, func(t *testing.T) {
			loop, err := eventloop.New(eventloop.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer loop.Close(background)
			e := newEmitter(t, loop, settings{MaxDelay: maxDelay})
			e.OnBatch("x", func(all []string, _ batch.Info) {
				time.Sleep(500*time.Microsecond + time.Duration(len(all))*50*time.Microsecond)
			})
			ticks := 0
			var timer *eventloop.Timer
			timer, err = loop.Every(time.Millisecond, func() {
				emit(t, e, "x", "")
				emit(t, e, "x", "")
				if ticks++; ticks == 2000 {
					stats = e.Stats()
					timer.Stop()
				}
			})
			runLoop(t, loop)
		})
		return stats
	}
	without, with := run(t, batch.None), run(t, 20*time.Millisecond)
	if without.Policy.Why != "no delay allowed" || without.Policy.BatchCost != 0 {
		t.Errorf("without a delay the policy says %+v", without.Policy)
	}
	p := with.Policy
	if with.BatchTotal > without.BatchTotal/3 || with.QueueWaitMax.Normal > 25*time.Millisecond {
		t.Errorf("%d batches, without a delay %d; %v", with.BatchTotal, without.BatchTotal, with.QueueWaitMax)
	}
	if p.Saving < 0.3 || p.Why != "" && p.Why != "comparison window" || p.Rate < 1.5 || p.Total < 1.5 {
		t.Errorf("the policy says %+v", p)
	}
}

func TestAnEventTakesThePlaceOfTheOlderOneOfItsKey(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop)
	e.On("x", l.handler(""))
	push := func(data string, key any) batch.Event[string] {
		t.Helper()
		event, err := e.Push("x", data, batch.EventConfig{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return event
	}
	type place struct{ row, column int }
	older := push("a1", "a")
	push("b1", place{1, 2})
	emit(t, e, "x", "without a key")
	push("c1", [1]any{"c"})
	push("b2", place{1, 2})
	push("c2", [1]any{"c"})
	push("a2", "a")
	if e.Cancel(older) {
		t.Error("a superseded event was cancelled")
	}
	runLoop(t, loop)
	l.want(t, "a2", "b2", "without a key", "c2")
	push("a3", "a")
	runLoop(t, loop)
	l.want(t, "a3")
	if s := e.Stats(); s.SupersededTotal != 3 || s.PushedTotal != 8 || s.DeliveredTotal != 5 || s.CancelledTotal != 0 {
		t.Errorf("stats: %+v", s)
	}
	for _, key := range []any{[]int{1}, [1]any{[]int{1}}, func() {}, map[int]int{}} {
		_, err := e.Push("x", "", batch.EventConfig{Key: key})
		if !errors.Is(err, millrace.ErrOption) || !strings.Contains(err.Error(), "it must be comparable") {
			t.Errorf("the key %T: %v", key, err)
		}
	}
}

func TestMergesOfManyGoroutinesLoseNothing(t *testing.T) {
	loop := newLoop(t)
	e, err := batch.NewEmitter(loop, batch.EmitterConfig[int]{})
	if err != nil {
		t.Fatal(err)
	}
	sum, events := 0, 0
	e.On("x", func(n int) { sum, events = sum+n, events+1 })
	err = e.SetType("x", batch.TypeConfig[int]{Merge: func(older, newer int) int {
		runtime.Gosched()
		return older + newer
	}})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if _, err := e.Push("x", 1, batch.EventConfig{Key: "sum"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := loop.Run(background); err != nil {
		t.Fatal(err)
	}
	if sum != 1600 || events != 1 {
		t.Errorf("the sum is %d in %d events", sum, events)
	}
}

func TestAMergeThatFails(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{
		Size:    func(data string) int { return len(data) },
		OnError: func(err error) { l.add("%v", strings.Split(err.Error(), "\n")[0]) },
	})
	e.On("x", l.handler(""))
	var merge func(older, newer string) string
	err := e.SetType("x", batch.TypeConfig[string]{Merge: func(older, newer string) string { return merge(older, newer) }})
	if err != nil {
		t.Fatal(err)
	}
	push := func(data string) error {
		_, err := e.Push("x", data, batch.EventConfig{Key: 1})
		return err
	}
	push("a")
	merge = func(string, string) string { panic("no") }
	push("b")
	l.want(t, `a handler of "x" failed: millrace: a function panicked: no`)
	// The next one meets the newer of the two, and has the size of what was merged.
	merge = func(older, newer string) string { return older + "+" + newer }
	push("c")
	if s := e.Stats(); s.QueueBytes != int64(len("a")+len("b+c")) || s.ErrorsTotal != 1 {
		t.Errorf("stats: %+v", s)
	}
	// One that ends its goroutine takes its event along, and nothing else.
	merge = func(string, string) string { runtime.Goexit(); return "" }
	apart(func() { push("d") })
	// One that uses the emitter: what it has let go is not merged.
	merge = func(older, newer string) string {
		if err := e.Flush(); err != nil {
			t.Error(err)
		}
		return "merged"
	}
	submit(t, loop, func() { push("e") })
	runLoop(t, loop)
	l.want(t, "a", "b+c", "e")
}

func TestAClosingLoopDeliversWhatItsTurnWouldHold(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{Policy: batch.Fixed, MaxDelay: time.Minute})
	e.On("x", l.handler(""))
	emit(t, e, "x", "a")
	if err, left := loop.Close(background), loop.Left(); len(left) > 0 || err != nil {
		t.Errorf("Close left %d, %v", len(left), err)
	}
	l.want(t, "a")
}

func TestPrioritiesOfTypes(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{Order: batch.ByType, MaxDeferral: time.Hour})
	for _, typ := range []string{"a", "b", "c"} {
		e.On(typ, l.handler(typ))
	}
	if err := e.SetType("b", batch.TypeConfig[string]{Priority: millrace.High, MaxBatch: 2}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		n := fmt.Sprint(i)
		emit(t, e, "a", n)
		emit(t, e, "b", n)
		emit(t, e, "c", n)
	}
	runLoop(t, loop)
	l.want(t, "b0", "b1", "b2", "a0", "a1", "a2", "c0", "c1", "c2")
	if s := e.Stats(); s.BatchTotal != 2 {
		t.Errorf("%d batches, want 2: the type's own limit ends one", s.BatchTotal)
	}
}

func TestBadInputOfEmitters(t *testing.T) {
	loop := newLoop(t)
	e := newEmitter(t, loop)
	bad := func(err error, text string) {
		t.Helper()
		if !errors.Is(err, millrace.ErrOption) || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q, got %v", text, err)
		}
	}
	_, err := batch.NewEmitter(nil, settings{})
	bad(err, "loop")
	_, err = batch.NewEmitter(loop, settings{Retain: batch.Retain{Replay: batch.ReplayFirst, MaxAge: time.Microsecond}})
	bad(err, "Retain.MaxAge is 1µs; it must be from 1ms to")
	_, err = batch.NewEmitter(loop, settings{Retain: batch.Retain{Replay: batch.ReplayFirst, Max: -1}})
	bad(err, "Retain.Max")
	_, err = batch.NewEmitter(loop, settings{Retain: batch.Retain{Max: 1}})
	bad(err, "Retain.Replay is 0; it must be ReplayFirst or ReplayEach")
	_, err = batch.NewEmitter(loop, settings{Retain: batch.Retain{Replay: batch.ReplayNever}})
	bad(err, "Retain.Replay is 3")
	_, err = batch.NewEmitter(loop, settings{Order: 3})
	bad(err, "Order is 3; it must be ByArrival or ByType")
	_, err = batch.NewEmitter(loop, settings{MaxDeferral: -2})
	bad(err, "MaxDeferral")
	bad(e.Set(settings{MaxBatch: -1}), "MaxBatch")
	for _, fixed := range []settings{
		{Retain: batch.Retain{Replay: batch.ReplayFirst}}, {Size: func(string) int { return 0 }},
		{OnError: func(error) {}}, {OnLost: func(batch.Lost[string]) {}},
	} {
		bad(e.Set(fixed), "Set cannot change")
	}
	bad(e.SetType("x", batch.TypeConfig[string]{MaxBatch: -1}), "MaxBatch is -1")
	bad(e.SetType("x", batch.TypeConfig[string]{Priority: 4}), "it must be High, Normal or Low")
	bad(e.SetType("x", batch.TypeConfig[string]{Retain: batch.Retain{Replay: 4}}), "Retain.Replay is 4")
	_, err = e.Push("x", "", batch.EventConfig{Bytes: -1})
	bad(err, "-1 bytes")
	_, err = e.Push("x", "", batch.EventConfig{Priority: 4})
	bad(err, "it must be High, Normal or Low")
	for _, register := range []func(){
		func() { e.On("x", nil) }, func() { e.Once("x", nil) }, func() { e.OnBatch("x", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a nil handler was registered")
				}
			}()
			register()
		}()
	}
	if s := e.Stats(); s.PushedTotal != 0 {
		t.Errorf("stats: %+v", s)
	}
}

// TestManyGoroutinesEmit: with producers on other goroutines and on the loop, each event is delivered once, in the
// order of its producer, or was refused to it; cancelled ones are not delivered.
func TestManyGoroutinesEmit(t *testing.T) {
	type item struct{ producer, n int }
	loop := newLoop(t)
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	e, err := batch.NewEmitter(loop, batch.EmitterConfig[item]{MaxQueue: 500, MaxBatch: 64})
	if err != nil {
		t.Fatal(err)
	}
	const producers, each = 8, 3000
	var last [producers]int
	var delivered, refused, cancelled atomic.Int64
	e.OnBatch("x", func(all []item, _ batch.Info) {
		for _, i := range all {
			if i.n <= last[i.producer] {
				t.Errorf("event %d of producer %d came after %d", i.n, i.producer, last[i.producer])
			}
			last[i.producer] = i.n
			delivered.Add(1)
		}
	})
	var group sync.WaitGroup
	for producer := range producers {
		group.Go(func() {
			for n := 1; n <= each; n++ {
				switch event, err := e.Push("x", item{producer, n}, batch.EventConfig{}); {
				case errors.Is(err, millrace.ErrOverload):
					refused.Add(1)
				case err != nil:
					t.Error(err)
				case n%10 == 0 && e.Cancel(event):
					cancelled.Add(1)
				}
				switch {
				case n%500 == 0:
					e.Flush()
				case n%700 == 0:
					e.Off(e.On("x", func(item) {}))
				case n%900 == 0:
					e.Set(batch.EmitterConfig[item]{Order: batch.Order(1 + n%2)})
				}
			}
		})
	}
	group.Wait()
	if err := e.Close(background); err != nil {
		t.Fatal(err)
	}
	s := e.Stats()
	if n := delivered.Load() + refused.Load() + cancelled.Load(); n != producers*each {
		t.Errorf("%d events accounted for, want %d; stats %+v", n, producers*each, s)
	}
	if s.DeliveredTotal != uint64(delivered.Load()) || s.CancelledTotal != uint64(cancelled.Load()) {
		t.Errorf("%d delivered, %d cancelled; stats %+v", delivered.Load(), cancelled.Load(), s)
	}
}

func TestEmitAllocatesNothingAfterWarmUp(t *testing.T) {
	loop := newLoop(t)
	e := newEmitter(t, loop)
	e.On("x", func(string) {})
	turn := func() {
		for range 1000 {
			e.Emit("x", "data")
		}
		e.Flush()
	}
	inside := func(fn func()) {
		if err := loop.Do(context.Background(), fn); err != nil {
			t.Fatal(err)
		}
	}
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	inside(func() {
		turn()
		if n := testing.AllocsPerRun(20, turn); n > 10 {
			t.Errorf("1000 events and a flush allocate %v times, want at most 10", n)
		}
	})
}

// TestALoopClosedUnderAWakeUp: the task or immediate that was to deliver is returned by the loop's Close, so nothing
// may be taken any more, and Close of the emitter tells of what is left.
func TestALoopClosedUnderAWakeUp(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		loop, l := newLoop(t), &log{}
		e := newEmitter(t, loop, settings{OnLost: func(lost batch.Lost[string]) { l.add("lost %s", lost.Data) }})
		e.On("x", l.handler(""))
		emit(t, e, "x", "a", "b")
		if flushed {
			e.Flush()
		}
		loop.Close(ended())
		left := loop.Left()
		for name, err := range map[string]error{
			"Emit": e.Emit("x", "c"), "Flush": e.Flush(), "Set": e.Set(settings{Policy: batch.Fixed}), "Close": e.Close(background),
		} {
			if !errors.Is(err, millrace.ErrClosed) || !errors.Is(err, millrace.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		<-e.Done()
		// What comes after all does no harm.
		for _, task := range left {
			task()
		}
		l.want(t, "lost a", "lost b")
	}
}

// TestWhatALoopLeftMayBeRun: by whoever closed it, also when an event was refused meanwhile.
func TestWhatALoopLeftMayBeRun(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop)
	e.On("x", l.handler(""))
	emit(t, e, "x", "a")
	loop.Close(ended())
	left := loop.Left()
	if err := e.Emit("x", "refused"); !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("got %v", err)
	}
	for _, task := range left {
		task()
	}
	l.want(t, "a")
}

// TestALoopClosedWithARestOfABatch: of a batch whose handler ended its goroutine, on a loop that then takes no calls.
func TestALoopClosedWithARestOfABatch(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{
		OnLost: func(lost batch.Lost[string]) {
			l.add("lost %s", lost.Data)
			if lost.Data == "b" {
				// A hook that ends its goroutine takes none of the others along.
				runtime.Goexit()
			}
		},
		OnError: func(error) {},
	})
	e.On("x", func(data string) {
		l.add("%s", data)
		loop.Close(ended())
		runtime.Goexit()
	})
	emit(t, e, "x", "a", "b", "c")
	apart(func() { loop.Run(background) })
	loop.Close(background)
	apart(func() { e.Close(background) })
	<-e.Done()
	l.want(t, "a", "lost b", "lost c")
}

// apart waits for a goroutine that may end by runtime.Goexit.
func apart(fn func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		fn()
	}()
	<-ended
}

func TestFlushFromOutsideKeepsTheBounds(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{MaxQueue: 2, Policy: batch.Fixed, MaxDelay: time.Minute})
	e.OnBatch("x", func(all []string, info batch.Info) { l.add("%v %v", info.Trigger, all) })
	for _, data := range []string{"a", "b"} {
		emit(t, e, "x", data)
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Emit("x", "c"); !errors.Is(err, millrace.ErrOverload) {
		t.Errorf("beyond the bound, flushed: %v", err)
	}
	runLoop(t, loop)
	l.want(t, "flush [a b]")
	closed := closing(e)
	runLoop(t, loop)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestTimeFromOutsideIsNotThatOfALateTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, err := eventloop.New(eventloop.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer loop.Close(background)
		e := newEmitter(t, loop, settings{Policy: batch.Fixed, MaxDelay: 100 * time.Millisecond})
		l := &log{}
		e.On("x", l.handler(""))
		event, err := e.Push("x", "cancelled", batch.EventConfig{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond)
		e.Cancel(event)
		emit(t, e, "x", "a")
		start := time.Now()
		runLoop(t, loop)
		if held := time.Since(start); held != 100*time.Millisecond {
			t.Errorf("held for %v, want 100ms", held)
		}
		// The same while a task keeps the turn, and has emitted before.
		submit(t, loop, func() {
			emit(t, e, "x", "b")
			time.Sleep(50 * time.Millisecond)
			apart(func() { emit(t, e, "signal", "c") })
		})
		runLoop(t, loop)
		if s := e.Stats(); s.QueueWaitMax.High != 0 || s.QueueWaitMax.Normal != 100*time.Millisecond {
			t.Errorf("waits: %v", s.QueueWaitMax)
		}
		l.want(t, "a", "b")
	})
}

// TestAHookEndsAnotherGoroutine: not the one that is delivering, which goes on undisturbed.
func TestAHookEndsAnotherGoroutine(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{
		Retain: batch.Retain{Replay: batch.ReplayFirst},
		OnLost: func(batch.Lost[string]) { runtime.Goexit() },
	})
	emit(t, e, "late", "")
	runLoop(t, loop)
	e.On("y", l.handler(""))
	e.On("x", func(data string) {
		l.add("begin %s", data)
		if data == "a" {
			apart(func() { e.SetType("late", batch.TypeConfig[string]{Retain: batch.Retain{Replay: batch.ReplayNever}}) })
			emit(t, e, "y", "c")
			e.Flush()
		}
		l.add("end %s", data)
	})
	emit(t, e, "x", "a", "b")
	runLoop(t, loop)
	l.want(t, "begin a", "end a", "begin b", "end b", "c")
}

// TestTheErrorHandlerEndsItsGoroutine: the rest of the batch is delivered all the same.
func TestTheErrorHandlerEndsItsGoroutine(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{OnError: func(error) { runtime.Goexit() }})
	e.On("x", func(data string) {
		l.add("%s", data)
		if data == "a" {
			panic(data)
		}
	})
	emit(t, e, "x", "a", "b", "c")
	apart(func() { loop.Run(background) })
	l.want(t, "a", "b", "c")
	if s := e.Stats(); s.DeliveredTotal != 3 || s.ErrorsTotal != 1 {
		t.Errorf("stats: %+v", s)
	}
}

// TestABatchHandlerThatPanics costs what it got the batch handlers after it, and the first of its events the others.
func TestABatchHandlerThatPanics(t *testing.T) {
	loop, l := newLoop(t), &log{}
	e := newEmitter(t, loop, settings{OnError: func(error) { l.add("error") }})
	e.OnBatch("x", func([]string, batch.Info) { panic("always") })
	e.OnBatch("x", func(all []string, _ batch.Info) { l.add("%v", all) })
	e.On("x", l.handler("x "))
	emit(t, e, "x", "a", "b", "c")
	runLoop(t, loop)
	l.want(t, "error", "x b", "x c")
}

// OnLost may close the emitter again, for each event that is lost.
func TestCloseInsideOfOnLost(t *testing.T) {
	loop := newLoop(t)
	var e *batch.Emitter[string]
	lost := 0
	e = newEmitter(t, loop, settings{OnLost: func(batch.Lost[string]) {
		lost++
		_ = e.Close(ended())
	}})
	e.On("x", func(string) {})
	if err := loop.Submit(func() {
		_ = e.Emit("x", "1")
		_ = e.Emit("x", "2")
		_ = e.Close(ended())
	}); err != nil {
		t.Fatal(err)
	}
	loop.Start()
	<-e.Done()
	if err := loop.Close(background); err != nil || lost != 2 {
		t.Errorf("%d lost, %v", lost, err)
	}
}

// One context for both, as a program that shuts down has: the emitter ends, whoever is first.
func TestCloseTogetherWithTheLoop(t *testing.T) {
	for round := range 400 {
		loop := newLoop(t)
		loop.Start()
		var told atomic.Int64
		e := newEmitter(t, loop, settings{
			Policy: batch.Fixed, OnLost: func(batch.Lost[string]) { told.Add(1) },
		})
		e.On("x", func(string) { told.Add(1) })
		for range 50 {
			if err := e.Emit("x", ""); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(background, time.Duration(round%40)*5*time.Microsecond)
		var both sync.WaitGroup
		both.Go(func() { _ = e.Close(ctx) })
		both.Go(func() { _ = loop.Close(ctx) })
		both.Wait()
		<-e.Done()
		cancel()
		if told.Load() != 50 {
			t.Fatalf("round %d: told of %d events, not 50", round, told.Load())
		}
	}
}

func TestSetTypeAfterClose(t *testing.T) {
	e := newEmitter(t, newLoop(t))
	e.Close(ended())
	if err := e.SetType("x", batch.TypeConfig[string]{MaxBatch: 1}); !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestDirectAllocatesNothing(t *testing.T) {
	loop := newLoop(t)
	e := newEmitter(t, loop, settings{Policy: batch.Direct})
	e.On("x", func(string) {})
	submit(t, loop, func() {
		if n := testing.AllocsPerRun(100, func() { e.Emit("x", "data") }); n > 0 {
			t.Errorf("an event allocates %v times", n)
		}
	})
	runLoop(t, loop)
}

// TestAContextThatEndsDiscardsWhatHasNotLeft: that of Close, while the emitter holds events and while it delivers them.
func TestAContextThatEndsDiscardsWhatHasNotLeft(t *testing.T) {
	loop, l := newLoop(t), &log{}
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	e := newEmitter(t, loop, settings{
		MaxBatch: 1, OnLost: func(lost batch.Lost[string]) { l.add("lost %s: %v", lost.Data, lost.Why) },
	})
	begun, goOn := make(chan struct{}), make(chan struct{})
	e.On("x", func(data string) {
		l.add("%s", data)
		close(begun)
		<-goOn
	})
	submit(t, loop, func() { emit(t, e, "x", "a", "b", "c") })
	<-begun
	ctx, end := context.WithCancel(background)
	patient, hasty := closing(e), make(chan error, 1)
	go func() { hasty <- e.Close(ctx) }()
	end()
	if err := <-hasty; err != context.Canceled {
		t.Errorf("got %v", err)
	}
	close(goOn)
	if err := <-patient; err != nil {
		t.Errorf("got %v", err)
	}
	l.want(t, "a", "lost b: "+millrace.ErrCancelled.Error(), "lost c: "+millrace.ErrCancelled.Error())
}

// TestALoopThatEndsEndsAClose that waits for it.
func TestALoopThatEndsEndsAClose(t *testing.T) {
	loop := newLoop(t)
	e := newEmitter(t, loop)
	emit(t, e, "x", "a")
	closed := closing(e)
	loop.Close(ended())
	if err := <-closed; !errors.Is(err, millrace.ErrClosed) {
		t.Errorf("got %v", err)
	}
	<-e.Done()
}
