package engine

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/internal/inner"
)

// PolicyName, Order, Hold and Replay are explained in package batch, which has the same numbers. Zero: not given.
type (
	PolicyName uint8
	Order      uint8
	Hold       uint8
	Replay     uint8
)

const (
	Adaptive PolicyName = iota + 1
	Fixed
	Direct
)

const (
	ByArrival Order = iota + 1
	ByType
)

const (
	Tuned Hold = iota + 1
	Always
)

const (
	ReplayFirst Replay = iota + 1
	ReplayEach
)

// None is 0 for an option for which leaving it out means something else.
const None = -1

// Options of a queue. A field that is zero is not given: it stands for its default, or in Set for what it was.
type Options struct {
	Policy        PolicyName
	Order         Order
	Hold          Hold
	MaxBatch      int
	MaxDelay      time.Duration
	MinSaving     float64
	MaxBatchTime  time.Duration
	Threshold     int
	MaxQueue      int
	MaxQueueBytes int64
	MaxDeferral   time.Duration
}

var defaults = Options{
	Policy:        Adaptive,
	Order:         ByArrival,
	Hold:          Tuned,
	MaxBatch:      1024,
	MinSaving:     0.005,
	MaxQueue:      65_536,
	MaxQueueBytes: 64 << 20,
	MaxDeferral:   100 * time.Millisecond,
}

// fixedMaxDelay: under Fixed a hold is the point, so it has a default of its own.
const fixedMaxDelay = 50 * time.Millisecond

// maxBytes is the same in each language: the largest integer that JavaScript's numbers hold exactly.
const maxBytes = 1<<53 - 1

// Unlimited is a type's MaxBatch when it has no limit of its own.
const Unlimited = math.MaxInt32

// with returns the options with those in place of theirs that are given later.
func (o Options) with(later Options) Options {
	return Options{
		Policy:        cmp.Or(later.Policy, o.Policy),
		Order:         cmp.Or(later.Order, o.Order),
		Hold:          cmp.Or(later.Hold, o.Hold),
		MaxBatch:      cmp.Or(later.MaxBatch, o.MaxBatch),
		MaxDelay:      cmp.Or(later.MaxDelay, o.MaxDelay),
		MinSaving:     cmp.Or(later.MinSaving, o.MinSaving),
		MaxBatchTime:  cmp.Or(later.MaxBatchTime, o.MaxBatchTime),
		Threshold:     cmp.Or(later.Threshold, o.Threshold),
		MaxQueue:      cmp.Or(later.MaxQueue, o.MaxQueue),
		MaxQueueBytes: cmp.Or(later.MaxQueueBytes, o.MaxQueueBytes),
		MaxDeferral:   cmp.Or(later.MaxDeferral, o.MaxDeferral),
	}
}

// complete is the whole set: what is given, and defaults, which depend on the policy.
func (o Options) complete() Options {
	all := defaults
	if o.Policy == Fixed {
		all.MaxDelay = fixedMaxDelay
	}
	all = all.with(o)
	all.MaxDelay, all.Threshold, all.MaxDeferral = max(0, all.MaxDelay), max(0, all.Threshold), max(0, all.MaxDeferral)
	all.MinSaving, all.MaxBatchTime = max(0, all.MinSaving), max(0, all.MaxBatchTime)
	return all
}

// Check returns a *millrace.OptionError for the first given option that is out of range.
func (o *Options) Check() error {
	return cmp.Or(
		upTo("Policy", o.Policy, Direct, "Adaptive, Fixed or Direct"),
		upTo("Order", o.Order, ByType, "ByArrival or ByType"),
		upTo("Hold", o.Hold, Always, "HoldTuned or HoldAlways"),
		inner.Within("MaxBatch", o.MaxBatch, 1, 1_000_000),
		orNone("MaxDelay", o.MaxDelay, time.Minute),
		orNone("MinSaving", o.MinSaving, 1),
		orNone("MaxBatchTime", o.MaxBatchTime, time.Minute),
		orNone("Threshold", o.Threshold, 1_000_000),
		inner.Within("MaxQueue", o.MaxQueue, 1, 100_000_000),
		inner.Within("MaxQueueBytes", o.MaxQueueBytes, 1, maxBytes),
		orNone("MaxDeferral", o.MaxDeferral, time.Hour),
	)
}

func upTo[N PolicyName | Order | Hold | Replay](name string, value, most N, allowed string) error {
	if value <= most {
		return nil
	}
	return &millrace.OptionError{Name: name, Value: uint8(value), Allowed: allowed}
}

// orNone is inner.Within for an option that may be None.
func orNone[N int | float64 | time.Duration](name string, value, most N) error {
	if value == None || inner.Within(name, value, 0, most) == nil {
		return nil
	}
	return &millrace.OptionError{Name: name, Value: value, Allowed: fmt.Sprintf("from 0 (None) to %v", most)}
}

// CheckMaxBatch is the check of a type's own MaxBatch.
func CheckMaxBatch(n int) error { return inner.Within("MaxBatch", n, 1, 1_000_000) }

// Retain is how a type keeps events without a handler for one that registers late.
type Retain struct {
	Replay Replay
	// Max events, MaxBytes and MaxAge bound what is kept, for each type.
	Max      int
	MaxBytes int64
	MaxAge   time.Duration
}

// longestAge is the same in each language: what a timer of JavaScript can wait for.
const longestAge = math.MaxInt32 * time.Millisecond

// Complete returns the setting with its defaults, or a *millrace.OptionError for the first field out of range.
func (r Retain) Complete() (*Retain, error) {
	return &Retain{
			Replay:   cmp.Or(r.Replay, ReplayFirst),
			Max:      cmp.Or(r.Max, 1000),
			MaxBytes: cmp.Or(r.MaxBytes, 1<<20),
			MaxAge:   cmp.Or(r.MaxAge, time.Minute),
		}, cmp.Or(
			upTo("Retain.Replay", r.Replay, ReplayEach, "ReplayFirst or ReplayEach"),
			inner.Within("Retain.Max", r.Max, 1, 1_000_000),
			inner.Within("Retain.MaxBytes", r.MaxBytes, 1, maxBytes),
			inner.Within("Retain.MaxAge", r.MaxAge, time.Millisecond, longestAge),
		)
}
