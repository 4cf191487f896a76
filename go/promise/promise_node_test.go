package promise_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
	"millrace.dev/go/promise"
)

// step is a line of a program on promises that runs here and, by testdata/promises.mjs, in Node.js. Promises have
// numbers. A step on one that does not exist (yet) does nothing.
type step struct {
	Op    string `json:"op"`
	ID    int    `json:"id"`              // of the promise that is made
	Of    int    `json:"of"`              // of the promise that it is made from, or that is settled
	On    []int  `json:"on,omitempty"`    // the same for all, any...
	Inner *int   `json:"inner,omitempty"` // of the promise that a function given to Chain returns
	Text  string `json:"text,omitempty"`  // what it is settled with
	Steps []step `json:"steps,omitempty"` // what happens in a microtask, tick or immediate
	Body  body   `json:"body"`            // what happens in a handler
}

type body struct {
	Steps  []step `json:"steps,omitempty"`
	Throws bool   `json:"throws,omitempty"`
}

type text = promise.Promise[string]

type machine struct {
	loop     *eventloop.Loop
	lines    []string
	promises map[int]*text
	resolve  map[int]func(string)
	reject   map[int]func(error)
}

func (m *machine) note(format string, args ...any) {
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
}

func (m *machine) perform(steps []step) {
	for _, s := range steps {
		m.perform1(s)
	}
}

func (m *machine) perform1(s step) {
	l := m.loop
	keep := func(p *text) {
		m.promises[s.ID] = p
		// What a number stood for before is not to be settled by it any more.
		delete(m.resolve, s.ID)
		delete(m.reject, s.ID)
	}
	var on []*text
	for _, id := range s.On {
		if p := m.promises[id]; p != nil {
			on = append(on, p)
		}
	}
	later := func() { m.perform(s.Steps) }
	switch s.Op {
	case "note":
		m.note("%s", s.Text)
	case "new":
		p, resolve, reject := promise.New[string](l)
		keep(p)
		m.resolve[s.ID], m.reject[s.ID] = resolve, reject
	case "resolved":
		keep(promise.Resolve(l, s.Text))
	case "rejected":
		keep(promise.Reject[string](l, errors.New(s.Text)))
	case "resolve":
		if resolve := m.resolve[s.Of]; resolve != nil {
			resolve(s.Text)
		}
	case "reject":
		if reject := m.reject[s.Of]; reject != nil {
			reject(errors.New(s.Text))
		}
	case "tick":
		l.NextTick(later)
	case "microtask":
		l.Microtask(later)
	case "immediate":
		l.Immediate(later)
	case "all":
		keep(promise.Then(promise.All(l, on...), func(values []string) (string, error) {
			return strings.Join(values, ","), nil
		}))
	case "allSettled":
		keep(promise.Then(promise.AllSettled(l, on...), func(outcomes []promise.Outcome[string]) (string, error) {
			var shown []string
			for _, o := range outcomes {
				reason := ""
				if o.Err != nil {
					reason = thrown(o.Err).Error()
				}
				shown = append(shown, o.Value+":"+reason)
			}
			return strings.Join(shown, ","), nil
		}))
	case "race":
		keep(promise.Race(l, on...))
	case "any":
		keep(promise.Any(l, on...).Catch(func(err error) (string, error) {
			var all *promise.AggregateError
			errors.As(err, &all)
			var reasons []string
			for _, reason := range all.Errors {
				reasons = append(reasons, thrown(reason).Error())
			}
			return "", errors.New(strings.Join(reasons, ","))
		}))
	default:
		m.attach(s, keep)
	}
}

// attach performs the steps that add a handler to a promise.
func (m *machine) attach(s step, keep func(*text)) {
	p := m.promises[s.Of]
	if p == nil {
		return
	}
	ends := func(line string) (string, error) {
		m.note("%s", line)
		m.perform(s.Body.Steps)
		if s.Body.Throws {
			return "", fmt.Errorf("%d!", s.ID)
		}
		return fmt.Sprint(s.ID), nil
	}
	switch s.Op {
	case "then":
		keep(promise.Then(p, func(v string) (string, error) { return ends(fmt.Sprintf("then %d %s", s.ID, v)) }))
	case "catch":
		keep(p.Catch(func(err error) (string, error) { return ends(fmt.Sprintf("catch %d %v", s.ID, thrown(err))) }))
	case "finally":
		keep(p.Finally(func() {
			if _, err := ends(fmt.Sprintf("finally %d", s.ID)); err != nil {
				panic(err)
			}
		}))
	case "chain":
		keep(promise.Chain(p, func(v string) *text {
			_, err := ends(fmt.Sprintf("chain %d %s", s.ID, v))
			if err != nil {
				panic(err)
			}
			if inner := m.promises[*s.Inner]; inner != nil {
				return inner
			}
			return promise.Resolve(m.loop, fmt.Sprint(s.ID))
		}))
	default:
		panic("unknown step " + s.Op)
	}
}

