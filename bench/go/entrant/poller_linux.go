package entrant

import (
	"fmt"
	"sync"
	"syscall"
	"unsafe"
)

// poller is what the report's own designs have in common: the loop's goroutine waits in epoll_wait, and an eventfd
// wakes it. The eventfd is edge-triggered, so that nobody has to read it, unless that belongs to the design.
type poller struct {
	epoll, wakeup int
	readsWakes    bool // before the first wait
	events        [128]syscall.EpollEvent

	mu        sync.Mutex
	callbacks map[int32]func()
}

const (
	edgeTriggered = 1 << 31 // syscall.EPOLLET is negative, the field is not
	forever       = -1
)

func newPoller() (*poller, error) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	wakeup, _, failed := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if failed != 0 {
		syscall.Close(epoll)
		return nil, fmt.Errorf("eventfd: %w", failed)
	}
	p := &poller{epoll: epoll, wakeup: int(wakeup), callbacks: map[int32]func(){}}
	if err := p.add(p.wakeup, syscall.EPOLLIN|edgeTriggered); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *poller) add(fd int, events uint32) error {
	event := syscall.EpollEvent{Events: events, Fd: int32(fd)}
	if err := syscall.EpollCtl(p.epoll, syscall.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// Watch implements Watcher, level-triggered.
func (p *poller) Watch(fd int, callback func()) (stop func() error, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.add(fd, syscall.EPOLLIN); err != nil {
		return nil, err
	}
	p.callbacks[int32(fd)] = callback
	return func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.callbacks, int32(fd))
		return syscall.EpollCtl(p.epoll, syscall.EPOLL_CTL_DEL, fd, nil)
	}, nil
}

// wait waits until something is ready or somebody wakes it, and calls back.
func (p *poller) wait(milliseconds int) {
	n, err := syscall.EpollWait(p.epoll, p.events[:], milliseconds)
	if err != nil && err != syscall.EINTR {
		panic(fmt.Sprintf("epoll_wait: %v", err)) // a mistake of this file
	}
	for _, event := range p.events[:max(n, 0)] {
		if int(event.Fd) == p.wakeup {
			if p.readsWakes {
				var count [8]byte
				syscall.Read(p.wakeup, count[:])
			}
			continue
		}
		p.mu.Lock()
		callback := p.callbacks[event.Fd]
		p.mu.Unlock()
		if callback != nil {
			callback()
		}
	}
}

// wake ends a wait, or the next one. It never blocks, so that the scheduler need not be told of it.
func (p *poller) wake() {
	one := uint64(1)
	syscall.RawSyscall(syscall.SYS_WRITE, uintptr(p.wakeup), uintptr(unsafe.Pointer(&one)), unsafe.Sizeof(one))
}

func (p *poller) close() {
	syscall.Close(p.wakeup)
	syscall.Close(p.epoll)
}
