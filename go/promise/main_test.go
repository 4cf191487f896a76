package promise_test

import (
	"testing"

	"millrace.dev/go/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
