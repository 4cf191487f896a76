//go:build linux

package eventloop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"millrace.dev/go"
	"millrace.dev/go/internal/leak"
)

func TestWatchIsLevelTriggered(t *testing.T) {
	leak.Check(t)
	l := made(t)
	read, write := pipe(t)
	send(t, write, "abc")
	var got []string
	var w *Watcher
	w = watch(t, l, read, Readable, func(e Events) {
		text := receive(t, read, 1)
		got = append(got, e.String()+" "+text)
		l.Microtask(func() { got = append(got, "micro") })
		l.NextTick(func() { got = append(got, "tick") })
		if text == "c" {
			w.Stop()
		}
	})
	run(t, l)
	want := []string{"readable a", "tick", "micro", "readable b", "tick", "micro", "readable c", "tick", "micro"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestWatchEventfd(t *testing.T) {
	leak.Check(t)
	fd, _, errno := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer syscall.Close(int(fd))
	l := made(t)
	sum := uint64(0)
	var w *Watcher
	w = watch(t, l, int(fd), Readable, func(Events) {
		var count uint64
		syscall.Read(int(fd), (*[8]byte)(unsafe.Pointer(&count))[:])
		if sum += count; sum == 1000 {
			w.Stop()
		}
	})
	for range 4 {
		go func() {
			one := uint64(1)
			for range 250 {
				syscall.Write(int(fd), (*[8]byte)(unsafe.Pointer(&one))[:])
			}
		}()
	}
	run(t, l)
	if sum != 1000 {
		t.Error(sum)
	}
}

// What becomes of a descriptor, and what is told of it.
func TestWatchEvents(t *testing.T) {
	both := Readable | Writable
	for _, c := range []struct {
		name  string
		make  func(*testing.T) int
		asked Events
		want  Events
	}{
		{"data", socketWith(func(t *testing.T, peer int) { send(t, peer, "x") }), Readable | Hangup, Readable},
		{"room", socketWith(func(*testing.T, int) {}), both, Writable},
		{"both", socketWith(func(t *testing.T, peer int) { send(t, peer, "x") }), both, both},
		{"half close", socketWith(shutWrite), Readable, Readable},
		{"half close, asked", socketWith(shutWrite), Readable | Hangup, Readable | Hangup},
		{"half close, only that", socketWith(shutWrite), Hangup, Hangup},
		{"peer closed", socketWith(closeNow), Readable, Readable | Hangup},
		{"peer closed, writing", socketWith(closeNow), Writable, Writable | Hangup},
		{"peer closed, nothing else asked", socketWith(closeNow), Failed, Hangup},
		{"writer of a pipe closed", func(t *testing.T) int {
			read, write := pipe(t)
			closeNow(t, write)
			return read
		}, Readable, Readable | Hangup},
		{"reader of a pipe closed", func(t *testing.T) int {
			read, write := pipe(t)
			closeNow(t, read)
			return write
		}, Writable, Writable | Failed},
		{"connection reset", func(t *testing.T) int {
			ours, theirs := tcpPair(t)
			if err := theirs.SetLinger(0); err != nil {
				t.Fatal(err)
			}
			theirs.Close()
			return ours
		}, Readable, Readable | Hangup | Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			leak.Check(t)
			l := made(t)
			fd := c.make(t)
			var got Events
			var w *Watcher
			w = watch(t, l, fd, c.asked, func(e Events) { got = e; w.Stop() })
			run(t, l)
			if got != c.want {
				t.Errorf("asked for %v: got %v, want %v", c.asked, got, c.want)
			}
		})
	}
}

func socketWith(then func(*testing.T, int)) func(*testing.T) int {
	return func(t *testing.T) int {
		ours, theirs := socketPair(t)
		then(t, theirs)
		return ours
	}
}

func shutWrite(t *testing.T, fd int) {
	if err := syscall.Shutdown(fd, syscall.SHUT_WR); err != nil {
		t.Fatal(err)
	}
}

// closeNow closes a descriptor, and puts a socket that does nothing in its place, for the cleanup.
func closeNow(t *testing.T, fd int) {
	idle, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(idle)
	if err := syscall.Dup3(idle, fd, syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
}

// tcpPair returns the descriptor of one side of a connection, and the other side.
func tcpPair(t *testing.T) (int, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialled, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialled.Close(); accepted.Close() })
	raw, err := accepted.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	fd := -1
	raw.Control(func(number uintptr) { fd = int(number) })
	return fd, dialled.(*net.TCPConn)
}

