package eventloop

import (
	"os"
	"syscall"
	"time"
)

// edge is a descriptor of ours in the runtime's own poller, where a goroutine that waits costs no thread.
type edge struct {
	file *os.File
	conn syscall.RawConn
}

// newEdge takes over a descriptor; it closes it on an error.
func newEdge(fd int, name string) (edge, error) {
	// The runtime's poller takes only non-blocking descriptors.
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return edge{}, err
	}
	file := os.NewFile(uintptr(fd), name)
	// Only what the runtime's poller has accepted has deadlines.
	if err := file.SetReadDeadline(time.Time{}); err != nil {
		_ = file.Close()
		return edge{}, err
	}
	conn, err := file.SyscallConn()
	return edge{file, conn}, err
}

// wait calls a function at once, and then whenever the descriptor has become readable, until it is interrupted or
// closed. The runtime's poller is edge-triggered: what stays readable is reported once. What becomes readable while the
// function runs is not lost, as the poller remembers it.
func (e edge) wait(ready func()) {
	_ = e.conn.Read(func(uintptr) bool {
		ready()
		return false
	})
}

// interrupt ends wait, and returns when it has ended.
func (e edge) interrupt(ended <-chan struct{}) {
	_ = e.file.SetReadDeadline(time.Unix(1, 0))
	<-ended
	_ = e.file.SetReadDeadline(time.Time{})
}

func (e edge) close() {
	_ = e.file.Close()
}
