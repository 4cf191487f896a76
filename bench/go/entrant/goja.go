package entrant

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/eventloop"
)

var errTerminated = errors.New("goja_nodejs: the loop is terminated")

// Goja is the loop of goja_nodejs, which hands its JavaScript runtime to each task. Behind the interface of the other
// entrants, as the report used it, a task has a wrapper, and costs one allocation more than it costs those who write
// functions that take the runtime: see GojaNative.
type Goja struct {
	loop *eventloop.EventLoop
}

// NewGoja starts a Goja.
func NewGoja(int) (Entrant, error) { return newGoja(), nil }

func newGoja() *Goja {
	loop := eventloop.NewEventLoop(eventloop.EnableConsole(false))
	loop.Start()
	return &Goja{loop}
}

func (l *Goja) runOnLoop(task func(*goja.Runtime)) error {
	if !l.loop.RunOnLoop(task) {
		return errTerminated
	}
	return nil
}

// Submit implements Entrant, by a wrapper for each task.
func (l *Goja) Submit(task func()) error {
	return l.runOnLoop(func(*goja.Runtime) { task() })
}

// Count implements Native.
func (l GojaNative) Count(n *atomic.Int64, wg *sync.WaitGroup) error {
	return l.runOnLoop(func(*goja.Runtime) {
		n.Add(1)
		wg.Done()
	})
}

// Signal implements Native.
func (l GojaNative) Signal(done chan struct{}) error {
	return l.runOnLoop(func(*goja.Runtime) { close(done) })
}

// Prepare implements Preparer.
func (l *Goja) Prepare(task func()) func() error {
	wrapped := func(*goja.Runtime) { task() }
	return func() error { return l.runOnLoop(wrapped) }
}

// After implements Timer.
func (l *Goja) After(delay time.Duration, callback func()) (func(), error) {
	timer := l.loop.SetTimeout(func(*goja.Runtime) { callback() }, delay)
	if timer == nil {
		return nil, errTerminated
	}
	return func() { l.loop.ClearTimeout(timer) }, nil
}

// Close implements Entrant.
func (l *Goja) Close() error {
	l.loop.Terminate() // runs what Stop would leave for the next start
	return nil
}

// GojaNative is the same loop as its users know it.
type GojaNative struct{ *Goja }

// NewGojaNative starts a GojaNative.
func NewGojaNative(int) (Entrant, error) { return GojaNative{newGoja()}, nil }
