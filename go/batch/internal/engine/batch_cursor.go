package engine

import (
	"slices"
	"time"
)

// cursor shows which event of each class would be chosen next, in either order. ByType, lanes are taken whole, one
// after the other.
type cursor[T any] struct {
	q      *Queue[T]
	agedAt time.Duration
	at     [priorities]int
	// The lane that NORMAL events are being taken from, and the one that LOW events are.
	group, lowGroup *lane[T]
	// The next of the LOW lanes that had no aged event; and those that lost theirs, the one with the oldest event
	// first.
	lowAt    int
	replaced []*lane[T]
}

func (q *Queue[T]) cursor(agedAt time.Duration) cursor[T] {
	c := cursor[T]{q: q, agedAt: agedAt}
	// LOW lanes are sorted by their oldest event: those with an aged one come first.
	for c.lowAt < len(q.listed[Low]) && c.aged(q.listed[Low][c.lowAt].head) {
		c.lowAt++
	}
	return c
}

func (c *cursor[T]) aged(event *Event[T]) bool { return event != nil && event.Time <= c.agedAt }

func (c *cursor[T]) high() *Event[T] {
	if !c.q.byType {
		return c.q.lanes[High].head
	}
	return headOf(c.first(High))
}

// normal is the next event that counts as NORMAL.
func (c *cursor[T]) normal() *Event[T] {
	if !c.q.byType {
		return either(c.q.lanes[Normal].head, c.agedOf(&c.q.lanes[Low]))
	}
	if head := headOf(c.group); head != nil {
		if c.group.priority == Normal || c.aged(head) {
			return head
		}
		// What is left in a LOW lane counts as LOW from here on, and the lane is put in its new place.
		at, _ := slices.BinarySearchFunc(c.replaced, c.group, func(a, b *lane[T]) int { return byArrival(a.head, b.head) })
		c.replaced = slices.Insert(c.replaced, at, c.group)
	}
	normal, low := c.first(Normal), c.firstAged()
	c.group = normal
	if low != nil && (normal == nil || low.head.seq < normal.head.seq) {
		c.group = low
	}
	return headOf(c.group)
}

// low is the next LOW event that still counts as LOW.
func (c *cursor[T]) low() *Event[T] {
	if !c.q.byType {
		if head := c.q.lanes[Low].head; !c.aged(head) {
			return head
		}
		return nil
	}
	if head := headOf(c.lowGroup); head != nil {
		return head
	}
	var listed *lane[T]
	if c.lowAt < len(c.q.listed[Low]) {
		listed = c.q.listed[Low][c.lowAt]
	}
	switch {
	case len(c.replaced) > 0 && (listed == nil || c.replaced[0].head.seq < listed.head.seq):
		c.lowGroup, c.replaced = c.replaced[0], c.replaced[1:]
	default:
		c.lowGroup = listed
		c.lowAt++
	}
	return headOf(c.lowGroup)
}

func (c *cursor[T]) agedOf(l *lane[T]) *Event[T] {
	if c.aged(l.head) {
		return l.head
	}
	return nil
}

// first is the first lane of a class that still has events.
func (c *cursor[T]) first(p Priority) *lane[T] {
	lanes := c.q.listed[p]
	for ; c.at[p] < len(lanes); c.at[p]++ {
		if lanes[c.at[p]].head != nil {
			return lanes[c.at[p]]
		}
	}
	return nil
}

func (c *cursor[T]) firstAged() *lane[T] {
	lanes := c.q.listed[Low]
	for ; c.at[Low] < len(lanes); c.at[Low]++ {
		if c.aged(lanes[c.at[Low]].head) {
			return lanes[c.at[Low]]
		}
	}
	return nil
}

func headOf[T any](l *lane[T]) *Event[T] {
	if l == nil {
		return nil
	}
	return l.head
}

// either is the one of two events that arrived first; each of them may be missing.
func either[T any](a, b *Event[T]) *Event[T] {
	if a == nil || b != nil && b.seq < a.seq {
		return b
	}
	return a
}
