package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"millrace.dev/go/bench/tournament"
)

func TestWhatCannotBeMeantIsRefusedWithWhatCan(t *testing.T) {
	for _, each := range []struct{ args, want string }{
		{"", "usage: arm"},
		{"PingPong millrace 1", "usage: arm"},
		{"Ping millrace 1 1", `"Ping" is no case; there are PingPong, `},
		{"PingPong nobody 1 1", `"nobody" is no arm of PingPong; there are millrace, `},
		{"PingPong millrace -1 1", `OPS is "-1"`},
		{"PingPong millrace 1 x", `SEED is "x"`},
		{"stability -1h 1 0 1", `DURATION is "-1h"; it must be more than 0`},
		{"stability 0s 1 0 1", `DURATION is "0s"`},
		{"stability 60 1 0 1", `DURATION is "60"`},
		{"stability 200h 1 0 1", "at most 168h0m0s"},
		{"stability 1s -1 0 1", `SEED is "-1"`},
		{"stability 1s 1 NaN 1", `RATE is "NaN"`},
		{"stability 1s 1 -1 1", `RATE is "-1"`},
		{"stability 1s 1 0 0", `INTERVALS is "0"`},
	} {
		err := run(strings.Fields(each.args), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), each.want) {
			t.Errorf("%q: the error is %v", each.args, err)
		}
	}
}

func TestAnArmIsMeasured(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"BurstSubmit", "batched", "2000", "1"}, &out); err != nil {
		t.Fatal(err)
	}
	var sample tournament.Sample
	if err := json.Unmarshal(out.Bytes(), &sample); err != nil || sample["ns_per_op"] <= 0 {
		t.Errorf("%v: %s", err, out.String())
	}
}

// interrupting sends SIGINT to the process when it is given the first line.
type interrupting struct{ bytes.Buffer }

func (w *interrupting) Write(line []byte) (int, error) {
	if w.Len() == 0 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
			return 0, err
		}
	}
	return w.Buffer.Write(line)
}

func TestCtrlCEndsALongRunWithItsAccount(t *testing.T) {
	var out interrupting
	if err := run([]string{"stability", "1h", "1", "1000", "10000"}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var summary tournament.Summary
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &summary); err != nil {
		t.Fatal(err)
	}
	if !summary.Stopped || summary.Accepted != summary.Ran {
		t.Errorf("%+v after %d lines", summary, len(lines))
	}
}
