//go:build linux

package eventloop_test

import (
	"context"
	"fmt"
	"syscall"

	"millrace.dev/go/eventloop"
)

// A pipe is read as data comes, until its writer has closed it.
func ExampleLoop_Watch() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		panic(err)
	}
	defer loop.Close(context.Background())

	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC); err != nil {
		panic(err)
	}
	buffer := make([]byte, 100)
	var watcher *eventloop.Watcher
	watcher, err = loop.Watch(pipe[0], eventloop.Readable, func(eventloop.Events) {
		n, err := syscall.Read(pipe[0], buffer)
		switch {
		case n > 0:
			fmt.Printf("%s\n", buffer[:n])
		case err == syscall.EAGAIN: // read by somebody else
		default: // the end
			fmt.Println("closed")
			watcher.Stop() // before the descriptor is closed
			syscall.Close(pipe[0])
		}
	})
	if err != nil {
		panic(err)
	}
	loop.Submit(func() { syscall.Write(pipe[1], []byte("hello")) })
	loop.Submit(func() { syscall.Close(pipe[1]) })

	// The watcher keeps it running until it is closed.
	if err := loop.Run(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// hello
	// closed
}
