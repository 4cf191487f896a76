package eventloop_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The guide shows code that the examples of this package compile and run.
func TestTheGuideShowsExamples(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/reference/go-goja.md")
	if os.IsNotExist(err) {
		t.Skip("the guide is not part of the module: ", err)
	}
	examples, failed := os.ReadFile("example_test.go")
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	compiled := "\n" + trimmed(string(examples)) + "\n"
	snippets := 0
	for _, snippet := range fenced(string(guide)) {
		if snippets++; !strings.Contains(compiled, "\n"+snippet+"\n") {
			t.Errorf("no example has\n%s", snippet)
		}
	}
	if snippets != 3 {
		t.Errorf("found %d snippets of Go", snippets)
	}
}

var goFence = regexp.MustCompile("(?s)```go\n(.*?)\n```")

// fenced returns the Go code blocks of a text in Markdown, without the indentation of their lines.
func fenced(text string) (blocks []string) {
	for _, match := range goFence.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, trimmed(match[1]))
	}
	return blocks
}

func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
