package eventloop

import (
	"sync"
	"sync/atomic"
)

// poller tells the loop which descriptors are ready. A goroutine waits for the system to say that something has become
// ready and makes the loop look, no more; the loop itself then asks the selector which ones, again and again until
// there is nothing more to report. That is what keeps a descriptor that stays ready from waking the goroutine for ever,
// and submitting a task from making a system call.
type poller struct {
	loop  *Loop
	asked atomic.Bool // something has become ready since the loop last began to look

	mu       sync.Mutex // held while the selector is asked, so that its answer is never older than a change of it
	watchers map[int]*Watcher
	system   selector      // nil before the first Watch
	waiter   chan struct{} // closed when the waiting goroutine has ended; nil when there is none
	running  bool
	closed   bool
	lastTag  uint32
	found    [listSize]happening

	// What follows belongs to the loop's owner.
	hot   bool // there may be more to find
	pause int  // how many tasks may run first
	list  []readiness
	next  int
}

const (
	// listSize is how many descriptors are handled before tasks have their turn.
	listSize = 128
	// breather is how many tasks have their turn then, if as many wait.
	breather = 64
)

// selector is the system's part: epoll or kqueue.
type selector interface {
	// set changes what is asked of a descriptor; 0 stands for no registration. The tag comes back with what happens.
	set(fd int, tag uint32, before, after Events) error
	// poll tells what is ready, without waiting.
	poll(into []happening) (int, error)
	// rest tells it that poll has found nothing and is not going to be called before wait has called its function.
	rest() error
	// wait calls a function at once, and then whenever something has become ready after a rest.
	wait(ready func())
	// interrupt ends wait, and returns when it has ended.
	interrupt(ended <-chan struct{})
	close()
}

// A happening is what a selector tells of one registration.
type happening struct {
	fd     int
	tag    uint32 // 0 where the system forgets a registration with its descriptor
	events Events
}

type readiness struct {
	watcher *Watcher
	tag     uint32
	events  Events
}

func (p *poller) ask() {
	if !p.asked.Swap(true) {
		p.loop.notify(urgent)
	}
}

// attend is called when something is urgent, which may be what ask found.
func (p *poller) attend() {
	if p.asked.Load() {
		p.hot = true
		// Sooner than usual, but not before a task has run.
		p.pause = min(p.pause, 1)
	}
}

func (p *poller) nextReady() func() {
	for {
		for p.next < len(p.list) {
			ready := p.list[p.next]
			p.list[p.next].watcher = nil
			p.next++
			// A watcher that was changed or closed meanwhile has another tag.
			if w := ready.watcher; w.tag.Load() == ready.tag {
				w.got = ready.events
				return w.run
			}
		}
		if !p.hot {
			return nil
		}
		if p.pause > 0 {
			p.pause--
			return nil
		}
		p.look()
	}
}

func (p *poller) look() {
	// Before the selector is asked: what becomes ready later is reported again.
	p.asked.Store(false)
	n, err := p.collect()
	p.hot = n > 0
	p.pause = breather
	if err != nil {
		p.loop.report(err)
	}
}

func (p *poller) collect() (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list, p.next = p.list[:0], 0
	if p.system == nil {
		return 0, nil
	}
	n, err = p.system.poll(p.found[:])
	if n == 0 {
		if err == nil {
			err = p.system.rest()
		}
		return 0, err
	}
	strays := false
	for _, f := range p.found[:n] {
		w := p.watchers[f.fd]
		if w == nil || f.tag != 0 && f.tag != w.tag.Load() {
			strays = true
			continue
		}
		events := f.events & (w.events | Failed)
		if f.events&gone != 0 {
			events = f.events&(Hangup|Failed) | w.events&(Readable|Writable)
		}
		if events != 0 {
			p.list = append(p.list, readiness{w, w.tag.Load(), events})
		}
	}
	if strays {
		// The descriptor was closed before its watcher, and a duplicate of it keeps the registration alive, which
		// nobody can address any more.
		p.shut()
		err = p.ensureOpen()
	}
	return n, err
}

// ensureOpen makes the selector if there is none, with all the watchers there are. The mutex is held.
func (p *poller) ensureOpen() error {
	if p.system != nil {
		return nil
	}
	system, err := newSelector()
	if err != nil {
		return err
	}
	p.system = system
	for fd, w := range p.watchers {
		if w.events != 0 {
			// A watcher that cannot be registered again has lost its descriptor: it stays silent until it is closed.
			_ = system.set(fd, w.tag.Load(), 0, w.events)
		}
	}
	p.wait()
	return nil
}

// wait starts the goroutine that waits, if it is time. The mutex is held.
func (p *poller) wait() {
	if p.system == nil || !p.running || p.waiter != nil {
		return
	}
	system, ended := p.system, make(chan struct{})
	p.waiter = ended
	go func() {
		defer close(ended)
		system.wait(p.ask)
	}()
}

// halt ends that goroutine. The mutex is held.
func (p *poller) halt() {
	if p.waiter != nil {
		p.system.interrupt(p.waiter)
		p.waiter = nil
	}
}

// shut releases the selector. The mutex is held.
func (p *poller) shut() {
	p.halt()
	if p.system != nil {
		p.system.close()
		p.system = nil
	}
}

// resume is called when the loop begins to run.
func (p *poller) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = true
	if p.system != nil {
		p.asked.Store(true)
	}
	p.wait()
}

// suspend is called when it has stopped. What was found and not reported is found again.
func (p *poller) suspend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = false
	p.halt()
	p.forget()
}

// close lets go of all watchers, and leaves their descriptors alone.
func (p *poller) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.shut()
	p.forget()
	for _, w := range p.watchers {
		w.end()
	}
	p.watchers = nil
}

func (p *poller) forget() {
	clear(p.list)
	p.list, p.next, p.hot, p.pause = p.list[:0], 0, false, 0
}

// tag numbers registrations. The mutex is held.
func (p *poller) tag() uint32 {
	p.lastTag++
	if p.lastTag == 0 {
		p.lastTag++
	}
	return p.lastTag
}
