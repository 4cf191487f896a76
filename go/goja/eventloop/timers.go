package eventloop

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/dop251/goja"

	core "millrace.dev/go/eventloop"
)

// Timer is the result of SetTimeout, and of setTimeout in JavaScript.
type Timer struct{ job }

// Interval is the result of SetInterval, and of setInterval in JavaScript.
type Interval struct{ job }

// Immediate is the result of setImmediate in JavaScript.
type Immediate struct{ job }

// job is a callback that is to run. All but run belongs to the loop's mutex.
type job struct {
	object
	loop       *EventLoop
	run        func(*goja.Runtime)
	active     bool
	cleared    bool
	repeats    bool
	delay      time.Duration
	timer      *core.Timer // nil for an immediate
	number     int64       // that a script has made of it; 0: none
	prev, next *job        // in loop.jobs
}

// SetTimeout calls fn on the loop when the time has passed: counted from now, also if the loop is started later. Any
// goroutine, also callbacks of the loop. Nil if the loop is terminated.
//
// The runtime that fn gets, and any value made from it, must not be used outside fn.
func (loop *EventLoop) SetTimeout(fn func(*goja.Runtime), timeout time.Duration) *Timer {
	mustHave(fn != nil, "SetTimeout")
	t := &Timer{job{loop: loop, run: fn, delay: timeout}}
	if loop.add(&t.job) != nil {
		return nil
	}
	return t
}

// ClearTimeout cancels a Timer. In a callback of the loop it takes effect at once: fn will not be called. On another
// goroutine, when it returns, fn has been called, is about to be, or will not be. For nil, and for a timer that has
// run, it does nothing.
func (loop *EventLoop) ClearTimeout(t *Timer) {
	if t != nil {
		t.clear()
	}
}

// SetInterval is SetTimeout again and again; 0 or less counts as a millisecond. As in Node.js, the next time counts
// from the beginning of the last call: a late call moves the later ones.
func (loop *EventLoop) SetInterval(fn func(*goja.Runtime), timeout time.Duration) *Interval {
	mustHave(fn != nil, "SetInterval")
	i := &Interval{job{loop: loop, run: fn, delay: period(timeout), repeats: true}}
	if loop.add(&i.job) != nil {
		return nil
	}
	return i
}

// ClearInterval is ClearTimeout for an Interval. On another goroutine, when it returns, one call of fn may be under way
// or about to be, and none will follow it.
func (loop *EventLoop) ClearInterval(i *Interval) {
	if i != nil {
		i.clear()
	}
}

func mustHave(fn bool, name string) {
	if !fn {
		panic(name + ": the function is nil")
	}
}

func period(d time.Duration) time.Duration {
	if d <= 0 {
		return time.Millisecond
	}
	return max(d, time.Microsecond)
}

var errTerminated = errors.New("the loop is terminated")

// add starts a timer or an interval. One that is refused stays as if it had been cleared.
func (loop *EventLoop) add(j *job) (err error) {
	loop.mu.Lock()
	defer loop.mu.Unlock()
	if loop.terminated.Load() {
		return errTerminated
	}
	// The mutex keeps it from firing before it is in the list.
	if j.timer, err = loop.core.After(j.delay, j.fire); err == nil {
		j.link()
		j.set()
	}
	return err
}

// set notes that the job was set for the time that its delay is from now.
func (j *job) set() {
	if loop := j.loop; loop.repeating != nil && loop.repeating.delay == j.delay {
		loop.repeatFrom = time.Now()
	}
}

func (j *job) link() {
	loop := j.loop
	j.active = true
	loop.jobCount++
	j.next = loop.jobs
	if j.next != nil {
		j.next.prev = j
	}
	loop.jobs = j
}

// unlink makes the job one that will not run.
func (j *job) unlink() {
	loop := j.loop
	j.active = false
	loop.jobCount--
	delete(loop.numbered, j.number)
	if j.timer == nil {
		return
	}
	if j.prev != nil {
		j.prev.next = j.next
	} else {
		loop.jobs = j.next
	}
	if j.next != nil {
		j.next.prev = j.prev
	}
	j.prev, j.next = nil, nil
}

