package eventloop

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"millrace.dev/go"
)

// A step of a program, on the loop or outside: what it does, to which timer or handle or for how long, and what the
// function that it gives to the loop does.
type step struct {
	op   byte
	arg  int
	body []step
}

const (
	opSubmit byte = iota
	opHigh
	opLow
	opBatch
	opMicro
	opTick
	opImmediate
	opAfter
	opEvery
	opCancel
	opReset
	opUnref
	opDo
	opKeepAlive
	opComplete
	opRelease
	opStopImmediate
	opStop
	opPanic
	opGoexit
	opStart // outside only, as the next two
	opRun
	opPass
	ops
)

// parse reads a program: two bytes to a step, a body where the first has its high bit.
func parse(in *bytes.Reader, depth int) (steps []step) {
	for len(steps) < 12 {
		op, err := in.ReadByte()
		if err != nil {
			return steps
		}
		arg, _ := in.ReadByte()
		s := step{op: op & 0x3f % ops, arg: int(arg)}
		if op&0x40 != 0 && depth > 0 {
			return steps // the end of a body
		}
		if op&0x80 != 0 && depth < 4 {
			s.body = parse(in, depth+1)
		}
		steps = append(steps, s)
	}
	return steps
}

// host is what a program runs on: the loop or its model.
type host interface {
	submit(priority millrace.Priority, fns ...func()) error
	microtask(fn func()) error
	nextTick(fn func()) error
	immediate(fn func()) (cancel func() bool, err error)
	timer(d time.Duration, every bool, fn func()) (cancel func() bool, reset func(time.Duration), unref func())
	do(fn func()) (string, bool)
	keepAlive() (complete func(func()), release func())
	stop()
	goexit()
	start()
	run()
	pass(time.Duration)
}

// script runs a program and keeps the log of it.
type script struct {
	host
	log        []string
	numbers    int
	fuel       int
	inside     int
	cancels    []func() bool
	resets     []func(time.Duration)
	unrefs     []func()
	immediates []func() bool
	completes  []func(func())
	releases   []func()
}

func (s *script) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// function makes what a step gives to the loop.
func (s *script) function(body []step) func() {
	s.numbers++
	number := s.numbers
	return func() {
		s.inside++
		defer func() { s.inside-- }()
		s.note("%d", number)
		s.perform(body)
	}
}

func pick[T any](from []T, arg int) (picked T) {
	if len(from) > 0 {
		picked = from[arg%len(from)]
	}
	return picked
}

func (s *script) perform(steps []step) {
	for _, step := range steps {
		if s.fuel--; s.fuel < 0 {
			return
		}
		s.one(step)
	}
}

func (s *script) one(step step) {
	d := time.Duration(step.arg%5) * time.Millisecond
	switch step.op {
	case opSubmit, opHigh, opLow:
		priority := map[byte]millrace.Priority{opSubmit: millrace.Normal, opHigh: millrace.High, opLow: millrace.Low}[step.op]
		if err := s.submit(priority, s.function(step.body)); err != nil {
			s.note("refused: %v", err)
		}
	case opBatch:
		var batch []func()
		for range step.arg % 20 {
			batch = append(batch, s.function(step.body))
		}
		if err := s.submit(millrace.Normal, batch...); err != nil {
			s.note("refused: %v", err)
		}
	case opMicro:
		s.note("micro %v", s.microtask(s.function(step.body)))
	case opTick:
		s.note("tick %v", s.nextTick(s.function(step.body)))
	case opImmediate:
		cancel, err := s.immediate(s.function(step.body))
		s.note("immediate %v", err)
		if err == nil {
			s.immediates = append(s.immediates, cancel)
		}
	case opStopImmediate:
		if cancel := pick(s.immediates, step.arg); cancel != nil && s.inside > 0 {
			s.note("stop immediate %v", cancel())
		}
	case opAfter, opEvery:
		fn := s.function(step.body)
		calls, place := 0, len(s.cancels)
		every := step.op == opEvery
		if every {
			d += time.Millisecond
		}
		cancel, reset, unref := s.timer(d, every, func() {
			if calls++; every && calls >= 3 {
				s.inside++
				s.cancels[place]()
				s.inside--
			}
			fn()
		})
		s.cancels, s.resets, s.unrefs = append(s.cancels, cancel), append(s.resets, reset), append(s.unrefs, unref)
	case opCancel:
		if cancel := pick(s.cancels, step.arg); cancel != nil {
			s.note("cancel %v", cancel())
		}
	case opReset:
		if reset := pick(s.resets, step.arg/6); reset != nil {
			reset(d)
		}
	case opUnref:
		if unref := pick(s.unrefs, step.arg); unref != nil {
			unref()
		}
	case opDo:
		if result, done := s.host.do(s.function(step.body)); done {
			s.note("do: %s", result)
		}
	case opKeepAlive:
		complete, release := s.keepAlive()
		s.completes, s.releases = append(s.completes, complete), append(s.releases, release)
	case opComplete:
		if complete := pick(s.completes, step.arg); complete != nil {
			complete(s.function(step.body))
		}
	case opRelease:
		if release := pick(s.releases, step.arg); release != nil {
			release()
		}
	case opStop:
		s.stop()
	case opPanic:
		if s.inside > 0 {
			panic(step.arg)
		}
	case opGoexit:
		if s.inside > 0 {
			s.goexit()
		}
	case opStart, opRun, opPass:
		if s.inside > 0 {
			return
		}
		switch step.op {
		case opStart:
			s.start()
		case opRun:
			s.run()
		case opPass:
			s.pass(d)
		}
	}
}

