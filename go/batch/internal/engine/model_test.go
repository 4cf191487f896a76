package engine

import (
	"slices"
	"time"
)

// model is the plainest queue that could work: a slice that is searched anew at every step. It shares no idea with the
// engine, so that both can be wrong only independently.
type model struct {
	options  Options
	maxBatch map[string]int
	queue    []*modelEvent
	now      time.Duration
	// NORMAL events taken since the last LOW one.
	counter    int
	refused    int
	superseded int
}

type modelEvent struct {
	id, typ  string
	key      string // empty: none
	priority Priority
	bytes    int64
	pushed   time.Duration
}

func (m *model) push(e *modelEvent) bool {
	older := slices.IndexFunc(m.queue, func(other *modelEvent) bool {
		return e.key != "" && other.key == e.key && other.typ == e.typ
	})
	count, bytes := 1, e.bytes
	for i, other := range m.queue {
		if i != older {
			count++
			bytes += other.bytes
		}
	}
	if count > m.options.MaxQueue || bytes > m.options.MaxQueueBytes {
		m.refused++
		return false
	}
	e.pushed = m.now
	if older >= 0 {
		m.superseded++
		if m.queue[older].priority == e.priority {
			e.pushed = m.queue[older].pushed
			m.queue[older] = e
			return true
		}
		m.queue = slices.Delete(m.queue, older, older+1)
	}
	m.queue = append(m.queue, e)
	return true
}

func (m *model) cancel(id string) bool {
	at := slices.IndexFunc(m.queue, func(e *modelEvent) bool { return e.id == id })
	if at < 0 {
		return false
	}
	m.queue = slices.Delete(m.queue, at, at+1)
	return true
}

// turn lets at most so many batches leave; nothing is held.
func (m *model) turn(most int) (batches [][]string) {
	for len(m.queue) > 0 && len(batches) < most {
		batches = append(batches, m.take())
	}
	return batches
}

// class is what an event counts as.
func (m *model) class(e *modelEvent) Priority {
	p := e.priority
	for n := range time.Duration(2) {
		if p > High && m.now >= e.pushed+(n+1)*m.options.MaxDeferral {
			p--
		}
	}
	return p
}

func (m *model) take() []string {
	var left, chosen [priorities][]*modelEvent
	for p := range left {
		for _, e := range m.queue {
			if m.class(e) == Priority(p) {
				left[p] = append(left[p], e)
			}
		}
		if m.options.Order == ByType {
			left[p] = byLane(left[p])
		}
	}
	lane := func(e *modelEvent) string {
		if m.options.Order == ByType {
			return e.typ
		}
		return ""
	}
	lowLane := "none yet"
	nextLow := func() *modelEvent {
		// A LOW event cannot be chosen before an older one of its lane that counts as NORMAL.
		free := func(e *modelEvent) bool {
			return !slices.ContainsFunc(left[Normal], func(n *modelEvent) bool {
				return n.priority == Low && lane(n) == lane(e)
			})
		}
		var first *modelEvent
		for _, e := range left[Low] {
			if free(e) && lane(e) == lowLane {
				return e
			}
			if free(e) && first == nil {
				first = e
			}
		}
		return first
	}
	cuts, taken, ofType := len(m.queue) > m.options.MaxBatch, 0, map[string]int{}
	for most := min(m.options.MaxBatch, len(m.queue)); taken < most; taken++ {
		p := Normal
		switch {
		case len(left[High]) > 0:
			p = High
		case len(left[Normal]) == 0, cuts && m.counter == 8 && nextLow() != nil:
			p = Low
		}
		var e *modelEvent
		if p == Low {
			e = nextLow()
		} else {
			e = left[p][0]
		}
		if limit, limited := m.maxBatch[e.typ]; limited && ofType[e.typ] >= limit {
			break
		}
		ofType[e.typ]++
		if p == Low {
			lowLane = lane(e)
		}
		left[p] = slices.DeleteFunc(left[p], func(other *modelEvent) bool { return other == e })
		chosen[p] = append(chosen[p], e)
		switch p {
		case Normal:
			m.counter = min(8, m.counter+1)
		case Low:
			m.counter = 0
		}
	}
	var ids []string
	for _, e := range slices.Concat(chosen[:]...) {
		ids = append(ids, e.id)
		m.queue = slices.DeleteFunc(m.queue, func(other *modelEvent) bool { return other == e })
	}
	return ids
}

// byLane puts the events of one class lane by lane, the one with the oldest event first.
func byLane(events []*modelEvent) (sorted []*modelEvent) {
	type lane struct {
		typ      string
		priority Priority
	}
	var order []lane
	lanes := map[lane][]*modelEvent{}
	for _, e := range events {
		l := lane{e.typ, e.priority}
		if lanes[l] == nil {
			order = append(order, l)
		}
		lanes[l] = append(lanes[l], e)
	}
	for _, l := range order {
		sorted = append(sorted, lanes[l]...)
	}
	return sorted
}
