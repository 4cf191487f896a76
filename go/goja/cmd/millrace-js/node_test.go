package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each script of testdata runs here and in Node.js, and has to print the same lines and end with the same status.
func TestSameAsNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	scripts, err := filepath.Glob("testdata/*.js")
	if err != nil || len(scripts) < 7 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		t.Run(filepath.Base(script), func(t *testing.T) {
			t.Parallel()
			want := execute(t, exec.CommandContext(t.Context(), node, script, "a", "b"), "")
			got := millraceJS(t, "", script, "a", "b")
			if got.status != want.status || got.stderr != want.stderr {
				t.Errorf("status %d, want %d\n%s%s", got.status, want.status, got.stderr, want.stderr)
			}
			ours, theirs := strings.Split(got.stdout, "\n"), strings.Split(want.stdout, "\n")
			for i, line := range theirs {
				if i >= len(ours) || ours[i] != line {
					t.Fatalf("line %d differs from %q\n%s", i+1, line, got.stdout)
				}
			}
			if len(ours) != len(theirs) || len(theirs) < 3 {
				t.Errorf("%d lines, want %d:\n%s", len(ours), len(theirs), got.stdout)
			}
		})
	}
}
