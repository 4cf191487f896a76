package eventloop

import (
	"syscall"
	"unsafe"
)

// timerfdAlarm is a timer of the kernel: its expiry wakes the runtime's poller at once, where Go's own timers wait for
// a poll with a timeout that is rounded up to a millisecond. It is never read: setting it clears the expiry,
// and the poller reports expiries, not what is there to read.
type timerfdAlarm struct {
	edge
	fd    int
	ended chan struct{}
}

const clockMonotonic = 1

// farthest is what fits a 32-bit system's seconds. A timer that is farther away is looked at then, and not due yet.
const farthest = int64(1<<30) * 1e9

func newPreciseAlarm(l *Loop) (alarm, error) {
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		return nil, errno
	}
	edge, err := newEdge(int(fd), "timerfd")
	if err != nil {
		return nil, err
	}
	a := &timerfdAlarm{edge: edge, fd: int(fd), ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		a.wait(func() { l.notify(urgent) })
	}()
	return a, nil
}

func (a *timerfdAlarm) set(at int64) {
	// 0 would disarm it.
	a.arm(min(max(1, at-clock()), farthest))
}

func (a *timerfdAlarm) stop() { a.arm(0) }

// arm sets the timer relative to now, so that it does not matter where the loop's clock begins.
func (a *timerfdAlarm) arm(ns int64) {
	spec := struct{ interval, value syscall.Timespec }{value: syscall.NsecToTimespec(ns)}
	// It does not block, and it cannot fail with these arguments.
	syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(a.fd), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

func (a *timerfdAlarm) close() {
	a.edge.close()
	<-a.ended
}
