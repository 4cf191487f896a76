package eventloop_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"millrace.dev/go"
	"millrace.dev/go/eventloop"
)

func Example() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() {
		loop.After(100*time.Millisecond, func() { fmt.Println("a timer") })
		loop.Microtask(func() { fmt.Println("its microtask") })
		fmt.Println("a task")
	})
	loop.Submit(func() { fmt.Println("the next task") })
	// Returns when nothing is left to do.
	if err := loop.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// a task
	// its microtask
	// the next task
	// a timer
}

// A loop beside a server: state without a mutex, since one function runs at a time.
func Example_server() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := loop.Start(); err != nil {
		log.Fatal(err)
	}
	visits := map[string]int{}
	// Called by the goroutines of an HTTP server, for instance.
	visit := func(name string) (n int, err error) {
		err = loop.Do(ctx, func() {
			visits[name]++
			n = visits[name]
		})
		return n, err
	}
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() { visit("/") })
	}
	callers.Wait()
	n, err := visit("/")
	fmt.Println(n, err)
	if err := loop.Close(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = visit("/")
	fmt.Println(err)
	// Output:
	// 11 <nil>
	// millrace: it is closed: use it before Close, or make another
}

// What comes after what in a turn of the loop.
func Example_order() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	say := func(line string) func() { return func() { fmt.Println(line) } }
	loop.Submit(func() {
		loop.Submit(say("6. the next turn"))
		loop.Immediate(say("5. an immediate: the end of this turn"))
		loop.SubmitPriority(millrace.High, say("4. a HIGH task: before the other one"))
		loop.Microtask(say("3. a microtask"))
		loop.NextTick(say("2. a tick"))
		fmt.Println("1. a task")
	})
	loop.Run(context.Background())
	// Output:
	// 1. a task
	// 2. a tick
	// 3. a microtask
	// 4. a HIGH task: before the other one
	// 5. an immediate: the end of this turn
	// 6. the next turn
}

// A full queue refuses: the caller decides what becomes of the work.
func ExampleLoop_Submit() {
	loop, err := eventloop.New(eventloop.Config{MaxQueue: 2})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		err := loop.Submit(func() { fmt.Println("task", i) })
		if errors.Is(err, millrace.ErrOverload) {
			fmt.Println("no room for task", i)
		}
	}
	loop.Run(context.Background())
	// Output:
	// no room for task 2
	// task 0
	// task 1
}

func ExampleLoop_SubmitBatch() {
	loop, err := eventloop.New(eventloop.Config{MaxQueue: 2})
	if err != nil {
		log.Fatal(err)
	}
	say := func(line string) func() { return func() { fmt.Println(line) } }
	tasks := []func(){say("a"), say("b"), say("c")}
	n, err := loop.SubmitBatch(tasks)
	fmt.Println(n, "taken, then:", errors.Is(err, millrace.ErrOverload))
	loop.Run(context.Background())
	// Output:
	// 2 taken, then: true
	// a
	// b
}

func ExampleLoop_Do() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Start()
	defer loop.Close(ctx)

	total := 0
	err = loop.Do(ctx, func() {
		total++
		// Inside the loop it is a call like any other.
		loop.Do(ctx, func() { total++ })
	})
	fmt.Println(total, err)

	err = loop.Do(ctx, func() { panic("a bug") })
	var panicked *millrace.PanicError
	fmt.Println(errors.As(err, &panicked), panicked.Value)
	// Output:
	// 2 <nil>
	// true a bug
}

func ExampleLoop_Drain() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Start()
	done := 0
	for range 1000 {
		loop.Submit(func() { done++ })
	}
	if err := loop.Drain(ctx); err != nil {
		log.Fatal(err)
	}
	loop.Do(ctx, func() { fmt.Println(done) })
	loop.Close(ctx)
	// Output:
	// 1000
}

// What was accepted has been run, or is returned. Here the time is over before anything has run.
func ExampleLoop_Close() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() { fmt.Println("a") })
	loop.Submit(func() { fmt.Println("b") })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()

	err = loop.Close(ctx)
	left := loop.Left()
	fmt.Println(len(left), "left:", err)
	for _, task := range left {
		task()
	}
	// Output:
	// 2 left: context canceled
	// a
	// b
}