// thrown is what a handler panicked with, which is what throws in JavaScript, or else the error itself.
func thrown(err error) error {
	var panicked *millrace.PanicError
	if errors.As(err, &panicked) {
		return panicked.Value.(error)
	}
	return err
}

// performHere returns what a program notes on a loop.
func performHere(t *testing.T, program []step) []string {
	m := &machine{promises: map[int]*text{}, resolve: map[int]func(string){}, reject: map[int]func(error){}}
	m.loop = newLoop(t, eventloop.Config{OnRejection: func(reason error) {
		m.note("unhandled %v", thrown(reason))
	}})
	check(t, m.loop.Submit(func() { m.perform(program) }))
	check(t, m.loop.Run(context.Background()))
	return m.lines
}

// performInNode returns what programs note in Node.js.
func performInNode(t *testing.T, programs [][]step) [][]string {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node: ", err)
	}
	input, err := json.Marshal(programs)
	check(t, err)
	command := exec.Command(node, "--no-warnings", "testdata/promises.mjs")
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	output, err := command.Output()
	check(t, err)
	var lines [][]string
	check(t, json.Unmarshal(output, &lines))
	return lines
}

func number(n int) *int { return &n }

// The programs that tell an implementation apart that takes one microtask too many or too few.
var programs = map[string][]step{
	"a chain beside another": {
		{Op: "resolved", ID: 1, Text: "a"}, {Op: "resolved", ID: 2, Text: "b"},
		{Op: "then", ID: 3, Of: 1}, {Op: "then", ID: 4, Of: 3}, {Op: "then", ID: 5, Of: 4},
		{Op: "then", ID: 6, Of: 2}, {Op: "then", ID: 7, Of: 6}, {Op: "note", Text: "synchronous"},
	},
	"adoption of a settled promise takes two microtasks more": {
		{Op: "resolved", ID: 1, Text: "a"}, {Op: "resolved", ID: 2, Text: "inner"},
		{Op: "chain", ID: 3, Of: 1, Inner: number(2)}, {Op: "then", ID: 4, Of: 3},
		{Op: "then", ID: 10, Of: 1}, {Op: "then", ID: 11, Of: 10}, {Op: "then", ID: 12, Of: 11},
		{Op: "then", ID: 13, Of: 12},
		{Op: "then", ID: 14, Of: 13},
	},
	"adoption of a pending and of a rejected promise": {
		{Op: "resolved", ID: 1, Text: "a"}, {Op: "new", ID: 2}, {Op: "rejected", ID: 3, Text: "no"},
		{Op: "chain", ID: 4, Of: 1, Inner: number(2)}, {Op: "then", ID: 5, Of: 4},
		{Op: "chain", ID: 6, Of: 1, Inner: number(3)}, {Op: "catch", ID: 7, Of: 6},
		{Op: "microtask", Steps: []step{
			{Op: "microtask", Steps: []step{{Op: "resolve", Of: 2, Text: "late"}, {Op: "note", Text: "m"}}},
		}},
		{Op: "then", ID: 10, Of: 1}, {Op: "then", ID: 11, Of: 10}, {Op: "then", ID: 12, Of: 11},
		{Op: "then", ID: 13, Of: 12},
	},
	"finally": {
		{Op: "resolved", ID: 1, Text: "a"}, {Op: "rejected", ID: 2, Text: "no"},
		{Op: "finally", ID: 3, Of: 1}, {Op: "then", ID: 4, Of: 3},
		{Op: "finally", ID: 5, Of: 2}, {Op: "catch", ID: 6, Of: 5},
		{Op: "finally", ID: 7, Of: 1, Body: body{Throws: true}}, {Op: "catch", ID: 8, Of: 7},
		{Op: "then", ID: 10, Of: 1}, {Op: "then", ID: 11, Of: 10}, {Op: "then", ID: 12, Of: 11},
		{Op: "then", ID: 13, Of: 12},
	},
	"ticks come before microtasks": {
		{Op: "resolved", ID: 1, Text: "a"},
		{Op: "then", ID: 2, Of: 1, Body: body{
			Steps: []step{{Op: "tick", Steps: []step{{Op: "note", Text: "tick 2"}}}},
		}},
		{Op: "microtask", Steps: []step{{Op: "note", Text: "microtask"}}},
		{Op: "tick", Steps: []step{{Op: "note", Text: "tick 1"}}},
		{Op: "immediate", Steps: []step{{Op: "note", Text: "immediate"}}}, {Op: "then", ID: 3, Of: 2},
	},
	"rejections are reported when the microtasks have run, unless handled by then": {
		{Op: "rejected", ID: 1, Text: "one"}, {Op: "rejected", ID: 2, Text: "two"},
		{Op: "rejected", ID: 3, Text: "three"},
		{Op: "microtask", Steps: []step{{Op: "catch", ID: 4, Of: 2}}}, {Op: "then", ID: 5, Of: 3},
		{Op: "tick", Steps: []step{{Op: "catch", ID: 6, Of: 5, Body: body{Throws: true}}}},
		{Op: "immediate", Steps: []step{{Op: "catch", ID: 7, Of: 1}}},
	},
	"several at once": {
		{Op: "new", ID: 1}, {Op: "resolved", ID: 2, Text: "b"},
		{Op: "rejected", ID: 3, Text: "no"}, {Op: "rejected", ID: 4, Text: "nor"},
		{Op: "all", ID: 10, On: []int{1, 2}}, {Op: "then", ID: 20, Of: 10},
		{Op: "all", ID: 11, On: []int{1, 3, 4}}, {Op: "catch", ID: 21, Of: 11},
		{Op: "allSettled", ID: 12, On: []int{1, 2, 3}}, {Op: "then", ID: 22, Of: 12},
		{Op: "any", ID: 13, On: []int{3, 4}}, {Op: "catch", ID: 23, Of: 13},
		{Op: "any", ID: 14, On: []int{3, 2, 1}}, {Op: "then", ID: 24, Of: 14},
		{Op: "race", ID: 15, On: []int{1, 3, 2}}, {Op: "catch", ID: 25, Of: 15},
		{Op: "all", ID: 16}, {Op: "then", ID: 26, Of: 16}, {Op: "race", ID: 17}, {Op: "then", ID: 27, Of: 17},
		{Op: "any", ID: 18}, {Op: "catch", ID: 28, Of: 18}, {Op: "allSettled", ID: 19}, {Op: "then", ID: 29, Of: 19},
		{Op: "immediate", Steps: []step{{Op: "resolve", Of: 1, Text: "a"}, {Op: "reject", Of: 1, Text: "too late"}}},
	},
}

