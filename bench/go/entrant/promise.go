package entrant

// microtasks are those of a loop, which alone touches them.
type microtasks struct {
	queue []func()
	next  int
}

// Microtask implements Microtasker.
func (m *microtasks) Microtask(fn func()) { m.queue = append(m.queue, fn) }

func (m *microtasks) length() int { return len(m.queue) - m.next }

// drain runs at most so many, those included that they add.
func (m *microtasks) drain(most int) {
	for ; m.length() > 0 && most > 0; most-- {
		fn := m.queue[m.next]
		m.queue[m.next] = nil
		m.next++
		safely(fn)
	}
	if m.next > 0 && m.length() == 0 {
		m.queue, m.next = m.queue[:0], 0
	}
}

// simplePromise is that of all designs of the report, which tells nothing about theirs: it is settled once, and its reactions are
// microtasks. It belongs to its loop.
type simplePromise struct {
	loop      Microtasker
	state     promiseState
	value     any
	reason    error
	reactions []func()
}

type promiseState int

const (
	pending promiseState = iota
	fulfilled
	rejected
)

func newPromise(loop Microtasker) *simplePromise { return &simplePromise{loop: loop} }

// Resolve implements Promise.
func (p *simplePromise) Resolve(value any) { p.settle(fulfilled, value, nil) }

// Reject implements Promise.
func (p *simplePromise) Reject(reason error) { p.settle(rejected, nil, reason) }

func (p *simplePromise) settle(state promiseState, value any, reason error) {
	if p.state != pending {
		return
	}
	p.state, p.value, p.reason = state, value, reason
	for _, reaction := range p.reactions {
		p.loop.Microtask(reaction)
	}
	p.reactions = nil
}

// Then implements Promise.
func (p *simplePromise) Then(fn func(value any) (any, error)) Promise {
	next := newPromise(p.loop)
	p.react(func() {
		if p.state == rejected {
			next.Reject(p.reason)
			return
		}
		next.become(fn(p.value))
	})
	return next
}

// Catch implements Promise.
func (p *simplePromise) Catch(fn func(reason error) (any, error)) Promise {
	next := newPromise(p.loop)
	p.react(func() {
		if p.state == fulfilled {
			next.Resolve(p.value)
			return
		}
		next.become(fn(p.reason))
	})
	return next
}

func (p *simplePromise) react(reaction func()) {
	if p.state == pending {
		p.reactions = append(p.reactions, reaction)
		return
	}
	p.loop.Microtask(reaction)
}

func (p *simplePromise) become(value any, reason error) {
	if reason != nil {
		p.Reject(reason)
		return
	}
	p.Resolve(value)
}
