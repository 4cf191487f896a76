package engine

import (
	"slices"
	"time"
)

// aged are the times of push up to which an event counts as its own class, as one class higher, as two.
type aged [priorities]time.Duration

// counts tells whether an event counts as this class or a higher one.
func counts[T any](event *Event[T], as Priority, a *aged) bool {
	return event != nil && event.Time <= a[event.Priority-as]
}

// cursor shows which event of each class would be chosen next, in either order. ByType, all events of a lane that count
// as one class are taken before another lane starts; the rest is placed anew, by its oldest event.
type cursor[T any] struct {
	q    *Queue[T]
	aged aged
	at   [priorities]int
	// The lane that HIGH events, and later NORMAL ones, are being taken from, and the one that LOW events are.
	group, lowGroup *lane[T]
	// NORMAL or LOW lanes had events that count as HIGH.
	hasAged bool
	// The next of the LOW lanes that had no aged event, below 0: not looked for; and those that lost theirs, the one
	// with the oldest event first.
	lowAt    int
	replaced []*lane[T]
}

func (q *Queue[T]) cursor(a aged) cursor[T] { return cursor[T]{q: q, aged: a, lowAt: -1} }

// high is the next event that counts as HIGH. When there is none HIGH is over, and only the others are asked for.
func (c *cursor[T]) high() *Event[T] {
	if !c.q.byType {
		return earlier(earlier(c.q.lanes[High].head, c.agedOf(Normal, High)), c.agedOf(Low, High))
	}
	if head := headOf(c.group); c.counts(head, High) {
		return head
	}
	first := c.next(High, High)
	for p := Normal; p <= Low; p++ {
		lane := c.next(p, High)
		if lane == nil {
			continue
		}
		c.hasAged = true
		if first == nil || lane.head.seq < first.head.seq {
			first = lane
		}
	}
	c.group = first
	if first == nil && c.hasAged {
		c.q.unsorted = true
		c.q.sortLanes()
		c.at = [priorities]int{}
	}
	return headOf(first)
}

// normal is the next event that counts as NORMAL.
func (c *cursor[T]) normal() *Event[T] {
	if !c.q.byType {
		if head := c.agedOf(Low, Normal); head != nil {
			return head
		}
		return c.q.lanes[Normal].head
	}
	if c.lowAt < 0 {
		// LOW lanes are sorted by their oldest event: those with an aged one come first.
		c.lowAt = 0
		for c.lowAt < len(c.q.listed[Low]) && c.counts(c.q.listed[Low][c.lowAt].head, Normal) {
			c.lowAt++
		}
	}
	head := headOf(c.group)
	if c.counts(head, Normal) {
		return head
	}
	if head != nil {
		// What is left in a LOW lane counts as LOW from here on, and the lane is put in its new place.
		at, _ := slices.BinarySearchFunc(c.replaced, c.group, func(a, b *lane[T]) int { return byArrival(a.head, b.head) })
		c.replaced = slices.Insert(c.replaced, at, c.group)
	}
	next := c.next(Low, Normal)
	if next == nil {
		next = c.next(Normal, Normal)
	}
	c.group = next
	return headOf(next)
}

// low is the next event that counts as LOW.
func (c *cursor[T]) low() *Event[T] {
	if !c.q.byType {
		if head := c.q.lanes[Low].head; !c.counts(head, Normal) {
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

func (c *cursor[T]) counts(event *Event[T], as Priority) bool { return counts(event, as, &c.aged) }

func (c *cursor[T]) agedOf(p, as Priority) *Event[T] {
	if head := c.q.lanes[p].head; c.counts(head, as) {
		return head
	}
	return nil
}

// next is the next lane of a class, if its oldest event counts as this one. Of the lanes, only the last group has given
// events.
func (c *cursor[T]) next(p, as Priority) *lane[T] {
	lanes := c.q.listed[p]
	if c.at[p] < len(lanes) && lanes[c.at[p]] == c.group {
		c.at[p]++
	}
	if c.at[p] < len(lanes) && c.counts(lanes[c.at[p]].head, as) {
		return lanes[c.at[p]]
	}
	return nil
}

func headOf[T any](l *lane[T]) *Event[T] {
	if l == nil {
		return nil
	}
	return l.head
}

// earlier is the one of two events that arrived first; each of them may be missing.
func earlier[T any](a, b *Event[T]) *Event[T] {
	if a == nil || b != nil && b.seq < a.seq {
		return b
	}
	return a
}
