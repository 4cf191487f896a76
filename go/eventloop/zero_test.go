package eventloop

import (
	"errors"
	"strings"
	"testing"

	"millrace.dev/go"
)

// TestZeroLoop tells whoever has not called New to do so; it is no full queue.
func TestZeroLoop(t *testing.T) {
	var l Loop
	for _, err := range []error{l.Submit(func() {}), l.SubmitPriority(millrace.High, func() {})} {
		if !errors.Is(err, millrace.ErrOption) || !strings.Contains(err.Error(), "New") {
			t.Errorf("got %v", err)
		}
	}
}
