package engine

const holdsOnRecord = 16

// gain is what holding brought: over the last 16 holds, how many more events the batch had than when the hold began.
type gain struct {
	extra       [holdsOnRecord]int
	next, holds int
}

func (g *gain) record(extra int) {
	g.extra[g.next] = extra
	g.next = (g.next + 1) % holdsOnRecord
	g.holds = min(g.holds+1, holdsOnRecord)
}

// read is the mean of extra events a batch; 0 without a record.
func (g *gain) read() float64 {
	if g.holds == 0 {
		return 0
	}
	sum := 0
	for _, extra := range g.extra[:g.holds] {
		sum += extra
	}
	return float64(sum) / float64(g.holds)
}
