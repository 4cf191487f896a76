package engine

import (
	"fmt"

	"millrace.dev/go"
)

// overload is a refusal; its message is made when somebody reads it, for there may be many.
type overload struct {
	queued, maxQueue            int
	bytes, given, maxQueueBytes int64
}

func (e *overload) Error() string {
	if e.queued >= e.maxQueue {
		return fmt.Sprintf("%v: %d events are queued and MaxQueue is %d", millrace.ErrOverload, e.queued, e.maxQueue)
	}
	return fmt.Sprintf("%v: %d bytes are queued, the event has %d and MaxQueueBytes is %d",
		millrace.ErrOverload, e.bytes, e.given, e.maxQueueBytes)
}

func (e *overload) Unwrap() error { return millrace.ErrOverload }