// An echo server on a socket that Go's own poller knows as well; the client closes its side when it has sent all.
func TestWatchTCP(t *testing.T) {
	leak.Check(t)
	l := started(t)
	ours, client := tcpPair(t)
	message := []byte(strings.Repeat("0123456789abcdef", 1<<15))
	var waiting []byte
	ended, done := false, make(chan struct{})
	buffer := make([]byte, 4096)
	ready := make(chan struct{})
	var w *Watcher
	w = watch(t, l, ours, Readable|Hangup, func(e Events) {
		<-ready
		if e&Readable != 0 && !ended {
			n, err := syscall.Read(ours, buffer)
			if err != nil && err != syscall.EAGAIN {
				t.Error(err)
			}
			waiting = append(waiting, buffer[:max(n, 0)]...)
			ended = n == 0
		}
		if n, err := syscall.Write(ours, waiting); err == nil {
			waiting = waiting[n:]
		} else if err != syscall.EAGAIN {
			t.Error(err)
		}
		switch {
		case ended && len(waiting) == 0:
			w.Stop()
			syscall.Shutdown(ours, syscall.SHUT_WR)
			close(done)
		case ended:
			w.Modify(Writable)
		case len(waiting) > 0:
			w.Modify(Readable | Writable | Hangup)
		default:
			w.Modify(Readable | Hangup)
		}
	})
	close(ready)
	go func() {
		client.Write(message)
		client.CloseWrite()
	}()
	echo := make([]byte, 0, len(message))
	for {
		n, err := client.Read(echo[len(echo):cap(echo)])
		echo = echo[:len(echo)+n]
		if err != nil || len(echo) == cap(echo) {
			break
		}
	}
	<-done
	if string(echo) != string(message) {
		t.Errorf("%d bytes came back, of %d", len(echo), len(message))
	}
}

func TestWatchWritable(t *testing.T) {
	leak.Check(t)
	l := started(t)
	ours, theirs := socketPair(t)
	sent := 0
	for {
		n, err := syscall.Write(ours, make([]byte, 4096))
		if err == syscall.EAGAIN {
			break
		}
		sent += n
	}
	told := make(chan Events, 1)
	var w *Watcher
	do(t, l, func() {
		w = watch(t, l, ours, Writable, func(e Events) { told <- e; w.Stop() })
	})
	untilAsleep(l)
	select {
	case e := <-told:
		t.Fatal("told of", e, "while there was no room")
	default:
	}
	for sent > 0 {
		sent -= len(receive(t, theirs, sent))
	}
	if e := <-told; e != Writable {
		t.Error(e)
	}
}

func TestModifyPausesAndResumes(t *testing.T) {
	leak.Check(t)
	l := started(t)
	ours, theirs := socketPair(t)
	told := make(chan Events)
	w := watch(t, l, ours, Readable, func(e Events) { told <- e })
	if err := w.Modify(0); err != nil {
		t.Fatal(err)
	}
	send(t, theirs, "x")
	untilAsleep(l)
	if !l.Alive() {
		t.Error("a paused watcher does not keep the loop alive")
	}
	// From other goroutines, while the descriptor is ready.
	for _, events := range []Events{Writable, Readable, Readable | Writable, 0, 0, Readable} {
		if err := w.Modify(events); err != nil {
			t.Fatal(events, err)
		}
		if events == 0 {
			continue
		}
		// The first may have been found before.
		<-told
		if e := <-told; e != events {
			t.Errorf("asked for %v, told of %v", events, e)
		}
	}
	go w.Stop()
	for w.tag.Load() != 0 {
		select {
		case <-told:
		default:
		}
	}
	go func() {
		for range told {
		}
	}()
	untilAsleep(l)
	close(told)
}