// fire is the task of the loop underneath. It lets go of the mutex before the callback, which may take it: what clears
// the job in between, on another goroutine, is too late.
func (j *job) fire() {
	j.loop.mu.Lock()
	runs := j.active
	if runs && j.repeats {
		j.loop.repeating, j.loop.repeatFrom = j, time.Now()
	} else if runs {
		j.unlink()
	}
	j.loop.mu.Unlock()
	switch {
	case !runs:
	case j.repeats:
		j.loop.task(j.runAndRepeat)
	default:
		j.loop.task(j.run)
	}
}

// runAndRepeat sets an interval again when it has run. Node.js keeps timers of one delay in the order of their being
// set, so it comes behind those that its callback has set, although its own time counts from before the callback.
func (j *job) runAndRepeat(vm *goja.Runtime) {
	defer func() {
		loop := j.loop
		loop.mu.Lock()
		defer loop.mu.Unlock()
		loop.repeating = nil
		if j.active {
			// A loop that is closed has no use for it.
			_ = j.timer.Reset(j.delay - time.Since(loop.repeatFrom))
		}
	}()
	j.run(vm)
}

func (j *job) clear() {
	j.loop.mu.Lock()
	defer j.loop.mu.Unlock()
	j.clearLocked()
}

func (j *job) clearLocked() {
	j.cleared = true
	if !j.active {
		return
	}
	j.unlink()
	if j.timer != nil {
		j.timer.Stop()
	}
}

// refresh starts the time again, also of a timer that has run.
func (j *job) refresh() {
	j.loop.mu.Lock()
	defer j.loop.mu.Unlock()
	if j.timer == nil || j.cleared || j.timer.Reset(j.delay) != nil {
		return
	}
	j.set()
	if !j.active {
		j.link()
	}
}

// What follows is for JavaScript.

func (loop *EventLoop) enableTimers() {
	loop.set("setTimeout", 2, loop.setTimeout)
	loop.set("setInterval", 2, loop.setInterval)
	loop.set("setImmediate", 1, loop.setImmediate)
	loop.set("clearTimeout", 1, loop.clear)
	loop.set("clearInterval", 1, loop.clear)
	loop.set("clearImmediate", 1, loop.clearImmediate)

	loop.timerProto = loop.vm.NewObject()
	method := func(name string, change func(*job) goja.Value) {
		_ = loop.timerProto.Set(name, func(call goja.FunctionCall) goja.Value {
			if j := exported(call.This); j != nil && j.timer != nil {
				if value := change(j); value != nil {
					return value
				}
			}
			return call.This
		})
	}
	method("ref", func(j *job) goja.Value { j.timer.Ref(); return nil })
	method("unref", func(j *job) goja.Value { j.timer.Unref(); return nil })
	method("hasRef", func(j *job) goja.Value { return loop.vm.ToValue(j.timer.HasRef()) })
	method("refresh", func(j *job) goja.Value { j.refresh(); return nil })
	method("close", func(j *job) goja.Value { j.clear(); return nil })
	if loop.node {
		_ = loop.timerProto.SetSymbol(goja.SymToPrimitive, func(call goja.FunctionCall) goja.Value {
			return loop.vm.ToValue(loop.numberOf(exported(call.This)))
		})
	}
}

// numberOf gives a timer a number that clearTimeout accepts until it has run.
func (loop *EventLoop) numberOf(j *job) int64 {
	loop.mu.Lock()
	defer loop.mu.Unlock()
	if j == nil {
		return 0
	}
	if j.number == 0 {
		loop.lastNumber++
		j.number = loop.lastNumber
	}
	if j.active {
		loop.numbered[j.number] = j
	}
	return j.number
}

func (loop *EventLoop) setTimeout(call goja.FunctionCall) goja.Value {
	t := new(Timer)
	return loop.schedule(&t.job, t, call, "setTimeout")
}

func (loop *EventLoop) setInterval(call goja.FunctionCall) goja.Value {
	i := &Interval{job{repeats: true}}
	return loop.schedule(&i.job, i, call, "setInterval")
}

