package eventloop

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestNoDescriptorLeft fills the table of descriptors of a process of its own, so that other tests have theirs.
func TestNoDescriptorLeft(t *testing.T) {
	const child = "EVENTLOOP_TEST_FILL_DESCRIPTORS"
	if os.Getenv(child) != "" {
		fillDescriptors(t)
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^TestNoDescriptorLeft$", "-test.timeout=300s")
	command.Env = append(os.Environ(), child+"=1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// fillDescriptors injects EMFILE: at the making of the epoll instance, of the timerfd, and of another epoll instance.
func fillDescriptors(t *testing.T) {
	ours, theirs := socketPair(t)
	also, _ := socketPair(t)
	// The runtime's own epoll instance has to be there already.
	settle := started(t)
	watch(t, settle, also, Readable, func(Events) {})

	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 40, Max: 40}))
	var fill []int
	for {
		fd, err := syscall.Dup(ours)
		if err == syscall.EMFILE {
			break
		}
		must(t, err)
		fill = append(fill, fd)
	}

	l := started(t, Config{PreciseTimers: true})
	_, err := l.Watch(ours, Readable, func(Events) {})
	if !errors.Is(err, syscall.EMFILE) {
		t.Error("Watch without a descriptor left:", err)
	}
	if n := l.live.Load(); n != 0 {
		t.Error("kept alive by", n)
	}
	// Timers go on, with Go's. The far one needs an alarm, however late the loop looks at the near one.
	far, err := l.After(time.Hour, func() {})
	must(t, err)
	fired := make(chan struct{})
	_, err = l.After(time.Millisecond, func() { close(fired) })
	must(t, err)
	<-fired
	do(t, l, func() {
		if _, coarse := l.timers.alarm.(*goAlarm); !coarse {
			t.Errorf("the alarm is a %T", l.timers.alarm)
		}
	})
	far.Stop()
	// A loop that has its epoll instance needs no more.
	told := make(chan string)
	w := watch(t, settle, ours, Readable, func(Events) { told <- receive(t, ours, 10) })
	send(t, theirs, "full")
	if text := <-told; text != "full" {
		t.Error(text)
	}
	must(t, w.Stop())
	// One free descriptor is all that is missing.
	must(t, syscall.Close(fill[0]))
	watch(t, l, ours, Readable, func(Events) { told <- receive(t, ours, 10) })
	send(t, theirs, "free")
	if text := <-told; text != "free" {
		t.Error(text)
	}
}
