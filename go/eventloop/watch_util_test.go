//go:build linux

package eventloop

import (
	"runtime"
	"syscall"
	"testing"
)

// socketPair returns two connected non-blocking descriptors that are closed with the test.
func socketPair(t testing.TB) (int, int) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fds[0]); syscall.Close(fds[1]) })
	return fds[0], fds[1]
}

func pipe(t testing.TB) (read, write int) {
	t.Helper()
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fds[0]); syscall.Close(fds[1]) })
	return fds[0], fds[1]
}

// send insists.
func send(t testing.TB, fd int, message string) {
	t.Helper()
	_, err := syscall.Write(fd, []byte(message))
	for err == syscall.EAGAIN {
		runtime.Gosched()
		_, err = syscall.Write(fd, []byte(message))
	}
	if err != nil {
		t.Error(err)
	}
}

// receive reads what there is, at most so many bytes.
func receive(t testing.TB, fd, most int) string {
	t.Helper()
	buffer := make([]byte, most)
	n, err := syscall.Read(fd, buffer)
	if err != nil {
		t.Error(err)
		return ""
	}
	return string(buffer[:n])
}

func watch(t testing.TB, l *Loop, fd int, events Events, fn func(Events)) *Watcher {
	t.Helper()
	w, err := l.Watch(fd, events, fn)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// untilAsleep waits until the loop has nothing to do, which a watcher does not keep it from.
func untilAsleep(l *Loop) {
	for !asleep(l) {
		runtime.Gosched()
	}
}

// isOpen reports whether there is a descriptor of this number.
func isOpen(fd int) bool {
	var stat syscall.Stat_t
	return syscall.Fstat(fd, &stat) == nil
}
