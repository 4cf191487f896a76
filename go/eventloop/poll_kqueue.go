//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package eventloop

import "syscall"

// kqueue is the selector of macOS and the BSDs. The runtime's poller registers each descriptor for reading and writing,
// and a kqueue refuses the second; so a thread waits here, in a second kqueue, the gate, which holds the first one and
// a pipe to interrupt it. A registration in the gate is used up when it fires, and made again when the loop has found
// nothing ready any more. It has been compiled and vetted for these systems, and has not been run on them.
//
// A kqueue forgets a descriptor when it is closed, whether there are duplicates or not.
type kqueue struct {
	fd     int
	gate   int
	pipe   [2]int
	events [listSize]syscall.Kevent_t
}

func newSelector() (selector, error) {
	s := &kqueue{fd: -1, gate: -1, pipe: [2]int{-1, -1}}
	if err := s.open(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *kqueue) open() (err error) {
	// No child process may be started between the making of a descriptor and setting its close-on-exec flag.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if s.fd, err = syscall.Kqueue(); err != nil {
		s.fd = -1
		return err
	}
	if s.gate, err = syscall.Kqueue(); err != nil {
		s.gate = -1
		return err
	}
	if err = syscall.Pipe(s.pipe[:]); err != nil {
		s.pipe = [2]int{-1, -1}
		return err
	}
	for _, fd := range []int{s.fd, s.gate, s.pipe[0], s.pipe[1]} {
		syscall.CloseOnExec(fd)
	}
	return kchange(s.gate, s.pipe[0], syscall.EVFILT_READ, syscall.EV_ADD)
}

func (s *kqueue) close() {
	for _, fd := range []int{s.fd, s.gate, s.pipe[0], s.pipe[1]} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

func kchange(kq, fd, filter, flags int) error {
	var change [1]syscall.Kevent_t
	syscall.SetKevent(&change[0], fd, filter, flags)
	_, err := again(func() (int, error) { return syscall.Kevent(kq, change[:], nil, nil) })
	return err
}

// filters are the flags with which reading and writing are registered for events; 0: not at all.
func filters(events Events) [2]int {
	var flags [2]int
	switch {
	case events&Readable != 0:
		flags[0] = syscall.EV_ADD
	case events&(Hangup|Failed) != 0:
		// The end shows as an event of reading. Data, which nobody has asked for, must not be reported again and again.
		flags[0] = syscall.EV_ADD | syscall.EV_CLEAR
	}
	if events&Writable != 0 {
		flags[1] = syscall.EV_ADD
	}
	return flags
}

func (s *kqueue) set(fd int, _ uint32, before, after Events) error {
	if !isNumber(fd) {
		return syscall.EBADF
	}
	if before == 0 {
		var stat syscall.Stat_t
		if err := syscall.Fstat(fd, &stat); err != nil {
			return err
		}
		if kind := stat.Mode & syscall.S_IFMT; kind == syscall.S_IFREG || kind == syscall.S_IFDIR {
			return syscall.EPERM
		}
	}
	had, wants := filters(before), filters(after)
	var err error
	for i, filter := range [2]int{syscall.EVFILT_READ, syscall.EVFILT_WRITE} {
		if had[i] == wants[i] {
			continue
		}
		// Not every system can change the flags of a registration.
		if had[i] != 0 {
			if failed := kchange(s.fd, fd, filter, syscall.EV_DELETE); failed != nil && err == nil {
				err = failed
			}
		}
		if wants[i] != 0 && err == nil {
			err = kchange(s.fd, fd, filter, wants[i])
		}
	}
	if err != nil && after != 0 {
		s.restore(fd, before)
	}
	return err
}

// restore makes registrations what they were before a change that failed half-way.
func (s *kqueue) restore(fd int, before Events) {
	for i, flags := range filters(before) {
		filter := [2]int{syscall.EVFILT_READ, syscall.EVFILT_WRITE}[i]
		_ = kchange(s.fd, fd, filter, syscall.EV_DELETE)
		if flags != 0 {
			_ = kchange(s.fd, fd, filter, flags)
		}
	}
}

func (s *kqueue) poll(into []happening) (int, error) {
	var now syscall.Timespec
	n, err := again(func() (int, error) { return syscall.Kevent(s.fd, nil, s.events[:len(into)], &now) })
	for i := range max(n, 0) {
		event := &s.events[i]
		events := Readable
		if int(event.Filter) == writeFilter {
			events = Writable
		}
		if event.Flags&syscall.EV_EOF != 0 {
			events |= Hangup
			if event.Fflags != 0 {
				events |= Failed | gone
			}
			if int(event.Filter) == writeFilter {
				events |= gone
			}
		}
		into[i] = happening{fd: int(event.Ident), events: events}
	}
	return max(n, 0), err
}

// writeFilter is the filter as it is in an event, which is unsigned on some systems.
var writeFilter = func() int {
	var event syscall.Kevent_t
	syscall.SetKevent(&event, 0, syscall.EVFILT_WRITE, 0)
	return int(event.Filter)
}()

func (s *kqueue) rest() error {
	return kchange(s.gate, s.fd, syscall.EVFILT_READ, syscall.EV_ADD|syscall.EV_ONESHOT)
}

func (s *kqueue) wait(ready func()) {
	ready()
	var events [1]syscall.Kevent_t
	for {
		n, err := again(func() (int, error) { return syscall.Kevent(s.gate, nil, events[:], nil) })
		if err != nil {
			return
		}
		if n == 1 && int(events[0].Ident) == s.pipe[0] {
			var token [1]byte
			_, _ = again(func() (int, error) { return syscall.Read(s.pipe[0], token[:]) })
			return
		}
		ready()
	}
}

func (s *kqueue) interrupt(ended <-chan struct{}) {
	_, _ = again(func() (int, error) { return syscall.Write(s.pipe[1], []byte{0}) })
	<-ended
}
