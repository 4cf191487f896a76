package batch

import (
	"time"

	"millrace.dev/go/batch/internal/engine"
)

// batcherHost is the world of a batcher's engine: its dispatch point is the end of the call that pushed.
type batcherHost struct {
	start       time.Time
	now         time.Duration
	due         bool
	timer       *time.Timer
	holdEnded   func()
	used        engine.Utilization
	usedSince   time.Duration
	flying      int
	concurrency int
}

// read reads the clock, once each time that the mutex is taken.
func (h *batcherHost) read() { h.now = time.Since(h.start) }

func (h *batcherHost) Now() time.Duration { return h.now }

func (h *batcherHost) Inside() bool { return true }

func (h *batcherHost) Alive() bool { return true }

func (h *batcherHost) Schedule() error {
	h.due = true
	return nil
}

func (h *batcherHost) Arm(deadline time.Duration) error {
	switch wait := deadline - h.now; {
	case deadline < 0:
		h.timer.Stop()
	case h.timer == nil:
		h.timer = time.AfterFunc(wait, h.holdEnded)
	default:
		h.timer.Reset(wait)
	}
	return nil
}

// flies notes how many batches are in flight from now on.
func (h *batcherHost) flies(n int) {
	span := h.now - h.usedSince
	h.used.Observe(h.usedSince, h.now, span*time.Duration(h.flying)/time.Duration(h.concurrency))
	h.usedSince, h.flying = h.now, n
}

// Utilization is the share in use of the batches that may be in flight.
func (h *batcherHost) Utilization(now time.Duration) float64 {
	h.flies(h.flying)
	return h.used.Read(now)
}
