package eventloop

import "testing"

// TestEveryInterleavingOfTheStateWord checks a copy of the protocol of owner.go, which has to be changed with it: that
// the loop itself follows the protocol is for the other tests to show. It goes through all the orders in which the
// steps of a loop, two producers, two callers of Do, one of Stop and one that sets a bit without waking the loop can
// follow one another; they are those that the real one takes without anybody getting in between: one atomic operation,
// or all that a mutex guards. In none of them
//   - does the loop sleep while a task waits (a lost wake-up), or with the end asked for,
//   - does it fall asleep with anything urgent to see to,
//   - do two goroutines run the loop at once,
//   - is l.wake full when somebody sends (a notify that blocks), or left full in the end,
//   - does a Do run inline while a task waits that was submitted before, even by another goroutine.
//
// Each goroutine is a program counter; the whole state is one comparable value, so that each is looked at once.
func TestEveryInterleavingOfTheStateWord(t *testing.T) {
	seen := map[protocol]bool{}
	states := []protocol{{word: pOwner(pLoop)}}
	ends := 0
	for len(states) > 0 {
		state := states[len(states)-1]
		states = states[:len(states)-1]
		if seen[state] {
			continue
		}
		seen[state] = true
		moved := false
		for who := range state.at {
			next := state
			if !next.step(who) {
				continue
			}
			moved = true
			if next.wrong != "" {
				t.Fatalf("%s\nafter  %+v\nbecame %+v", next.wrong, state, next)
			}
			states = append(states, next)
		}
		if moved {
			continue
		}
		ends++
		if state.queued > 0 || state.at[pLoop] != pOver || state.wake > 0 || state.op || state.ran != 4 {
			t.Fatalf("nobody moves, but this is not the end: %+v", state)
		}
	}
	t.Logf("%d states, %d ends", len(seen), ends)
	if ends == 0 || len(seen) < 5000 {
		t.Error("that is not all of them")
	}
}

// The goroutines.
const (
	pLoop = iota
	pProducer1
	pProducer2
	pDo1
	pDo2
	pLost
	pStop
	pCount
)

// pOwner is the word of an owner: 0 stands for nobody, and the two low bits are pending and urgent.
func pOwner(who int) uint8 { return uint8(who+1) << 2 }

const (
	pPending uint8 = 1 << iota
	pUrgent
	pBits = pPending | pUrgent
)

// pOver is where a program ends.
const pOver = 255

type protocol struct {
	word   uint8
	wake   uint8
	queued uint8 // in the lane
	taken  uint8 // of the loop's turn
	ran    uint8 // tasks and functions given to Do, of four
	stop   bool  // l.ending
	end    bool  // the loop has seen it
	op     bool  // in l.ops
	inside uint8 // how many are running the loop now
	at     [pCount]uint8
	sends  [pCount]bool // mark was true
	wrong  string
}

// mark is Loop.mark, which is one step once its compare-and-swap succeeds.
func (p *protocol) mark(who int, why uint8) {
	if p.word&^pBits == 0 {
		p.word = pOwner(pLoop) | p.word&pBits | why
		p.sends[who] = true
	} else {
		p.word |= why
	}
}

// send is the step that follows: on l.wake, if mark was true.
func (p *protocol) send(who int) {
	if !p.sends[who] {
		return
	}
	p.sends[who] = false
	if p.wake++; p.wake > 1 {
		p.wrong = "a send on l.wake blocks"
	}
}

func (p *protocol) enter() {
	if p.inside++; p.inside > 1 {
		p.wrong = "two owners"
	}
}

// step lets one goroutine take its next step; false when it has to wait, or is done.
func (p *protocol) step(who int) bool {
	at := &p.at[who]
	switch {
	case *at == pOver:
		return false
	case who == pLoop:
		return p.loop(at)
	case who == pProducer1 || who == pProducer2:
		switch *at {
		case 0: // put, under the mutex
			if p.queued++; p.queued == 1 {
				p.mark(who, pPending)
			}
			*at = 1
		case 1:
			p.send(who)
			*at = pOver
		}
	case who == pDo1 || who == pDo2:
		p.do(who, at)
	case who == pLost: // under the mutex
		p.op = true
		p.word |= pUrgent
		*at = pOver
	case who == pStop:
		switch *at {
		case 0:
			// Only when all the others are through: whether the loop is to be woken by it is the question.
			for other := pProducer1; other < pStop; other++ {
				if p.at[other] != pOver {
					return false
				}
			}
			if p.ran < 4 {
				return false
			}
			p.stop = true // under the mutex
			*at = 1
		case 1:
			p.mark(who, pUrgent)
			*at = 2
		case 2:
			p.send(who)
			*at = pOver
		}
	}
	return true
}

// do is Do of a function that submits nothing; when it cannot be run inline it is a task.
func (p *protocol) do(who int, at *uint8) {
	switch *at {
	case 0: // borrow
		if p.word == 0 {
			p.word = pOwner(who)
			if p.queued > 0 {
				p.wrong = "an inline Do overtakes a task"
			}
			p.enter()
			*at = 1
		} else {
			*at = 4
		}
	case 1: // fn
		p.ran++
		p.inside--
		*at = 2
	case 2: // giveBack
		if p.word == pOwner(who) {
			p.word = 0
			*at = pOver
		} else {
			*at = 3
		}
	case 3:
		p.word = pOwner(pLoop) | p.word&pBits | pPending
		p.sends[who] = true
		*at = 5
	case 4: // put
		if p.queued++; p.queued == 1 {
			p.mark(who, pPending)
		}
		*at = 5
	case 5:
		p.send(who)
		*at = pOver
	}
}

// loop is the loop's goroutine: work and nextTurn.
func (p *protocol) loop(at *uint8) bool {
	switch *at {
	case 0: // work: urgent?
		if p.word&pUrgent != 0 {
			*at = 1
		} else {
			*at = 3
		}
	case 1: // attend
		p.word &^= pUrgent
		*at = 2
	case 2: // under the mutex
		p.end, p.op = p.stop, false
		*at = 3
	case 3: // a task, or the end
		switch {
		case p.end:
			*at = pOver
		case p.taken > 0:
			p.enter()
			*at = 4
		default:
			*at = 5
		}
	case 4:
		p.taken--
		p.ran++
		p.inside--
		*at = 0
	case 5: // nextTurn: pending?
		if p.word&pPending != 0 {
			*at = 6
		} else {
			*at = 7
		}
	case 6: // under the mutex
		p.word &^= pPending
		p.taken, p.queued = p.queued, 0
		if *at = 7; p.taken > 0 {
			*at = 0
		}
	case 7: // urgent?
		if *at = 8; p.word&pUrgent != 0 {
			*at = 0
		}
	case 8: // sleep
		if p.word == pOwner(pLoop) {
			p.word = 0
			if *at = 9; p.op {
				p.wrong = "asleep with something urgent"
			}
		} else {
			*at = 5
		}
	case 9: // parked
		if p.wake == 0 {
			return false
		}
		p.wake--
		*at = 5
		if p.word&^pBits != pOwner(pLoop) {
			p.wrong = "woken, but not the owner"
		}
	}
	return true
}
