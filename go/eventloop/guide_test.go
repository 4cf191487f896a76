package eventloop_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The guide shows code that the examples of this package compile and run.
func TestTheGuideShowsExamples(t *testing.T) {
	guide, err := os.ReadFile("../../docs/reference/go.md")
	if os.IsNotExist(err) {
		t.Skip("the guide is not part of the module: ", err)
	}
	check(t, err)
	showsExamples(t, string(guide), 10)
}

func TestTheReadmeShowsExamples(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	check(t, err)
	showsExamples(t, string(readme), 1)
}

func showsExamples(t *testing.T, text string, least int) {
	t.Helper()
	paths, err := filepath.Glob("example*_test.go")
	check(t, err)
	promises, err := filepath.Glob("../promise/example*_test.go")
	check(t, err)
	paths = append(paths, promises...)
	var examples strings.Builder
	for _, path := range paths {
		source, err := os.ReadFile(path)
		check(t, err)
		examples.WriteString("\n" + trimmed(string(source)) + "\n")
	}
	snippets := 0
	for _, snippet := range fenced(text) {
		// Parts that an empty line divides may be apart in the example.
		for part := range strings.SplitSeq(snippet, "\n\n") {
			if snippets++; !strings.Contains(examples.String(), "\n"+part+"\n") {
				t.Errorf("no example has\n%s", part)
			}
		}
	}
	if snippets < least {
		t.Errorf("found %d snippets", snippets)
	}
}

var goFence = regexp.MustCompile("(?s)```go\n(.*?)\n```")

// fenced returns the Go code blocks of a text in Markdown, without the indentation of their lines.
func fenced(text string) []string {
	var blocks []string
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
