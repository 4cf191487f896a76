package tournament

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"millrace.dev/go/bench/entrant"
)

// A Case is a question and the arms that answer it.
type Case struct {
	Name string
	Ops  int // of an arm, unless the arm is one of those that take long
	Arms []Arm
}

// An Arm is one way to do a case's work.
type Arm struct {
	Name string
	run  run
	part int // of the case's operations, one in this many is enough; 0: all of them
}

// run does ops operations; what is random comes from random.
type run func(ops int, random *rand.Rand) Sample

// subject is work that any entrant can do.
type subject func(start entrant.New, ops int, random *rand.Rand) Sample

// OpsOf is how many operations an arm of the case does by default.
func (c Case) OpsOf(arm Arm) int { return c.Ops / max(arm.part, 1) }

// Run measures one arm.
func (a Arm) Run(ops int, seed uint64) (sample Sample, err error) {
	defer caught(&err)
	return a.run(ops, rand.New(rand.NewPCG(seed, 0))), nil
}

// failure is the panic of a case that could not go on.
type failure struct{ error }

// caught makes a failure an error.
func caught(err *error) {
	switch reason := recover().(type) {
	case nil:
	case failure:
		*err = reason.error
	default:
		panic(reason)
	}
}

func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

func started(start entrant.New, queue int) entrant.Entrant {
	loop, err := start(queue)
	must(err)
	return loop
}

// each makes an arm of each entrant; of those alone that are named, if any are.
func each(do subject, names ...string) []Arm {
	var arms []Arm
	for _, entry := range entrant.All {
		if len(names) == 0 || slices.Contains(names, entry.Name) {
			arms = append(arms, arm(entry.Name, do, entry.New))
		}
	}
	return arms
}

func arm(name string, do subject, start entrant.New) Arm {
	return Arm{Name: name, run: func(ops int, random *rand.Rand) Sample { return do(start, ops, random) }}
}

// alone is an arm that needs no entrant.
func alone(name string, do func(ops int) Sample) Arm {
	return Arm{Name: name, run: func(ops int, _ *rand.Rand) Sample { return do(ops) }}
}

// fewer has an arm do a twentieth of the operations, because they take so long.
func fewer(arm Arm) Arm {
	arm.part = 20
	return arm
}

// slowly is fewer for the arms of these names.
func slowly(names []string, arms ...Arm) []Arm {
	for i, each := range arms {
		if slices.Contains(names, each.Name) {
			arms[i] = fewer(each)
		}
	}
	return arms
}

// ErrUnknown is returned by Find.
var ErrUnknown = errors.New("unknown name")

// Find returns a case and one of its arms. Its error lists the names that there are.
func Find(caseName, armName string) (Case, Arm, error) {
	at := slices.IndexFunc(Cases, func(c Case) bool { return c.Name == caseName })
	if at < 0 {
		return Case{}, Arm{}, unknown("case", caseName, Cases, func(c Case) string { return c.Name })
	}
	c := Cases[at]
	at = slices.IndexFunc(c.Arms, func(a Arm) bool { return a.Name == armName })
	if at < 0 {
		return Case{}, Arm{}, unknown("arm of "+c.Name, armName, c.Arms, func(a Arm) string { return a.Name })
	}
	return c, c.Arms[at], nil
}

func unknown[T any](what, name string, all []T, nameOf func(T) string) error {
	names := make([]string, len(all))
	for i, each := range all {
		names[i] = nameOf(each)
	}
	return fmt.Errorf("%w: %q is no %s; there are %s", ErrUnknown, name, what, strings.Join(names, ", "))
}

// Host says what every sample was measured with.
func Host() map[string]any {
	return map[string]any{"go": runtime.Version(), "gomaxprocs": runtime.GOMAXPROCS(0)}
}
