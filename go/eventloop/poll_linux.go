package eventloop

import "syscall"

// epoll is the selector of Linux. The waiting goroutine is parked in the runtime's poller, which is an epoll instance
// with ours in it.
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
