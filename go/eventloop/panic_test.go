package eventloop

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"time"

	"millrace.dev/go"
)

// faults are functions that do not return, and what is to be said of each.
var faults = []struct {
	name  string
	fn    func()
	check func(error) bool
}{
	{"value", func() { panic("a value") }, func(err error) bool {
		var failure *millrace.PanicError
		return errors.As(err, &failure) && failure.Value == "a value" && strings.Contains(err.Error(), "a value") &&
			strings.Contains(string(failure.Stack), "panic_test.go")
	}},
	{"nil", func() { panic(nil) }, func(err error) bool {
		var failure *runtime.PanicNilError
		return errors.As(err, &failure)
	}},
	{"runtime error", func() { var m map[string]int; m["x"] = 1 }, func(err error) bool {
		var failure runtime.Error
		return errors.As(err, &failure)
	}},
	{"error", func() { panic(&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}) }, func(err error) bool {
		var failure *fs.PathError
		return errors.As(err, &failure) && failure.Path == "x" && errors.Is(err, fs.ErrNotExist)
	}},
	{"goexit", runtime.Goexit, func(err error) bool { return errors.Is(err, millrace.ErrGoexit) }},
}

// places are where a fault can happen: each puts fn there; it is called in a task.
var places = []struct {
	name string
	put  func(l *Loop, fn func())
}{
	{"task", func(l *Loop, fn func()) { l.Submit(fn) }},
	{"high", func(l *Loop, fn func()) { l.SubmitPriority(millrace.High, fn) }},
	{"low", func(l *Loop, fn func()) { l.SubmitPriority(millrace.Low, fn) }},
	{"microtask", func(l *Loop, fn func()) { l.Microtask(fn) }},
	{"tick", func(l *Loop, fn func()) { l.NextTick(fn) }},
	{"immediate", func(l *Loop, fn func()) { l.Immediate(fn) }},
	{"timer", func(l *Loop, fn func()) { l.After(0, fn) }},
	{"interval", func(l *Loop, fn func()) {
		var every *Timer
		every, _ = l.Every(time.Microsecond, func() {
			every.Stop()
			fn()
		})
	}},
	{"pressure hook", func(l *Loop, fn func()) {
		l.config.OnPressure = func(int) {
			l.config.OnPressure = nop[int]
			// What is asked for in the same breath must not be lost with the goroutine.
			l.After(0, func() {})
			fn()
		}
		for range 20 {
			l.Submit(func() {})
		}
	}},
}

// faulty submits a task that puts fn into a place, among others that must run whatever happens.
func faulty(t *testing.T, l *Loop, put func(*Loop, func()), fn func()) (ran *int) {
	ran = new(int)
	count := func() { *ran++ }
	must(t, l.Submit(func() {
		l.Microtask(count)
		l.NextTick(count)
		l.Immediate(count)
		l.After(0, count)
		put(l, fn)
		l.Microtask(count)
		l.NextTick(count)
		l.Immediate(count)
		l.After(0, count)
		l.SubmitPriority(millrace.High, count)
		l.SubmitPriority(millrace.Low, count)
	}))
	must(t, l.Submit(count))
	return ran
}

// all is how many functions faulty counts.
const all = 11

func TestAFaultAnywhereIsReportedAndTheLoopGoesOn(t *testing.T) {
	for _, place := range places {
		for _, fault := range faults {
			for _, how := range []string{"Run", "Start", "Start on a locked thread"} {
				t.Run(place.name+"/"+fault.name+"/"+how, func(t *testing.T) {
					var reported []error
					l := made(t, Config{
						PressureMark: 15,
						OnPressure:   nop[int],
						OnError:      func(err error) { reported = append(reported, err) },
						LockOSThread: strings.Contains(how, "locked"),
					})
					ran := faulty(t, l, place.put, fault.fn)
					if how == "Run" {
						// On a goroutine of its own, which Goexit ends; but not before the loop.
						ended := make(chan struct{})
						go func() {
							defer close(ended)
							l.Run(context.Background())
						}()
						<-ended
					} else {
						must(t, l.Start())
						must(t, l.Drain(context.Background()))
						l.Stop()
					}
					if *ran != all || len(reported) != 1 || !fault.check(reported[0]) {
						t.Errorf("%d ran, reported %v", *ran, reported)
					}
					if s := l.Stats(); s.ErrorsTotal != 1 || s.Live != 0 || s.QueueDepth != 0 {
						t.Errorf("%+v", s)
					}
				})
			}
		}
	}
}

// What other goroutines have asked for waits behind the hook, and must not go with its goroutine.
func TestAHookThatEndsTheGoroutineLeavesOrdersAlone(t *testing.T) {
	fired := make(chan struct{})
	l := started(t, Config{PressureMark: 2, OnPressure: func(int) { runtime.Goexit() }, OnError: nop[error]})
	release := busy(t, l)
	must(t, l.Submit(func() {}))
	must(t, l.Submit(func() {}))
	_, err := l.After(0, func() { close(fired) })
	must(t, err)
	release()
	<-fired
}

