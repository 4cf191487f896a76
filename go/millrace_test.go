package millrace_test

import (
	"errors"
	"strings"
	"testing"

	"millrace.dev/go"
)

func TestNamesOfPriorities(t *testing.T) {
	var names []string
	for p := range millrace.Low + 2 {
		names = append(names, p.String())
	}
	if got := strings.Join(names, " "); got != "default high normal low Priority(4)" {
		t.Error(got)
	}
	for p := range millrace.Low + 2 {
		if err := p.Check(); (err != nil) != (p > millrace.Low) || err != nil && !errors.Is(err, millrace.ErrOption) {
			t.Errorf("%v: %v", p, err)
		}
	}
}

func TestErrorsSayWhatTheyAreMadeOf(t *testing.T) {
	bad := &millrace.OptionError{Name: "MaxBatch", Value: -1, Allowed: "from 1 to 9"}
	if got := bad.Error(); got != "millrace: bad value: MaxBatch is -1; it must be from 1 to 9" {
		t.Error(got)
	}
	broken := errors.New("broken")
	if err := error(&millrace.PanicError{Value: broken}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "broken") {
		t.Error(err)
	}
	if err := error(&millrace.PanicError{Value: 7}); errors.Unwrap(err) != nil || !strings.Contains(err.Error(), "panicked: 7") {
		t.Error(err)
	}
}