func TestPromisesOrderAsInNode(t *testing.T) {
	var names []string
	var all [][]step
	for name, program := range programs {
		names, all = append(names, name), append(all, program)
	}
	for i, want := range performInNode(t, all) {
		t.Run(names[i], func(t *testing.T) { same(t, all[i], performHere(t, all[i]), want) })
	}
}

func TestRandomPromisesOrderAsInNode(t *testing.T) {
	random := make([][]step, 200)
	for i := range random {
		w := &writer{Rand: rand.New(rand.NewPCG(rand.Uint64(), 0))}
		random[i] = w.steps(30, 0)
	}
	noted := 0
	for i, want := range performInNode(t, random) {
		noted += len(want)
		if same(t, random[i], performHere(t, random[i]), want); t.Failed() {
			return
		}
	}
	if noted < 10*len(random) {
		t.Errorf("the programs are too dull: %d lines of %d programs", noted, len(random))
	}
}

func same(t *testing.T, program []step, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		text, _ := json.Marshal(program)
		t.Errorf("program %s\nhere %v\nnode %v", text, got, want)
	}
}

// writer writes random programs.
type writer struct {
	*rand.Rand
	made int
	sure []int // promises that the program makes for sure
}

// a new promise's number, and that of one that may exist by then.
func (w *writer) next() int { w.made++; return w.made }
func (w *writer) one() int {
	if n := len(w.sure); n > 0 && w.IntN(4) > 0 {
		return w.sure[n-1-w.IntN(min(n, 8))]
	}
	return 1 + w.IntN(max(1, w.made))
}

func (w *writer) steps(n, depth int) []step {
	var steps []step
	for range n {
		steps = append(steps, w.step(depth))
	}
	return steps
}

func (w *writer) step(depth int) step {
	ops := []string{
		"new", "new", "resolved", "resolved", "rejected", "resolve", "resolve", "reject", "all", "allSettled", "race",
		"any",
		"then", "then", "then", "then", "catch", "catch", "finally", "finally", "chain", "chain", "chain",
		"tick", "microtask", "immediate",
	}
	s := step{Op: ops[w.IntN(len(ops))], Of: w.one()}
	few := func() []step {
		if depth == 3 {
			return nil
		}
		return w.steps(w.IntN(4), depth+1)
	}
	switch s.Op {
	case "resolve", "reject":
		s.Text = fmt.Sprintf("s%d", w.IntN(1000))
	case "tick", "microtask", "immediate":
		s.Steps = append(few(), step{Op: "note", Text: fmt.Sprintf("%s %d", s.Op, w.IntN(1000))})
	default:
		for range w.IntN(4) {
			s.On = append(s.On, w.one())
		}
		inner := w.one() // before its own number is given: it may not wait for itself
		s.ID = w.next()
		if depth == 0 {
			w.sure = append(w.sure, s.ID)
		}
		s.Text = fmt.Sprintf("v%d", s.ID)
		switch s.Op {
		case "chain":
			s.Inner = &inner
			s.Body = body{Steps: few(), Throws: w.IntN(6) == 0}
		case "then", "catch", "finally":
			s.Body = body{Steps: few(), Throws: w.IntN(6) == 0}
		}
	}
	return s
}