func TestModifyFromTheCallback(t *testing.T) {
	leak.Check(t)
	l := made(t)
	ours, _ := socketPair(t)
	var got []Events
	var w *Watcher
	w = watch(t, l, ours, Writable, func(e Events) {
		got = append(got, e)
		switch len(got) {
		case 1:
			w.Modify(Readable)
			w.Modify(Readable | Writable)
		case 2:
			w.Modify(Readable)
			l.Submit(func() { l.Submit(func() { w.Stop() }) })
		}
	})
	run(t, l)
	if !slices.Equal(got, []Events{Writable, Writable}) {
		t.Error(got)
	}
}

// pairs makes watchers on the first of n pairs, all ready before the loop looks, so that all are in the same list.
func pairs(t *testing.T, l *Loop, n int, fn func(i int, e Events)) (watchers []*Watcher, theirs []int) {
	for i := range n {
		ours, their := socketPair(t)
		watchers = append(watchers, watch(t, l, ours, Readable, func(e Events) { fn(i, e) }))
		theirs = append(theirs, their)
		send(t, their, "x")
	}
	return watchers, theirs
}

func TestChangesInTheSameList(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Watcher)
	}{
		{"closed", func(w *Watcher) { w.Stop() }},
		{"paused", func(w *Watcher) { w.Modify(0) }},
		{"asked for something else", func(w *Watcher) { w.Modify(Hangup) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			leak.Check(t)
			l := made(t)
			var watchers []*Watcher
			var called []int
			watchers, _ = pairs(t, l, 5, func(i int, _ Events) {
				called = append(called, i)
				if len(called) > 1 {
					return
				}
				// All the others are in the list now.
				if rest := len(l.poll.list) - l.poll.next; rest != 4 {
					t.Errorf("%d in the list after the first, not 4", rest)
				}
				for j, w := range watchers {
					if j != i {
						c.change(w)
					}
				}
				watchers[i].Stop()
			})
			for _, w := range watchers {
				w.Unref()
			}
			// Two more turns.
			l.Submit(func() { l.Immediate(func() { l.Immediate(func() {}) }) })
			run(t, l)
			if len(called) != 1 {
				t.Error("called:", called)
			}
		})
	}
}

// A descriptor is closed, and its number used again, while an event for the old one is in the list.
func TestDescriptorReusedDuringDispatch(t *testing.T) {
	leak.Check(t)
	l := made(t)
	var watchers []*Watcher
	stale, reused := 0, -1
	var fresh *Watcher
	first := true
	watchers, _ = pairs(t, l, 2, func(i int, _ Events) {
		if !first {
			stale++
			return
		}
		first = false
		watchers[i].Stop()
		other := watchers[1-i]
		reused = other.fd
		other.Stop()
		// Closes the descriptor, and gives its number to a socket on which nothing has come yet.
		ours, theirs := socketPair(t)
		if err := syscall.Dup3(ours, reused, syscall.O_CLOEXEC); err != nil {
			t.Error(err)
		}
		fresh = watch(t, l, reused, Readable, func(Events) {
			if text := receive(t, reused, 10); text != "new" {
				t.Errorf("got %q", text)
			}
			fresh.Stop()
		})
		sent := false
		l.Submit(func() { l.Submit(func() { sent = true; send(t, theirs, "new") }) })
		fresh.fn = func(inner func(Events)) func(Events) {
			return func(e Events) {
				if !sent {
					stale++
				}
				inner(e)
			}
		}(fresh.fn)
	})
	run(t, l)
	if stale != 0 || first {
		t.Errorf("%d stale events", stale)
	}
}