// real is the loop as a host. Each call outside waits until the loop has done what it is going to.
type real struct {
	*script
	t *testing.T
	l *Loop
}

func (r *real) settle() {
	if !r.l.Inside() {
		synctest.Wait()
	}
}

func (r *real) running() bool {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	return r.l.running
}

func (r *real) submit(priority millrace.Priority, fns ...func()) (err error) {
	defer r.settle()
	if len(fns) == 1 {
		return r.l.SubmitPriority(priority, fns[0])
	}
	n, err := r.l.SubmitBatch(fns)
	if err == nil && n != len(fns) {
		r.t.Error(n, "of", len(fns))
	}
	return err
}

func (r *real) microtask(fn func()) error { return r.l.Microtask(fn) }
func (r *real) nextTick(fn func()) error  { return r.l.NextTick(fn) }

func (r *real) immediate(fn func()) (func() bool, error) {
	immediate, err := r.l.Immediate(fn)
	if err != nil {
		return nil, err
	}
	return immediate.Stop, nil
}

func (r *real) timer(d time.Duration, every bool, fn func()) (func() bool, func(time.Duration), func()) {
	defer r.settle()
	set := r.l.After
	if every {
		set = r.l.Every
	}
	timer, err := set(d, fn)
	must(r.t, err)
	cancel := func() bool {
		defer r.settle()
		return timer.Stop()
	}
	return cancel, func(d time.Duration) {
			defer r.settle()
			must(r.t, timer.Reset(d))
		}, func() {
			defer r.settle()
			timer.Unref()
		}
}

func (r *real) do(fn func()) (result string, done bool) {
	if r.l.Inside() {
		return describe(r.l.Do(context.Background(), fn)), true
	}
	if !r.running() {
		return "", false
	}
	ended := make(chan struct{})
	result = describe(millrace.ErrGoexit)
	go func() {
		defer close(ended)
		result = describe(r.l.Do(context.Background(), fn))
	}()
	<-ended
	r.settle()
	return result, true
}

func describe(err error) string {
	switch failure := err.(type) {
	case nil:
		return "done"
	case *millrace.PanicError:
		return fmt.Sprint("panic ", failure.Value)
	}
	return err.Error()
}

func (r *real) keepAlive() (func(func()), func()) {
	handle, err := r.l.KeepAlive()
	must(r.t, err)
	return func(fn func()) {
			defer r.settle()
			handle.Complete(fn)
		}, func() {
			defer r.settle()
			handle.Release()
		}
}

func (r *real) stop() {
	r.l.Stop()
	r.settle()
}

func (r *real) goexit() { runtime.Goexit() }

func (r *real) start() {
	if !r.running() {
		must(r.t, r.l.Start())
	}
	r.settle()
}

func (r *real) run() {
	if r.running() {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.l.Run(context.Background())
	}()
	select {
	case <-ended:
	case <-time.After(time.Hour):
		// Only handles keep it alive by now.
		synctest.Wait()
		for _, release := range r.releases {
			release()
		}
		<-ended
	}
}

func (r *real) pass(d time.Duration) {
	// For -race, which does not know that what a timer starts comes after what was before the sleep.
	r.running()
	time.Sleep(d)
	r.settle()
}

// ideal is the model as a host.
type ideal struct {
	*script
	m *model
}

// settle lets the model do what it is going to.
func (i *ideal) settle() {
	if i.inside == 0 && i.m.running {
		i.m.resume()
	}
}

func (i *ideal) submit(priority millrace.Priority, fns ...func()) error {
	for _, fn := range fns {
		i.m.submit(priority, fn)
	}
	i.settle()
	return nil
}

func (i *ideal) microtask(fn func()) error {
	if i.inside == 0 {
		return ErrOutside
	}
	i.m.micros = append(i.m.micros, fn)
	return nil
}

func (i *ideal) nextTick(fn func()) error {
	if i.inside == 0 {
		return ErrOutside
	}
	i.m.ticks = append(i.m.ticks, fn)
	return nil
}

