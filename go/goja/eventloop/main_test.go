package eventloop_test

import (
	"testing"

	"github.com/dop251/goja"

	"millrace.dev/go/goja/eventloop"
	"millrace.dev/go/internal/leak"
)

func TestMain(m *testing.M) {
	leak.Main(m)
}

// script runs code on a loop until nothing is left to do, and returns what it gave to log().
func script(t *testing.T, loop *eventloop.EventLoop, code string) (log []string) {
	t.Helper()
	loop.Run(func(vm *goja.Runtime) {
		_ = vm.Set("log", func(call goja.FunctionCall) goja.Value {
			log = append(log, call.Argument(0).String())
			return goja.Undefined()
		})
		if _, err := vm.RunString(code); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	})
	return log
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}
