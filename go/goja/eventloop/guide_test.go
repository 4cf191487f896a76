package eventloop_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the guide shows is what the examples of this package compile and run. Its commands, and what belongs into the
// reader's own files, are no examples.
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
	other := regexp.MustCompile(`^(cd go/goja|go (mod|run)|-import)`)
	snippets := 0
	for _, snippet := range indented(string(guide)) {
		if other.MatchString(snippet) {
			continue
		}
		if snippets++; !strings.Contains(compiled, "\n"+snippet+"\n") {
			t.Errorf("no example has\n%s", snippet)
		}
	}
	if snippets != 3 {
		t.Errorf("found %d snippets of Go", snippets)
	}
}

// indented returns the blocks of code of a text in Markdown, each without the spaces at the start of its lines.
func indented(text string) (blocks []string) {
	for block := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(block, "    ") {
			blocks = append(blocks, trimmed(strings.TrimSpace(block)))
		}
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
