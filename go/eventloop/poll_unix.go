//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package eventloop

import (
	"errors"
	"math"
	"syscall"
)

// explain says what an error of the system means for the caller of Watch, where its name does not.
func explain(err error) string {
	switch {
	case errors.Is(err, syscall.EBADF):
		return "it is not open: "
	case errors.Is(err, syscall.ENOENT):
		return "it was closed before its Watcher, and is another one now: "
	case errors.Is(err, syscall.EPERM):
		return "it is a file, a directory or the like, which are always ready and cannot be watched: "
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "none is left for the loop's own, close some or raise RLIMIT_NOFILE: "
	}
	return ""
}

// again repeats a system call that a signal has interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// isNumber reports whether a descriptor can have this number: the system would look at its lower 32 bits.
func isNumber(fd int) bool { return fd >= 0 && fd <= math.MaxInt32 }
