package batch_test

import (
	"os"
	"strings"
	"testing"
)

// The guide shows code that the examples of this package compile and run.
func TestTheGuideShowsExamples(t *testing.T) {
	guide, err := os.ReadFile("../../docs/reference/go-batch.md")
	if os.IsNotExist(err) {
		t.Skip("the guide is not part of the module: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	example := map[string]bool{}
	for line := range strings.Lines(string(source)) {
		example[strings.TrimSpace(line)] = true
	}
	snippets := 0
	isCode := false
	for line := range strings.Lines(string(guide)) {
		if strings.HasPrefix(line, "```") {
			isCode = strings.TrimSpace(line) == "```go"
			continue
		}
		if !isCode {
			continue
		}
		if snippets++; !example[strings.TrimSpace(line)] && strings.TrimSpace(line) != "" {
			t.Errorf("no example has the line %q", strings.TrimSpace(line))
		}
	}
	if snippets < 8 {
		t.Errorf("found %d lines of code", snippets)
	}
}
