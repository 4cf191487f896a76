package eventloop

import (
	"os"
	"syscall"
	"time"
)

// epoll is the selector of Linux. The waiting goroutine is parked in the runtime's poller, whose epoll has ours in it.
type epoll struct {
	edge
	fd     int
	events [listSize]syscall.EpollEvent
}

func newSelector() (selector, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	edge, err := newEdge(fd, "epoll")
	if err != nil {
		return nil, err
	}
	return &epoll{edge: edge, fd: fd}, nil
}

func (s *epoll) set(fd int, tag uint32, before, after Events) error {
	if !isNumber(fd) || fd == s.fd {
		return syscall.EBADF
	}
	op := syscall.EPOLL_CTL_MOD
	switch {
	case after == 0:
		op = syscall.EPOLL_CTL_DEL
	case before == 0:
		op = syscall.EPOLL_CTL_ADD
	}
	event := syscall.EpollEvent{Fd: int32(fd), Pad: int32(tag)}
	for _, each := range epollBits {
		if after&each.events != 0 {
			event.Events |= each.bit
		}
	}
	return syscall.EpollCtl(s.fd, op, fd, &event)
}

// epollBits pairs what is asked for; errors and a complete end are reported in any case.
var epollBits = [...]struct {
	events Events
	bit    uint32
}{{Readable, syscall.EPOLLIN}, {Writable, syscall.EPOLLOUT}, {Hangup, syscall.EPOLLRDHUP}}

func (s *epoll) poll(into []happening) (int, error) {
	n, err := again(func() (int, error) { return syscall.EpollWait(s.fd, s.events[:len(into)], 0) })
	for i := range max(n, 0) {
		event := &s.events[i]
		var events Events
		for _, each := range epollBits {
			if event.Events&each.bit != 0 {
				events |= each.events
			}
		}
		if event.Events&syscall.EPOLLHUP != 0 {
			events |= Hangup | gone
		}
		if event.Events&syscall.EPOLLERR != 0 {
			events |= Failed | gone
		}
		into[i] = happening{int(event.Fd), uint32(event.Pad), events}
	}
	return max(n, 0), err
}

// rest has nothing to do: the runtime's poller reports each change.
func (s *epoll) rest() error { return nil }

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

func (e edge) close() { _ = e.file.Close() }