// The descriptor is closed before its watcher, while a duplicate is open: epoll goes on telling of it, under a number
// that cannot be named any more.
func TestDescriptorClosedBeforeItsWatcher(t *testing.T) {
	leak.Check(t)
	l := started(t)
	quiet, other := socketPair(t)
	told := make(chan string)
	watch(t, l, quiet, Readable, func(Events) { told <- receive(t, quiet, 10) })
	ours, theirs := socketPair(t)
	duplicate, err := syscall.Dup(ours)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(duplicate)
	called := make(chan struct{}, 1)
	w := watch(t, l, ours, Readable, func(Events) {
		select {
		case called <- struct{}{}:
		default:
		}
	})
	before := l.poll.system
	syscall.Close(ours)
	send(t, theirs, "x")
	<-called // the duplicate's event
	if err := w.Stop(); !errors.Is(err, syscall.EBADF) {
		t.Error("Close after the descriptor:", err)
	}
	// Or it would be busy for ever.
	untilAsleep(l)
	do(t, l, func() {
		if l.poll.system == before {
			t.Error("the registration is still there")
		}
	})
	send(t, other, "still")
	if text := <-told; text != "still" {
		t.Error(text)
	}
	// Without a duplicate the system forgets it, and the number is free for the next one.
	gone := watch(t, l, theirs, Readable, func(Events) { t.Error("called for a closed descriptor") })
	closeNow(t, theirs)
	if _, err := l.Watch(theirs, Readable, func(Events) {}); !errors.Is(err, ErrWatched) {
		t.Error(err)
	}
	if err := gone.Modify(Writable); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
	if err := gone.Stop(); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
}

