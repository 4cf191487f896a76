package batch

import (
	"testing"

	"millrace.dev/go/batch/internal/engine"
)

// Remembered is the number of identities that calls may share now.
func (b *Batcher[K, V]) Remembered() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.(interface{ len() int }).len()
}

func (m *identityMap[K, ID]) len() int { return len(m.calls) }

func TestNumbersAreThoseOfTheEngine(t *testing.T) {
	same := []bool{
		Adaptive == Policy(engine.Adaptive), Fixed == Policy(engine.Fixed), Direct == Policy(engine.Direct),
		ByArrival == Order(engine.ByArrival), ByType == Order(engine.ByType),
		HoldTuned == Hold(engine.Tuned), HoldAlways == Hold(engine.Always),
		ReplayFirst == Replay(engine.ReplayFirst), ReplayEach == Replay(engine.ReplayEach),
		TriggerSize == Trigger(engine.TriggerSize), TriggerThreshold == Trigger(engine.TriggerThreshold),
		TriggerDelay == Trigger(engine.TriggerDelay), TriggerTurn == Trigger(engine.TriggerTurn),
		TriggerPriority == Trigger(engine.TriggerPriority), TriggerFlush == Trigger(engine.TriggerFlush),
		TriggerClose == Trigger(engine.TriggerClose), None == engine.None,
	}
	for i, is := range same {
		if !is {
			t.Errorf("number %d is another one", i)
		}
	}
}
