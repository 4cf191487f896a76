package eventloop

import (
	"errors"
	"strings"
	"testing"
)

// TestZeroLoop tells whoever has not called New to do so; it is no full queue.
func TestZeroLoop(t *testing.T) {
	var l Loop
	for _, err := range []error{l.Submit(func() {}), l.SubmitPriority(High, func() {})} {
		if !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "New") {
			t.Errorf("got %v", err)
		}
	}
}

func TestNilOption(t *testing.T) {
	if _, err := New(nil); !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "an Option is nil") {
		t.Errorf("got %v", err)
	}
}
