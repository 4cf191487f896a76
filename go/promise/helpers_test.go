package promise_test

import "millrace.dev/go/internal/looptest"

var (
	check       = looptest.Check
	newLoop     = looptest.New
	startedLoop = looptest.Started
	on          = looptest.On
	benchLoop   = looptest.Bench
)
