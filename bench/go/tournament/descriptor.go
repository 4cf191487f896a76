package tournament

import (
	"math/rand/v2"
	"syscall"

	"millrace.dev/go/bench/entrant"
)

// pair is a pair of connected sockets.
type pair struct{ near, far int }

func newPair() pair {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	must(err)
	return pair{ends[0], ends[1]}
}

func (p pair) close() {
	must(syscall.Close(p.near))
	must(syscall.Close(p.far))
}

// sendByte and receiveByte never block, so that the scheduler is not told of them.
func sendByte(fd int) {
	if _, err := syscall.Write(fd, []byte{1}); err != nil {
		fail("write: %w", err)
	}
}

// receiveByte is false when there is none.
func receiveByte(fd int) bool {
	var one [1]byte
	n, err := syscall.Read(fd, one[:])
	if err == syscall.EAGAIN {
		return false
	}
	must(err)
	return n == 1
}

// fdReady is a goroutine that writes to a descriptor and waits until the loop, told that its other end is readable, has
// read and answered.
func fdReady(start entrant.New, ops int, _ *rand.Rand) Sample {
	loop, sockets := started(start, 0), newPair()
	answer := make(chan struct{}, 1)
	stop := watched(loop, sockets.near, func() {
		if receiveByte(sockets.near) {
			answer <- struct{}{}
		}
	})
	sample := latencies(ops, func() {
		sendByte(sockets.far)
		<-answer
	})
	must(stop())
	must(loop.Close())
	sockets.close()
	return sample
}

// fdReadyByLoop is a loop that writes to a descriptor itself, is told that the other end is readable, reads and writes
// again. Nobody has to be woken: what an epoll loop does best.
func fdReadyByLoop(start entrant.New, ops int, _ *rand.Rand) Sample {
	loop, sockets := started(start, 0), newPair()
	left, done := 0, make(chan struct{}, 1)
	stop := watched(loop, sockets.near, func() {
		if !receiveByte(sockets.near) {
			return
		}
		if left--; left > 0 {
			sendByte(sockets.far)
		} else {
			done <- struct{}{}
		}
	})
	sample := timed(ops, func(ops int) {
		must(loop.Submit(func() {
			left = ops
			sendByte(sockets.far)
		}))
		<-done
	})
	must(stop())
	must(loop.Close())
	sockets.close()
	return sample
}

// fdIdle is latencyReused on a loop that watches a descriptor on which nothing happens.
func fdIdle(start entrant.New, ops int, _ *rand.Rand) Sample {
	loop, sockets := started(start, 0), newPair()
	stop := watched(loop, sockets.near, func() { fail("an idle descriptor is readable") })
	t := newTasks(loop)
	sample := latencies(ops, submitAndWait(t))
	must(stop())
	t.finish(0)
	sockets.close()
	return sample
}

func watched(loop entrant.Entrant, fd int, callback func()) (stop func() error) {
	stop, err := loop.(entrant.Watcher).Watch(fd, callback)
	must(err)
	return stop
}
