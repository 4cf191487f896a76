package eventloop

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	l, _ := New()
	var got []string
	say := func(s string) func() { return func() { got = append(got, s) } }
	l.Submit(func() {
		say("task 1")()
		l.Microtask(func() { say("micro 1")(); l.NextTick(say("tick 2")); l.Microtask(say("micro 2")) })
		l.NextTick(say("tick 1"))
		l.Immediate(say("immediate"))
		l.After(time.Millisecond, say("timer"))
		l.Submit(say("task 3"))
		l.Do(context.Background(), say("do"))
	})
	l.Submit(func() { panic("x") })
	l.Submit(say("task 2"))
	l.SubmitPriority(High, say("high"))
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := []string{"high", "task 1", "do", "tick 1", "micro 1", "micro 2", "tick 2", "task 2", "immediate", "task 3", "timer"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestDoInlineAndClose(t *testing.T) {
	l := started(t)
	for range 1000 {
		n := 0
		if err := l.Do(context.Background(), func() { n++; l.Do(context.Background(), func() { n++ }) }); err != nil || n != 2 {
			t.Fatal(err, n)
		}
	}
	if err := l.Do(context.Background(), func() { panic("y") }); err == nil {
		t.Fatal("no error")
	}
	if err := l.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.Stop()
	l.Submit(func() {})
	if l.Alive() != true {
		t.Fatal("dead")
	}
	left, err := l.Close(context.Background())
	if len(left) > 0 || err != nil {
		t.Fatal(left, err)
	}
}
