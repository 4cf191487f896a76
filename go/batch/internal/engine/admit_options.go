package engine

import (
	"fmt"
	"math"
	"time"
)

// PolicyName says when a batch leaves.
type PolicyName int8

const (
	// Adaptive holds a batch only while it pays.
	Adaptive PolicyName = iota
	// Fixed holds for MaxDelay.
	Fixed
	// Direct does not batch.
	Direct
)

// Order is the order of a batch within a class.
type Order int8

const (
	ByArrival Order = iota
	// ByType groups a batch by type, the type with the oldest event first.
	ByType
)

// Hold says whether holding tunes itself.
type Hold int8

const (
	Tuned Hold = iota
	// Always goes on holding even if it does not pay.
	Always
)

// Options of a queue.
type Options struct {
	Policy        PolicyName
	Order         Order
	Hold          Hold
	MaxBatch      int
	MaxDelay      time.Duration
	Threshold     int
	MaxQueue      int
	MaxQueueBytes int64
	MaxDeferral   time.Duration
}

// Fields says which options are given.
type Fields uint16

const (
	HasPolicy Fields = 1 << iota
	HasOrder
	HasHold
	HasMaxBatch
	HasMaxDelay
	HasThreshold
	HasMaxQueue
	HasMaxQueueBytes
	HasMaxDeferral
)

// Changes are the options that are given, and which these are.
type Changes struct {
	Options
	Has Fields
}

var defaults = Options{
	Policy:        Adaptive,
	MaxBatch:      1024,
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

// apply changes the options that are given.
func (o *Options) apply(c *Changes) {
	if c.Has&HasPolicy != 0 {
		o.Policy = c.Policy
	}
	if c.Has&HasOrder != 0 {
		o.Order = c.Order
	}
	if c.Has&HasHold != 0 {
		o.Hold = c.Hold
	}
	if c.Has&HasMaxBatch != 0 {
		o.MaxBatch = c.MaxBatch
	}
	if c.Has&HasMaxDelay != 0 {
		o.MaxDelay = c.MaxDelay
	}
	if c.Has&HasThreshold != 0 {
		o.Threshold = c.Threshold
	}
	if c.Has&HasMaxQueue != 0 {
		o.MaxQueue = c.MaxQueue
	}
	if c.Has&HasMaxQueueBytes != 0 {
		o.MaxQueueBytes = c.MaxQueueBytes
	}
	if c.Has&HasMaxDeferral != 0 {
		o.MaxDeferral = c.MaxDeferral
	}
}

// merge adds later changes.
func (c *Changes) merge(later *Changes) {
	c.apply(later)
	c.Has |= later.Has
}

// complete is the whole set: what is given, and defaults, which depend on the policy.
func (c *Changes) complete() Options {
	o := defaults
	if c.Has&HasPolicy != 0 && c.Policy == Fixed {
		o.MaxDelay = fixedMaxDelay
	}
	o.apply(c)
	return o
}

// Check returns an *OptionError for the first given option that is out of range.
func (c *Changes) Check() error {
	if c.Has&HasPolicy != 0 && (c.Policy < Adaptive || c.Policy > Direct) {
		return &OptionError{"Policy", int(c.Policy), "Adaptive, Fixed or Direct"}
	}
	if c.Has&HasOrder != 0 && (c.Order < ByArrival || c.Order > ByType) {
		return &OptionError{"Order", int(c.Order), "ByArrival or ByType"}
	}
	if c.Has&HasHold != 0 && (c.Hold < Tuned || c.Hold > Always) {
		return &OptionError{"Hold", int(c.Hold), "HoldTuned or HoldAlways"}
	}
	rules := [...]struct {
		field       Fields
		name        string
		value       int64
		least, most int64
	}{
		{HasMaxBatch, "MaxBatch", int64(c.MaxBatch), 1, 1_000_000},
		{HasThreshold, "Threshold", int64(c.Threshold), 0, 1_000_000},
		{HasMaxQueue, "MaxQueue", int64(c.MaxQueue), 1, 100_000_000},
		{HasMaxQueueBytes, "MaxQueueBytes", c.MaxQueueBytes, 1, maxBytes},
	}
	for _, rule := range rules {
		if c.Has&rule.field != 0 {
			if err := within(rule.name, rule.value, rule.least, rule.most); err != nil {
				return err
			}
		}
	}
	if c.Has&HasMaxDelay != 0 {
		if err := within("MaxDelay", c.MaxDelay, 0, time.Minute); err != nil {
			return err
		}
	}
	if c.Has&HasMaxDeferral != 0 {
		return within("MaxDeferral", c.MaxDeferral, 0, time.Hour)
	}
	return nil
}

// within returns an *OptionError unless the value keeps its range.
func within[N int64 | time.Duration](name string, value, least, most N) error {
	if value >= least && value <= most {
		return nil
	}
	return &OptionError{name, value, fmt.Sprintf("from %v to %v", least, most)}
}

// CheckMaxBatch is the check of a type's own MaxBatch.
func CheckMaxBatch(n int) error { return within("MaxBatch", int64(n), 1, 1_000_000) }

// Replay says to whom retained events go.
type Replay int8

const (
	// ReplayFirst: to the first handler that registers, and then they are over.
	ReplayFirst Replay = iota
	// ReplayEach: to every handler that registers until their age is reached.
	ReplayEach
)

// Retain is how a type keeps events without a handler for one that registers late.
type Retain struct {
	Replay Replay
	// Max events, MaxBytes and MaxAge bound what is kept, for each type.
	Max      int
	MaxBytes int64
	MaxAge   time.Duration
}

// RetainDefaults are what a Retain's zero fields stand for.
var RetainDefaults = Retain{Replay: ReplayFirst, Max: 1000, MaxBytes: 1 << 20, MaxAge: time.Minute}

// longestAge is the same in each language: what a timer of JavaScript can wait for.
const longestAge = math.MaxInt32 * time.Millisecond

// Check returns an *OptionError for the first field that is out of range.
func (r *Retain) Check() error {
	if r.Replay < ReplayFirst || r.Replay > ReplayEach {
		return &OptionError{"Retain.Replay", int(r.Replay), "ReplayFirst or ReplayEach"}
	}
	if err := within("Retain.Max", int64(r.Max), 1, 1_000_000); err != nil {
		return err
	}
	if err := within("Retain.MaxBytes", r.MaxBytes, 1, maxBytes); err != nil {
		return err
	}
	return within("Retain.MaxAge", r.MaxAge, time.Millisecond, longestAge)
}
