package batch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"millrace.dev/go/batch"
	"millrace.dev/go/eventloop"
)

// Group commit: many writers of a log, each of which returns when its record is on the disk, share one fsync.
func ExampleNew_groupCommit() {
	folder, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	file, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		panic(err)
	}
	defer file.Close()

	var end int64
	journal, err := batch.New(func(_ context.Context, records [][]byte) ([]int64, error) {
		var all []byte
		places := make([]int64, len(records))
		for i, record := range records {
			places[i] = end + int64(len(all))
			all = append(all, record...)
		}
		if _, err := file.Write(all); err != nil {
			return nil, err
		}
		end += int64(len(all))
		return places, file.Sync()
	}, batch.Config[[]byte, int64]{Size: func(record []byte) int { return len(record) }})
	if err != nil {
		panic(err)
	}

	var writers sync.WaitGroup
	for range 100 {
		writers.Go(func() {
			if _, err := journal.Do(context.Background(), []byte("record\n")); err != nil {
				panic(err)
			}
		})
	}
	writers.Wait()
	journal.Close(context.Background())
	stats := journal.Stats()
	fmt.Println(stats.DeliveredTotal, "records,", end, "bytes")
	fmt.Println("fewer commits than records:", stats.BatchTotal < stats.DeliveredTotal)
	// Output:
	// 100 records, 700 bytes
	// fewer commits than records: true
}

// A multi-get: callers ask for one key each, the store is asked for all of them at once, and once for those that
// several ask for.
func ExampleNew_multiGet() {
	store := map[string]int{"apple": 3, "pear": 5}
	notFound := errors.New("not found")
	multiGet := func(_ context.Context, names []string) ([]int, error) {
		values, failures := make([]int, len(names)), make(batch.Errors, len(names))
		for i, name := range names {
			value, found := store[name]
			if !found {
				failures[i] = notFound
			}
			values[i] = value
		}
		return values, failures
	}
	get, err := batch.New(multiGet, batch.Config[string, int]{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	fmt.Println(get.Do(ctx, "apple"))

	sameName := batch.KeyOf(func(name string) string { return name })
	getOnce, err := batch.New(multiGet, batch.Config[string, int]{Key: sameName})
	if err != nil {
		panic(err)
	}
	fmt.Println(getOnce.Do(ctx, "plum"))
	// Output:
	// 3 <nil>
	// 0 not found
}

// A deadline of one caller is its own: the key is left out when its batch has not left.
func ExampleBatcher_Do() {
	double, err := batch.New(func(_ context.Context, numbers []int) ([]int, error) {
		for i := range numbers {
			numbers[i] *= 2
		}
		return numbers, nil
	}, batch.Config[int, int]{Policy: batch.Fixed, MaxDelay: time.Minute, Threshold: 2})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	_, err = double.Do(ctx, 1)
	fmt.Println(err)

	var callers sync.WaitGroup
	results := make([]int, 2)
	for i := range results {
		callers.Go(func() { results[i], _ = double.Do(context.Background(), 10+i) })
	}
	callers.Wait()
	fmt.Println(results)
	// Output:
	// context deadline exceeded
	// [20 22]
}

// Events of a turn leave at its end: High first, and those of a type together for a batch handler.
func ExampleNewEmitter() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		panic(err)
	}
	bus, err := batch.NewEmitter(loop, batch.EmitterConfig[string]{})
	if err != nil {
		panic(err)
	}
	bus.On("signal", func(name string) { fmt.Println("signal", name) })
	bus.OnBatch("metric", func(lines []string, info batch.Info) { fmt.Println(info.Trigger, lines) })

	loop.Submit(func() {
		bus.Emit("metric", "a")
		bus.Emit("metric", "b")
		bus.Emit("signal", "hangup")
		fmt.Println("nothing runs inside Emit")
	})
	loop.Run(context.Background())
	// Output:
	// nothing runs inside Emit
	// signal hangup
	// turn [a b]
}

// Events that nobody handles yet are kept for a handler that comes late, when that is asked for.
func ExampleEmitter_SetType() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		panic(err)
	}
	bus, err := batch.NewEmitter(loop, batch.EmitterConfig[int]{MaxQueue: 10_000})
	if err != nil {
		panic(err)
	}
	late := batch.Retain{Replay: batch.ReplayFirst, Max: 100, MaxAge: time.Second}
	bus.SetType("order", batch.TypeConfig[int]{Retain: late})
	bus.Emit("order", 1)
	loop.Run(context.Background())
	fmt.Println(bus.Stats().Retained.Count, "kept")

	bus.On("order", func(n int) { fmt.Println("order", n) })
	bus.Emit("order", 2)
	loop.Run(context.Background())
	// Output:
	// 1 kept
	// order 1
	// order 2
}

// A newer event of a key takes the place of the one that still waits; Merge combines the two.
func ExampleEmitter_Push() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		panic(err)
	}
	bus, err := batch.NewEmitter(loop, batch.EmitterConfig[int]{})
	if err != nil {
		panic(err)
	}
	add := func(older, newer int) int { return older + newer }
	bus.SetType("sold", batch.TypeConfig[int]{Merge: add})
	bus.On("price", func(cents int) { fmt.Println("price", cents) })
	bus.On("sold", func(n int) { fmt.Println("sold", n) })

	bus.Push("price", 100, batch.EventConfig{Key: "apple"})
	bus.Push("sold", 2, batch.EventConfig{Key: "apple"})
	bus.Push("price", 95, batch.EventConfig{Key: "apple"})
	bus.Push("sold", 3, batch.EventConfig{Key: "apple"})
	loop.Run(context.Background())
	// Output:
	// price 95
	// sold 5
}
