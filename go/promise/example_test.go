package promise_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"millrace.dev/go/eventloop"
	"millrace.dev/go/promise"
)

func ExampleThen() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() {
		text := promise.Async(loop, func() (string, error) { return "from a goroutine", nil })
		doubled := promise.Then(text, func(text string) (int, error) { return 2 * len(text), nil })
		promise.Then(doubled, func(n int) (any, error) {
			fmt.Println(n)
			return nil, nil
		})
	})
	loop.Run(context.Background())
	// Output:
	// 32
}

// Each step waits for a promise of its own.
func ExampleChain() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	user := func(id int) *promise.Promise[string] {
		return promise.Async(loop, func() (string, error) { return fmt.Sprint("user ", id), nil })
	}
	loop.Submit(func() {
		id := promise.Resolve(loop, 7)
		name := promise.Chain(id, user)
		promise.Then(name, func(name string) (any, error) {
			fmt.Println(name)
			return nil, nil
		})
	})
	loop.Run(context.Background())
	// Output:
	// user 7
}

func ExamplePromise_Catch() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() {
		failed := promise.Reject[string](loop, errors.New("no connection"))
		text := failed.
			Catch(func(err error) (string, error) { return "instead of: " + err.Error(), nil }).
			Finally(func() { fmt.Println("in any case") })
		promise.Then(text, func(text string) (any, error) {
			fmt.Println(text)
			return nil, nil
		})
	})
	loop.Run(context.Background())
	// Output:
	// in any case
	// instead of: no connection
}

// A goroutine waits for what the loop does.
func ExamplePromise_Await() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Start()
	defer loop.Close(ctx)

	answer, resolve, _ := promise.New[int](loop)
	loop.Submit(func() {
		loop.After(time.Millisecond, func() { resolve(42) })
	})
	value, err := answer.Await(ctx)
	fmt.Println(value, err)
	// Output:
	// 42 <nil>
}

func ExampleAll() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Start()
	defer loop.Close(ctx)

	square := func(n int) *promise.Promise[int] {
		return promise.Async(loop, func() (int, error) { return n * n, nil })
	}
	squares, err := promise.All(loop, square(2), square(3), square(4)).Await(ctx)
	fmt.Println(squares, err)
	// Output:
	// [4 9 16] <nil>
}

func ExampleAllSettled() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Start()
	defer loop.Close(ctx)

	outcomes, err := promise.AllSettled(loop,
		promise.Resolve(loop, "well"),
		promise.Reject[string](loop, errors.New("not so well")),
	).Await(ctx)
	for _, o := range outcomes {
		fmt.Printf("%q %v\n", o.Value, o.Err)
	}
	fmt.Println(err)
	// Output:
	// "well" <nil>
	// "" not so well
	// <nil>
}

// The quickest of several that works; all errors if none does.
func ExampleAny() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Start()
	defer loop.Close(ctx)

	down, busy := errors.New("down"), errors.New("busy")
	_, err = promise.Any(loop,
		promise.Reject[string](loop, down),
		promise.Reject[string](loop, busy),
	).Await(ctx)
	fmt.Println(errors.Is(err, down), errors.Is(err, busy))
	// Output:
	// true true
}

func ExampleRace() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Start()
	defer loop.Close(ctx)

	slow := promise.Then(promise.Sleep(loop, time.Hour), func(struct{}) (string, error) { return "slow", nil })
	first, err := promise.Race(loop, slow, promise.Resolve(loop, "quick")).Await(ctx)
	fmt.Println(first, err)
	// Output:
	// quick <nil>
}

func ExamplePromise_Timeout() {
	ctx := context.Background()
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	loop.Start()
	defer loop.Close(ctx)

	never, _, _ := promise.New[int](loop)
	_, err = never.Timeout(time.Millisecond).Await(ctx)
	fmt.Println(err)
	// Output:
	// context deadline exceeded
}

func ExampleReject() {
	loop, err := eventloop.New(eventloop.Config{OnRejection: func(reason error) {
		fmt.Println("nobody handles:", reason)
	}})
	if err != nil {
		log.Fatal(err)
	}
	loop.Submit(func() {
		promise.Reject[int](loop, errors.New("forgotten"))
		handled := promise.Reject[int](loop, errors.New("handled"))
		handled.Catch(func(error) (int, error) { return 0, nil })
	})
	loop.Run(context.Background())
	// Output:
	// nobody handles: forgotten
}