func (i *ideal) immediate(fn func()) (func() bool, error) {
	if i.inside == 0 {
		return nil, ErrOutside
	}
	immediate := &modelImmediate{fn}
	i.m.immediates = append(i.m.immediates, immediate)
	return func() bool {
		waited := immediate.fn != nil
		immediate.fn = nil
		return waited
	}, nil
}

func (i *ideal) timer(d time.Duration, every bool, fn func()) (func() bool, func(time.Duration), func()) {
	t := &modelTimer{fn: fn}
	if every {
		t.every = int64(d)
	}
	i.m.timers = append(i.m.timers, t)
	i.m.reset(t, d)
	i.settle()
	cancel := func() bool {
		defer i.settle()
		return i.m.cancel(t)
	}
	return cancel, func(d time.Duration) {
			i.m.reset(t, d)
			i.settle()
		}, func() {
			t.weak = true
			i.settle()
		}
}

func (i *ideal) do(fn func()) (result string, done bool) {
	if i.inside > 0 {
		var failure error
		func() {
			defer func() {
				if value := recover(); value == any(exit{}) {
					panic(value)
				} else if value != nil {
					failure = &millrace.PanicError{Value: value}
				}
			}()
			fn()
		}()
		return describe(failure), true
	}
	if !i.m.running {
		return "", false
	}
	return describe(i.m.do(fn)), true
}

func (i *ideal) keepAlive() (func(func()), func()) {
	i.m.handles++
	here := true
	release := func() {
		if here {
			here = false
			i.m.handles--
		}
		i.settle()
	}
	return func(fn func()) {
		if here {
			i.m.submit(millrace.Normal, fn)
			release()
		}
	}, release
}

func (i *ideal) stop() {
	if i.m.running {
		i.m.stop, i.m.urgent = true, true
		i.settle()
	}
}

func (i *ideal) goexit() { panic(exit{}) }

func (i *ideal) start() {
	if !i.m.running {
		i.m.begin(false)
	}
}

func (i *ideal) run() {
	if i.m.running {
		return
	}
	i.m.begin(true)
	if i.m.sleep(i.m.now + int64(time.Hour)); i.m.running {
		for _, release := range i.releases {
			release()
		}
	}
}

func (i *ideal) pass(d time.Duration) { i.m.pass(d) }

// compare runs a program on the loop and on the model, which have to keep the same log.
func compare(t *testing.T, program []byte) {
	steps := append(parse(bytes.NewReader(program), 0), step{op: opRun})
	play := func(s *script) []string {
		s.fuel = 400
		s.perform(steps)
		s.fuel = 1
		s.perform([]step{{op: opStop}})
		return s.log
	}

	ideally := &script{}
	m := &model{report: func(err error) { ideally.note("error: %s", describe(err)) }}
	ideally.host = &ideal{ideally, m}
	want := play(ideally)

	synctest.Test(t, func(t *testing.T) {
		really := &script{}
		l, err := New(Config{OnError: func(err error) { really.note("error: %s", describe(err)) }})
		must(t, err)
		really.host = &real{script: really, t: t, l: l}
		got := play(really)
		if !slices.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("the loop departs from the model at line %d of\nthe loop:  %v\nthe model: %v\nprogram %q\n%v",
				at, got[max(0, at-5):], want[max(0, at-5):], program, steps)
		}
		l.Close(cancelled())
	})
}

// randomProgram is one that is more likely to do something than random bytes are.
func randomProgram(random *rand.Rand) (program []byte) {
	for range 10 + random.IntN(60) {
		op := byte(random.IntN(int(ops)))
		switch random.IntN(8) {
		case 0, 1, 2:
			op |= 0x80
		case 3, 4:
			op |= 0x40
		}
		program = append(program, op, byte(random.IntN(256)))
	}
	return program
}

func TestRandomProgramsRunAsInTheModel(t *testing.T) {
	watchdog(t)
	random := rand.New(rand.NewPCG(seed(t), 0))
	for range 400 {
		if compare(t, randomProgram(random)); t.Failed() {
			return
		}
	}
}

func FuzzLoop(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		f.Add(randomProgram(random))
	}
	// Every kind of step in a task, each with a body; and a stop between two of them.
	var everything []byte
	for op := opSubmit; op <= opGoexit; op++ {
		everything = append(everything, opSubmit|0x80, 0, op|0x80, op*7, opMicro, 1, 0x40, 0, 0x40, 0)
	}
	f.Add(append(everything, opRun, 0))
	f.Add([]byte{opStart, 0, opDo | 0x80, 0, opMicro, 0, opImmediate, 0, opStop, 0, 0x40, 0, opBatch, 9, opStart, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		compare(t, program)
	})
}
