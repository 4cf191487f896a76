package engine

import (
	"math"
	"time"
)

// take takes a batch of at most `limit` events out: those that count as HIGH at `now`, then as NORMAL, then as LOW.
func (q *Queue[T]) take(limit int, now, maxDeferral time.Duration) chain[T] {
	q.sortLanes()
	q.taken = [priorities]time.Duration{noTime, noTime, noTime}
	a := aged{math.MaxInt64, now - maxDeferral, now - 2*maxDeferral}
	agedNormal, agedLow := counts(q.headOf(Normal), High, &a), counts(q.headOf(Low), Normal, &a)
	if q.fullTypes == 0 {
		merges := q.depth[Low] > 0 || agedNormal && q.depth[High] > 0
		switch {
		case q.count <= limit && !agedNormal && !agedLow:
			return q.takeAll()
		case !q.byType && !merges:
			return q.takeFirst(limit, &a)
		}
	}
	return q.choose(limit, a)
}

// takeAll: everything leaves and no event has aged. There is no choice to make, only the order.
func (q *Queue[T]) takeAll() chain[T] {
	var batch chain[T]
	for p := High; p <= Low; p++ {
		// The first lane of a class has its oldest event.
		if head := q.headOf(p); head != nil {
			q.taken[p] = head.Time
		}
		if !q.byType {
			q.empty(&q.lanes[p], &batch)
			continue
		}
		for _, lane := range q.listed[p] {
			q.empty(lane, &batch)
			lane.listed = false
		}
		clear(q.listed[p])
		q.listed[p] = q.listed[p][:0]
	}
	for t := q.queued.first; t != nil; {
		next := t.next[queuing]
		t.count, t.next[queuing], t.prev[queuing] = 0, nil, nil
		t = next
	}
	q.queued.first = nil
	q.countNormal(q.depth[Normal])
	if q.depth[Low] > 0 {
		q.normalSinceLow = 0
	}
	q.count, q.bytes, q.depth = 0, 0, [priorities]int{}
	return batch
}

func (q *Queue[T]) empty(l *lane[T], batch *chain[T]) {
	if l.tail != nil {
		q.left = max(q.left, l.tail.seq)
	}
	batch.join(chain[T]{l.head, l.tail, l.count})
	l.head, l.tail, l.count = nil, nil, 0
}

func (q *Queue[T]) countNormal(n int) { q.normalSinceLow = min(normalPerLow, q.normalSinceLow+n) }

// takeFirst: there is no LOW event, no full type, and no NORMAL event that would go before a HIGH one, so nothing to
// choose between: the first of HIGH, then of NORMAL.
func (q *Queue[T]) takeFirst(limit int, a *aged) chain[T] {
	var batch chain[T]
	normals := 0
	for p := High; p <= Normal; p++ {
		for batch.count < limit && q.lanes[p].head != nil {
			event := q.lanes[p].head
			if !counts(event, High, a) {
				normals++
			}
			q.takeHead(event)
			batch.append(event)
		}
	}
	q.countNormal(normals)
	return batch
}

// choose takes event by event.
func (q *Queue[T]) choose(limit int, a aged) chain[T] {
	cut := q.count > limit
	q.batchNumber++
	var batch, low chain[T]
	next := q.cursor(a)
	highIsOver := false
	for batch.count+low.count < limit {
		var high *Event[T]
		if !highIsOver {
			high = next.high()
			highIsOver = high == nil
		}
		event := high
		if event == nil {
			event = next.normal()
		}
		isLow := false
		if high == nil && (event == nil || cut && q.normalSinceLow >= normalPerLow) {
			if one := next.low(); one != nil {
				event, isLow = one, true
			}
		}
		if event == nil {
			break
		}
		t := event.Type
		if t.chosenIn != q.batchNumber {
			t.chosenIn, t.chosen = q.batchNumber, 0
		}
		if t.chosen == t.maxBatch {
			break
		}
		t.chosen++
		q.takeHead(event)
		switch {
		case isLow:
			low.append(event)
			q.normalSinceLow = 0
		case high != nil:
			batch.append(event)
		default:
			batch.append(event)
			q.countNormal(1)
		}
	}
	// ByType: a lane that was cut may now be younger than others, an emptied one has to go.
	q.unsorted = q.byType
	batch.join(low)
	return batch
}

// takeHead takes out an event that is the oldest of its lane.
func (q *Queue[T]) takeHead(event *Event[T]) {
	oldest := &q.taken[event.Priority]
	if *oldest == noTime || event.Time < *oldest {
		*oldest = event.Time
	}
	q.laneOf(event).remove(event)
	q.gone(event)
	event.stage = left
}
