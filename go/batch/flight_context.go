package batch

import (
	"context"
	"sync"
	"time"
)

// flightContext is the context of a batch. Most bulk functions do not look at it, so it is set up only when
// they do.
type flightContext struct {
	mu    sync.Mutex
	inner context.Context
	stop  context.CancelCauseFunc
	ended error
}

func (c *flightContext) made() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.stop = context.WithCancelCause(context.Background())
		if c.ended != nil {
			c.stop(c.ended)
		}
	}
	return c.inner
}

func (c *flightContext) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = why
	}
	if c.stop != nil {
		c.stop(why)
	}
}

func (c *flightContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c *flightContext) Done() <-chan struct{}       { return c.made().Done() }
func (c *flightContext) Value(key any) any           { return c.made().Value(key) }

func (c *flightContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return context.Canceled
	}
	return nil
}