func (loop *EventLoop) schedule(j *job, d goja.DynamicObject, call goja.FunctionCall, name string) goja.Value {
	fn, ok := loop.callback(call, name)
	if !ok {
		return nil
	}
	j.loop, j.delay = loop, loop.delay(call.Argument(1))
	if j.repeats {
		j.delay = period(j.delay)
	}
	args := rest(call, 2)
	object := loop.vm.NewDynamicObject(d)
	_ = object.SetPrototype(loop.timerProto)
	var this goja.Value
	if loop.node {
		this = object
	}
	j.run = func(*goja.Runtime) { loop.call(fn, this, args) }
	if err := loop.add(j); err != nil && err != errTerminated {
		panic(loop.vm.NewGoError(err))
	}
	return object
}

// setImmediate is a place in the queue of RunOnLoop, in one order with it as in goja_nodejs. With WithNode it is the
// end of the turn: before timers that have become due meanwhile.
func (loop *EventLoop) setImmediate(call goja.FunctionCall) goja.Value {
	fn, ok := loop.callback(call, "setImmediate")
	if !ok {
		return nil
	}
	args := rest(call, 1)
	i := &Immediate{job{loop: loop, run: func(*goja.Runtime) { loop.call(fn, nil, args) }}}
	if !loop.terminated.Load() {
		loop.mu.Lock()
		i.active = true
		loop.jobCount++
		loop.mu.Unlock()
		err := core.ErrOutside
		if loop.node {
			_, err = loop.core.Immediate(i.fire)
		}
		if err == core.ErrOutside {
			err = loop.core.Submit(i.fire)
		}
		if err != nil {
			i.clear()
			panic(loop.vm.NewGoError(err))
		}
	}
	return loop.vm.NewDynamicObject(i)
}

// clear is clearTimeout and clearInterval: either takes what the other is for, and ignores anything else.
func (loop *EventLoop) clear(call goja.FunctionCall) goja.Value {
	j := exported(call.Argument(0))
	if j == nil {
		j = loop.withNumber(call.Argument(0))
	}
	if j != nil && j.timer != nil {
		j.clear()
	}
	return nil
}

// withNumber is the job whose number a script gives, as one or as text, or nil.
func (loop *EventLoop) withNumber(value goja.Value) *job {
	if !loop.node || goja.IsUndefined(value) || goja.IsNull(value) {
		return nil
	}
	if kind := value.ExportType().Kind(); kind != reflect.Int64 && kind != reflect.String {
		return nil
	}
	number, err := strconv.ParseInt(value.String(), 10, 64)
	if err != nil {
		return nil
	}
	loop.mu.Lock()
	defer loop.mu.Unlock()
	return loop.numbered[number]
}

func (loop *EventLoop) clearImmediate(call goja.FunctionCall) goja.Value {
	if j := exported(call.Argument(0)); j != nil && j.timer == nil {
		j.clear()
	}
	return nil
}

// callback is the first argument. One that is not a function is ignored, as by goja_nodejs, or refused, as by Node.js.
func (loop *EventLoop) callback(call goja.FunctionCall, name string) (goja.Callable, bool) {
	fn, ok := goja.AssertFunction(call.Argument(0))
	if !ok && loop.node {
		loop.typeError("ERR_INVALID_ARG_TYPE", name+": the callback has to be a function")
	}
	return fn, ok
}

// maxDelay is the longest delay of Node.js, in ms.
const maxDelay = math.MaxInt32

func (loop *EventLoop) delay(value goja.Value) time.Duration {
	if loop.node {
		ms := math.Trunc(value.ToFloat())
		if !(ms >= 1 && ms <= maxDelay) {
			ms = 1
		}
		return time.Duration(ms) * time.Millisecond
	}
	ms := value.ToInteger()
	if ms > int64(math.MaxInt64/time.Millisecond) {
		// It does not fit (292 years, Infinity): at once, as in goja_nodejs.
		return 0
	}
	return max(0, time.Duration(ms)) * time.Millisecond
}

func rest(call goja.FunctionCall, from int) []goja.Value {
	if len(call.Arguments) <= from {
		return nil
	}
	return append([]goja.Value(nil), call.Arguments[from:]...)
}