func ExampleLoop_Every() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	var ticker *eventloop.Timer
	ticker, err = loop.Every(time.Millisecond, func() {
		if n++; n == 3 {
			ticker.Stop()
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	loop.Run(context.Background())
	fmt.Println(n)
	// Output:
	// 3
}

// A timer for housekeeping, which is no reason for a program to go on.
func ExampleTimer_Unref() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	report, err := loop.Every(time.Hour, func() { fmt.Println("still here") })
	if err != nil {
		log.Fatal(err)
	}
	report.Unref()
	loop.Submit(func() { fmt.Println("the work") })
	loop.Run(context.Background())
	// Output:
	// the work
}

// The loop waits for work that goes on elsewhere.
func ExampleLoop_KeepAlive() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() {
		work, err := loop.KeepAlive()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			answer := 42
			work.Complete(func() { fmt.Println("on the loop:", answer) })
		}()
	})
	loop.Run(context.Background())
	// Output:
	// on the loop: 42
}

func ExampleConfig_onError() {
	loop, err := eventloop.New(eventloop.Config{OnError: func(err error) {
		var panicked *millrace.PanicError
		if errors.As(err, &panicked) {
			fmt.Println("reported:", panicked.Value) // panicked.Stack tells where
		}
	}})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() { panic("a bug") })
	loop.Submit(func() { fmt.Println("the loop goes on") })
	loop.Run(context.Background())
	// Output:
	// reported: a bug
	// the loop goes on
}

func ExampleConfig_propagatePanics() {
	loop, err := eventloop.New(eventloop.Config{PropagatePanics: true})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() { panic("a bug") })
	loop.Submit(func() { fmt.Println("what waited is still there") })
	func() {
		defer func() { fmt.Println("recovered:", recover()) }()
		loop.Run(context.Background())
	}()
	loop.Run(context.Background())
	// Output:
	// recovered: a bug
	// what waited is still there
}

// Producers slow down before they meet ErrOverload.
func ExampleConfig_onPressure() {
	loop, err := eventloop.New(eventloop.Config{
		MaxQueue:     10_000,
		PressureMark: 1000,
		OnPressure: func(queued int) {
			if queued > 500 {
				fmt.Println("slow down")
			} else {
				fmt.Println("go on")
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 2000 {
		loop.Submit(func() {})
	}
	loop.Run(context.Background())
	// Output:
	// slow down
	// go on
}

func ExampleConfig_lockOSThread() {
	loop, err := eventloop.New(eventloop.Config{LockOSThread: true})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() { fmt.Println("a call into a library that minds its thread") })
	loop.Run(context.Background())
	// Output:
	// a call into a library that minds its thread
}

// A bad option names its value and what would do.
func ExampleNew() {
	_, err := eventloop.New(eventloop.Config{MaxQueue: -1})
	fmt.Println(err)
	fmt.Println(errors.Is(err, millrace.ErrOption))
	// Output:
	// millrace: bad value: MaxQueue is -1; it must be from 1 to 1073741824
	// true
}

func ExampleLoop_Stats() {
	loop, err := eventloop.New(eventloop.Config{MaxQueue: 1})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() {})
	loop.Submit(func() {})
	s := loop.Stats()
	fmt.Println(s.QueueDepth, "waits,", s.RefusedTotal, "was refused")
	// Output:
	// 1 waits, 1 was refused
}

// What a program does with a loop in the background.
func Example_background() {
	state, ctx := 0, context.Background()
	task := func() { fmt.Println("a task, after", state) }

	loop, err := eventloop.New(eventloop.Config{})
	loop.Start()                       // on a goroutine of its own
	loop.Submit(task)                  // queues, from any goroutine
	loop.Do(ctx, func() { state++ })   // runs on the loop and waits; right here while the loop sleeps
	loop.After(time.Millisecond, task) // timers; also descriptors and priorities
	loop.Drain(ctx)                    // waits until nothing is left to do
	loop.Close(ctx)                    // runs what is queued, and ends the loop

	fmt.Println(err)
	// Output:
	// a task, after 0
	// a task, after 1
	// <nil>
}