func TestAnErrorHandlerThatFailsStopsNothing(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			told := 0
			l := started(t, Config{OnError: func(error) {
				told++
				fault.fn()
			}})
			ran := 0
			for range 3 {
				must(t, l.Submit(func() { panic("told") }))
				must(t, l.Submit(func() { ran++ }))
			}
			must(t, l.Submit(runtime.Goexit))
			must(t, l.Submit(func() { ran++ }))
			settled(t, l)
			// Inline: the caller's goroutine reports. It may end.
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				l.Do(context.Background(), func() {
					l.Microtask(func() { panic("told") })
					l.Microtask(func() { ran++ })
				})
			}()
			<-ended
			settled(t, l)
			// A failure of the handler is not held against the next one.
			must(t, l.Submit(runtime.Goexit))
			settled(t, l)
			do(t, l, func() {
				if told != 6 || ran != 5 {
					t.Error("told", told, "ran", ran)
				}
			})
		})
	}
}

func TestAPanicLeavesRunWhenAskedTo(t *testing.T) {
	for _, place := range places {
		if place.name == "pressure hook" {
			continue // not a task: it is reported
		}
		for _, fault := range faults {
			t.Run(place.name+"/"+fault.name, func(t *testing.T) {
				l := made(t, Config{PropagatePanics: true, OnError: func(err error) { t.Error("reported:", err) }})
				fn := fault.fn
				if fault.name == "nil" {
					fn = func() { panic(0) }
				}
				// There may be nothing else left when an interval is due.
				after := 0
				ran := faulty(t, l, place.put, func() {
					l.Submit(func() { after++ })
					fn()
				})
				ended := make(chan any)
				go func() {
					returned := false
					defer func() {
						value := recover()
						if returned {
							value = "returned"
						}
						ended <- value
					}()
					l.Run(context.Background())
					returned = true
				}()
				value := <-ended
				err, is := value.(error)
				if value == "returned" || is && !fault.check(err) || !is && (value == nil) != (fault.name == "goexit") {
					t.Error("came out:", value)
				}
				if after != 0 {
					t.Error("the loop went on")
				}
				run(t, l)
				if *ran != all || after != 1 {
					t.Errorf("%d and %d ran", *ran, after)
				}
			})
		}
	}
}

// Whatever is behind the fault is run once, in its order.
func TestALoopThatPanickedGoesOnWhereItWas(t *testing.T) {
	l := made(t, Config{PropagatePanics: true})
	var d diary
	fails := func(name string) func() {
		return func() {
			d.note(name)
			panic(name)
		}
	}
	must(t, l.Submit(func() {
		d.note("1")
		l.Immediate(fails("immediate 1"))
		l.Immediate(d.write("immediate 2"))
		l.Microtask(fails("micro 1"))
		l.Microtask(d.write("micro 2"))
		must(t, l.Submit(d.write("4")))
		panic("1")
	}))
	must(t, l.Submit(fails("2")))
	must(t, l.Submit(d.write("3")))
	runs := 0
	for l.Alive() {
		runs++
		func() {
			defer func() { recover() }()
			l.Run(context.Background())
		}()
	}
	d.expect(t, "1", "micro 1", "micro 2", "2", "3", "immediate 1", "immediate 2", "4")
	if runs != 5 {
		t.Error(runs, "runs")
	}
}

func TestAPanicThatLeavesCloseLosesNothing(t *testing.T) {
	l, err := New(Config{PropagatePanics: true})
	must(t, err)
	ran := 0
	must(t, l.Submit(func() { panic("out") }))
	must(t, l.Submit(func() { ran++ }))
	func() {
		defer func() {
			if recover() != "out" {
				t.Error("not the panic of the task")
			}
		}()
		l.Close(context.Background())
	}()
	err, left := l.Close(context.Background()), l.Left()
	if len(left) != 1 || !errors.Is(err, millrace.ErrClosed) || ran != 0 {
		t.Error(len(left), err, ran)
	}
}

// A goroutine that a task has ended is not the loop any more, nor is another that the runtime puts in its place.
func TestNobodyInheritsTheLoopFromAGoroutineThatEnded(t *testing.T) {
	l := started(t, Config{OnError: nop[error]})
	for range 200 {
		must(t, l.Submit(runtime.Goexit))
		outside := make(chan error)
		for range 4 {
			go func() { outside <- l.Microtask(func() {}) }()
		}
		for range 4 {
			if err := <-outside; !errors.Is(err, ErrOutside) {
				t.Fatal(err)
			}
		}
	}
}