func TestWatchBadInput(t *testing.T) {
	leak.Check(t)
	l := made(t)
	ours, closed := socketPair(t)
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	syscall.Close(closed)
	ignore := func(Events) {}
	beyond := -2
	if shift := 32; math.MaxInt > math.MaxInt32 {
		beyond = ours + 1<<shift
	}
	for _, c := range []struct {
		name   string
		fd     int
		events Events
		fn     func(Events)
		want   error
		says   string
	}{
		{"nil", ours, Readable, nil, ErrNilTask, "nil"},
		{"no events", ours, 0, ignore, millrace.ErrOption, "nothing"},
		{"unknown events", ours, Readable | 1<<6, ignore, millrace.ErrOption, "readable|0x40"},
		{"negative", -1, Readable, ignore, syscall.EBADF, "descriptor -1: it is not open"},
		{"closed", closed, Readable, ignore, syscall.EBADF, "it is not open"},
		{"huge", math.MaxInt32, Readable, ignore, syscall.EBADF, "it is not open"},
		{"more than 32 bits", beyond, Readable, ignore, syscall.EBADF, "it is not open"},
		{"file", int(file.Fd()), Readable, ignore, syscall.EPERM, "it is a file, a directory"},
	} {
		if w, err := l.Watch(c.fd, c.events, c.fn); w != nil || !errors.Is(err, c.want) ||
			!strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if n := l.live.Load(); n != 0 {
		t.Error("kept alive by", n)
	}
	w := watch(t, l, ours, Readable, ignore)
	if _, err := l.Watch(ours, Writable, ignore); !errors.Is(err, ErrWatched) {
		t.Error(err)
	}
	if err := w.Modify(1 << 5); !errors.Is(err, millrace.ErrOption) {
		t.Error(err)
	}
	for range 2 {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	}
	if err := w.Modify(Readable); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	// The number is free again.
	watch(t, l, ours, Readable, ignore).Stop()
	if l.Alive() {
		t.Error("alive")
	}
}

func TestWatcherRefs(t *testing.T) {
	leak.Check(t)
	l := made(t)
	ours, _ := socketPair(t)
	// Always ready, and unreferenced: Run ends.
	w := watch(t, l, ours, Writable, func(Events) {})
	w.Unref()
	w.Unref()
	if w.HasRef() || l.Alive() {
		t.Error("referenced")
	}
	run(t, l)
	w.Ref()
	w.Ref()
	if !w.HasRef() || !l.Alive() {
		t.Error("not referenced")
	}
	calls := 0
	w.fn = func(Events) {
		if calls++; calls == 3 {
			w.Unref()
		}
	}
	run(t, l)
	if calls < 3 {
		t.Error("Run ended after", calls)
	}
	w.Ref()
	w.Stop()
	w.Unref()
	w.Ref()
	if n := l.live.Load(); n != 0 {
		t.Error("live:", n)
	}
	run(t, l)
}

// The last reference goes while Run waits in its sleep.
func TestCloseFromElsewhereEndsRun(t *testing.T) {
	leak.Check(t)
	l := made(t)
	ours, _ := socketPair(t)
	w := watch(t, l, ours, Readable, func(Events) {})
	go func() {
		untilAsleep(l)
		w.Stop()
	}()
	run(t, l)
}

func TestCloseOfTheLoopWithWatchers(t *testing.T) {
	for _, inside := range []bool{false, true} {
		leak.Check(t)
		l := started(t)
		ours, theirs := socketPair(t)
		w := watch(t, l, ours, Readable|Writable, func(Events) {})
		descriptor := l.poll.system.(*epoll).fd
		if inside {
			do(t, l, func() { l.Close(context.Background()) })
		}
		if err, left := l.Close(context.Background()), l.Left(); len(left) > 0 || err != nil {
			t.Error(left, err)
		}
		if !isOpen(ours) {
			t.Error("closed a descriptor of the user")
		}
		if isOpen(descriptor) {
			t.Error("epoll is still open")
		}
		if _, err := l.Watch(theirs, Readable, func(Events) {}); !errors.Is(err, millrace.ErrClosed) {
			t.Error(err)
		}
		if err := w.Modify(Readable); !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
		if n := l.live.Load(); n != 0 {
			t.Error("live:", n)
		}
	}
}

func TestStopAndRunAgain(t *testing.T) {
	leak.Check(t)
	l := made(t)
	ours, theirs := socketPair(t)
	told := make(chan string, 1)
	watch(t, l, ours, Readable, func(Events) { told <- receive(t, ours, 10) })
	for i := range 5 {
		// Before, and while it runs.
		text := fmt.Sprint("stopped ", i)
		send(t, theirs, text)
		t.Run("no goroutine is left after Stop", func(t *testing.T) {
			leak.Check(t)
			if err := l.Start(); err != nil {
				t.Fatal(err)
			}
			if got := <-told; got != text {
				t.Errorf("got %q", got)
			}
			send(t, theirs, "runs")
			if got := <-told; got != "runs" {
				t.Errorf("got %q", got)
			}
			l.Stop()
		})
	}
	// A list that was begun when the loop was stopped; meanwhile some of it is not true any more.
	calls := map[int]int{}
	var watchers []*Watcher
	watchers, _ = pairs(t, l, 10, func(i int, _ Events) {
		calls[i]++
		watchers[i].Stop()
		if len(calls) == 3 || len(calls) == 7 {
			l.Stop()
		}
	})
	run(t, l)
	if len(calls) != 3 {
		t.Error(calls)
	}
	drained := 0
	for i, w := range watchers {
		if calls[i] == 0 && drained < 3 {
			receive(t, w.fd, 1)
			drained++
		}
	}
	run(t, l)
	if len(calls) != 7 {
		t.Error(calls)
	}
	for _, w := range watchers {
		w.Unref()
	}
	wait, err := l.KeepAlive()
	must(t, err)
	l.Submit(func() { l.Immediate(wait.Release) })
	l.poll.watchers[ours].Unref()
	run(t, l)
	if len(calls) != 7 {
		t.Error("called without a reason:", calls)
	}
}

// Whichever of them comes first, the loop lets go of everything.
func TestStopWhileClosing(t *testing.T) {
	leak.Check(t)
	for range 100 {
		l := started(t)
		ours, _ := socketPair(t)
		watch(t, l, ours, Readable, func(Events) {})
		_, err := l.After(1<<40, func() {})
		must(t, err)
		descriptor := l.poll.system.(*epoll).fd
		var both sync.WaitGroup
		both.Go(l.Stop)
		both.Go(func() {
			if err := l.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		if n := l.live.Load(); n != 0 || isOpen(descriptor) {
			t.Fatal("not let go: live", n)
		}
	}
}
