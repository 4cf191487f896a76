package eventloop

import (
	"runtime"
	"syscall"
)

// A descriptor is watched, read by the loop and written to by another goroutine, meanwhile.
func init() {
	watchInChaos = func(c *chaos) {
		var fds [2]int
		if err := syscall.Pipe2(fds[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC); err != nil {
			c.t.Error(err)
			return
		}
		defer syscall.Close(fds[1])
		defer syscall.Close(fds[0])
		watcher, err := c.l.Watch(fds[0], Readable, func(Events) {
			c.more()
			var buffer [1]byte
			syscall.Read(fds[0], buffer[:])
		})
		if err != nil {
			return // the loop is closed
		}
		for range 200 {
			syscall.Write(fds[1], []byte("x"))
			runtime.Gosched()
		}
		watcher.Stop()
	}
}
