// Command policy measures a durable log: a goroutine adds records at random times to a batch.Emitter, whose handler
// appends those of a batch to the file with one write and one fdatasync, on the loop. It prints one JSON object.
//
//	policy WAY PER_SECOND WARMUP SECONDS FILE
//
//	direct       each record by itself
//	end of turn  Adaptive without a delay
//	fixed MS     Fixed with this MaxDelay
//	adaptive MS  Adaptive with this MaxDelay
//
// It is an Emitter because its handlers keep the loop, and that time is what Adaptive saves. A Batcher runs its function on
// another goroutine and groups the calls that come meanwhile, under every policy but Direct.
//
// Latency is the time from when a record was due until it is on the disk. `cores` is the share of time in which the loop
// did not sleep, from the warm-up on.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"millrace.dev/go/batch"
	"millrace.dev/go/eventloop"
	"millrace.dev/go/internal/inner"
)

const (
	recordSize = 100
	kind       = "record"
	// tail is how long records go on after the measured time: the first batch after it ends the measurement.
	tail = 200 * time.Millisecond
	most = 1e6
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 5 {
		return errors.New("usage: policy WAY PER_SECOND WARMUP SECONDS FILE")
	}
	config, err := configOf(args[0])
	if err != nil {
		return err
	}
	var numbers [3]float64
	for i, name := range []string{"PER_SECOND", "WARMUP", "SECONDS"} {
		if numbers[i], err = number(name, args[i+1]); err != nil {
			return err
		}
	}
	found, err := measure(config, numbers[0], seconds(numbers[1]), seconds(numbers[2]), args[4])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func configOf(way string) (config batch.EmitterConfig[record], err error) {
	config.MaxDelay = batch.None
	policy, delay, hasDelay := strings.Cut(way, " ")
	switch {
	case way == "direct":
		config.Policy = batch.Direct
	case way == "end of turn":
		config.Policy = batch.Adaptive
	case hasDelay && (policy == "fixed" || policy == "adaptive"):
		ms, err := number("the delay", delay)
		if err != nil {
			return config, err
		}
		config.MaxDelay = seconds(ms / 1000)
		config.Policy = batch.Adaptive
		if policy == "fixed" {
			config.Policy = batch.Fixed
		}
	default:
		err = fmt.Errorf("WAY is %q; it must be direct, end of turn, fixed MS or adaptive MS", way)
	}
	return config, err
}

func number(name, text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value > 0 && value <= most) {
		return 0, fmt.Errorf("%s is %q; it must be more than 0 and at most %.0f", name, text, most)
	}
	return value, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// sample has the figures of an arm.
type sample struct {
	Complete      bool    `json:"complete"` // every record is in the file
	Cores         float64 `json:"cores"`
	BusyUsPerItem float64 `json:"busy_us_per_item"`
	MsgsPerSecond float64 `json:"msgs_per_s"`
	P50           float64 `json:"p50_ms"`
	P99           float64 `json:"p99_ms"`
}

// Times of records and moments are since the start of the log.
type record struct {
	index int
	due   time.Duration
}

// moment is a state of the loop; it is not taken yet while `at` is 0.
type moment struct{ at, slept time.Duration }

// durableLog belongs to the loop until that is closed.
type durableLog struct {
	loop          *eventloop.Loop
	file          *os.File
	start         time.Time
	from, until   time.Duration // records that are due between these are measured
	before, after moment
	text          []byte
	written       int
	latencies     []time.Duration
	err           error
}

func measure(
	config batch.EmitterConfig[record], perSecond float64, warmup, length time.Duration, path string,
) (found sample, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return found, err
	}
	defer file.Close()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		return found, err
	}
	emitter, err := batch.NewEmitter(loop, config)
	if err != nil {
		return found, err
	}
	if err = loop.Start(); err != nil {
		return found, err
	}
	loop.Utilization() // begins to measure how long the loop sleeps
	log := &durableLog{
		loop: loop, file: file, start: time.Now(), from: warmup, until: warmup + length,
		latencies: make([]time.Duration, 0, int(perSecond*length.Seconds()*1.5)+1000),
	}
	emitter.OnBatch(kind, log.append)
	count, err := log.produce(emitter, perSecond)
	err = errors.Join(err, emitter.Close(context.Background()))
	err = errors.Join(err, loop.Close(context.Background()))
	if err = errors.Join(err, log.err); err != nil {
		return found, err
	}
	info, err := file.Stat()
	if err != nil {
		return found, err
	}
	isComplete := log.written == count && info.Size() == int64(count)*recordSize
	return log.sample(isComplete, length)
}

// produce adds each record when it is due, and returns their number. The last one is due after the end.
func (l *durableLog) produce(emitter *batch.Emitter[record], perSecond float64) (count int, err error) {
	random := rand.New(rand.NewPCG(1, 0))
	end := l.until + tail
	for due := time.Duration(0); due < end; count++ {
		due += seconds(random.ExpFloat64() / perSecond)
		l.sleepUntil(due)
		if err := emitter.Emit(kind, record{count, due}); err != nil {
			return count, err
		}
	}
	return count, nil
}

// sleepUntil sleeps in the system: time.Sleep may be a millisecond late on an idle machine.
func (l *durableLog) sleepUntil(due time.Duration) {
	for early := due - time.Since(l.start); early > 0; early = due - time.Since(l.start) {
		left := syscall.NsecToTimespec(int64(early))
		// A signal may end it early.
		_ = syscall.Nanosleep(&left, nil)
	}
}

// append writes the records of a batch: its handler.
func (l *durableLog) append(records []record, _ batch.Info) {
	l.watch()
	if l.err != nil {
		return
	}
	l.text = l.text[:0]
	for _, r := range records {
		l.text = fmt.Appendf(l.text, "%*d\n", recordSize-1, r.index)
	}
	if _, l.err = l.file.Write(l.text); l.err != nil {
		return
	}
	if l.err = syscall.Fdatasync(int(l.file.Fd())); l.err != nil {
		return
	}
	l.written += len(records)
	now := time.Since(l.start)
	for _, r := range records {
		if r.due >= l.from && r.due < l.until {
			l.latencies = append(l.latencies, now-r.due)
		}
	}
}

func (l *durableLog) watch() {
	now := moment{time.Since(l.start), inner.Slept(l.loop)}
	if l.before.at == 0 && now.at >= l.from {
		l.before = now
	}
	if l.after.at == 0 && now.at >= l.until {
		l.after = now
	}
}

func (l *durableLog) sample(isComplete bool, length time.Duration) (sample, error) {
	n := len(l.latencies)
	if n == 0 {
		return sample{}, errors.New("no record was due in the time that is measured")
	}
	slices.Sort(l.latencies)
	ms := func(rank int) float64 { return float64(l.latencies[rank]) / float64(time.Millisecond) }
	cores := 1 - float64(l.after.slept-l.before.slept)/float64(l.after.at-l.before.at)
	return sample{
		Complete:      isComplete,
		Cores:         cores,
		BusyUsPerItem: cores * float64(length) / float64(time.Microsecond) / float64(n),
		MsgsPerSecond: float64(n) / length.Seconds(),
		P50:           ms(n / 2),
		P99:           ms(n * 99 / 100),
	}, nil
}
