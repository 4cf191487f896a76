package eventloop

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"millrace.dev/go"
)

// Events is a set of conditions of a descriptor.
type Events uint8

const (
	// Readable: reading does not block: there is data, a connection to accept, the end, or an error to be reported.
	Readable Events = 1 << iota
	// Writable: writing does not block: there is room, or an error to be reported.
	Writable
	// Hangup: the other side has closed, or (only if asked for) is not going to write any more. Asked for or not, it is
	// reported when both directions are closed; reading and writing then do not block, so Readable and Writable come with
	// it if they were asked for.
	Hangup
	// Failed: there is an error to be fetched by reading, writing or SO_ERROR; or the reading end of a pipe is closed.
	// Reported whether it was asked for or not.
	Failed

	allEvents = Readable | Writable | Hangup | Failed
	// gone is what a selector adds when neither reading nor writing blocks any more.
	gone Events = 1 << 7
)

// String is for messages: "readable|hangup".
func (e Events) String() string {
	var names []string
	for i, name := range [...]string{"readable", "writable", "hangup", "failed"} {
		if e&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if rest := e &^ allEvents; rest != 0 {
		names = append(names, fmt.Sprintf("%#x", uint8(rest)))
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, "|")
}

// Watcher calls a function on the loop while a descriptor meets a condition.
type Watcher struct {
	loop *Loop
	fd   int
	fn   func(Events)
	run  func() // the task: kept, so that an event allocates nothing
	got  Events // for run; the owner's
	// tag is that of the registration; 0 when there is none. Changed under the poller's mutex.
	tag atomic.Uint32
	// The rest is under the poller's mutex.
	events Events
	unref  bool
	closed bool
}

// Watch calls fn on the loop, as a task of its own, in each round while any of the events is true of the descriptor:
// level-triggered, so that fn need not read all there is. Any goroutine; fn may be called before Watch has returned.
// The watcher keeps the loop alive until it is stopped or unreferenced. The descriptor stays the caller's: the loop
// never reads, writes or closes it. It should be non-blocking. A callback costs no allocation.
//
// Between two rounds of callbacks, each for at most 128 descriptors, at least one and at most 64 of the waiting tasks
// run.
//
// Stop the Watcher before the descriptor is closed. The other way round, the system usually forgets the descriptor and
// the watcher falls silent, but keeps the loop alive; Watch of a new descriptor with the same number is ErrWatched
// until the old watcher is stopped. On Linux, where a duplicate of the descriptor (dup, fork, File of a connection) is
// still open, the events of the duplicate are reported until the watcher is stopped.
//
// Files and directories are always ready and cannot be watched: the error wraps syscall.EPERM. Linux has epoll. macOS
// and the BSDs have kqueue, where each loop with watchers keeps a thread, events of reading and of writing come in two
// calls, and Hangup alone, without Readable, is reported once; that part has been compiled but not run. Elsewhere the
// error is ErrUnsupported.
//
// Other errors: ErrNilTask; ErrOption when events is empty or holds an unknown bit; ErrWatched; ErrClosed; the system's
// error, such as syscall.EBADF for a number that is not an open descriptor and syscall.EMFILE when no descriptor is
// left for the loop's own (at the first Watch). In a bubble of testing/synctest the waiting for a descriptor is real.
func (l *Loop) Watch(fd int, events Events, fn func(Events)) (*Watcher, error) {
	if fn == nil {
		return nil, ErrNilTask
	}
	if events == 0 || events&^allEvents != 0 {
		return nil, badEvents("Watch", fd, events)
	}
	w := &Watcher{loop: l, fd: fd, fn: fn, events: events}
	w.run = func() { w.fn(w.got) }
	if err := l.poll.add(w); err != nil {
		return nil, watchError("Watch", fd, err)
	}
	return w, nil
}

func (p *poller) add(w *Watcher) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loop.closed.Load() || p.closed {
		return millrace.ErrClosed
	}
	if p.watchers[w.fd] != nil {
		return ErrWatched
	}
	if err := p.ensureOpen(); err != nil {
		return err
	}
	tag := p.tag()
	if err := p.system.set(w.fd, tag, 0, w.events); err != nil {
		return err
	}
	w.tag.Store(tag)
	p.watchers[w.fd] = w
	p.loop.live.Add(1)
	return nil
}

// Modify changes the events watched for. Events found before are not reported any more. 0 pauses the watcher, which
// goes on keeping the loop alive. Any goroutine. On an error nothing has changed: ErrOption as for Watch; os.ErrClosed
// when the watcher is stopped; syscall.EBADF, ENOENT or EPERM when its descriptor was closed, or its number is another
// one's now.
func (w *Watcher) Modify(events Events) error {
	if events&^allEvents != 0 {
		return badEvents("Modify", w.fd, events)
	}
	p := &w.loop.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.closed {
		return watchError("Modify", w.fd, os.ErrClosed)
	}
	tag := p.tag()
	// Without a selector it could not be registered again before; perhaps it can now.
	err := p.ensureOpen()
	if err == nil && (w.events != 0 || events != 0) {
		err = p.system.set(w.fd, tag, w.events, events)
	}
	if err != nil {
		return watchError("Modify", w.fd, err)
	}
	w.tag.Store(tag)
	w.events = events
	return nil
}

// Stop ends the watching; the descriptor stays open. After that fn is not called any more, but a call that is under way
// when another goroutine calls Stop goes on. Any goroutine; a second call does nothing. An error means that the
// descriptor was closed before its watcher (syscall.EBADF, ENOENT or EPERM); the watcher is stopped all the same.
func (w *Watcher) Stop() error {
	p := &w.loop.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.closed {
		return nil
	}
	delete(p.watchers, w.fd)
	w.end()
	if w.events == 0 || p.system == nil {
		return nil
	}
	if err := p.system.set(w.fd, 0, w.events, 0); err != nil {
		return watchError("Stop of a Watcher", w.fd, err)
	}
	return nil
}

// end is what closing a watcher and closing the loop have in common. The poller's mutex is held.
func (w *Watcher) end() {
	w.tag.Store(0)
	w.closed = true
	if !w.unref {
		w.loop.unref()
	}
}

// Ref lets the watcher keep the loop alive until it is stopped, as it does from the start. Any goroutine.
func (w *Watcher) Ref() { w.refer(true) }

// Unref lets the loop end although the watcher is not stopped. Any goroutine.
func (w *Watcher) Unref() { w.refer(false) }

func (w *Watcher) refer(ref bool) {
	p := &w.loop.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.unref != ref {
		return
	}
	w.unref = !ref
	switch {
	case w.closed:
	case ref:
		w.loop.live.Add(1)
	default:
		w.loop.unref()
	}
}

// HasRef reports whether the watcher keeps the loop alive until it is stopped.
func (w *Watcher) HasRef() bool {
	w.loop.poll.mu.Lock()
	defer w.loop.poll.mu.Unlock()
	return !w.unref
}

func badEvents(call string, fd int, events Events) error {
	return fmt.Errorf("%w: %s of descriptor %d: events are %v: they may be Readable, Writable, Hangup and Failed",
		millrace.ErrOption, call, fd, events)
}

// watchError adds what was tried, and the way out.
func watchError(call string, fd int, err error) error {
	return fmt.Errorf("eventloop: %s: descriptor %d: %s%w", call, fd, explain(err), err)
}
