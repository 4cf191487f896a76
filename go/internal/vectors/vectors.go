// Package vectors reads conformance vectors. The grammar is the one of conformance/README.md and is frozen: what this
// reader does not know is an error of the vector, never something to skip.
package vectors

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Kind says what a statement is.
type Kind string

const (
	Config    Kind = "config"
	Operation Kind = "operation"
	Outcome   Kind = "outcome"
	Query     Kind = "query"
)

// Statement is a line of a vector, or one ID of a line of outcomes. Which fields mean something depends on its word.
type Statement struct {
	Line int
	Kind Kind
	// Word the line begins with, as "push" or "expect".
	Word string
	// Type and ID are empty when the line has none.
	Type, ID string
	// IDs of a batch.
	IDs []string
	// Time of at and expect; the span of advance, busy and hold.
	Time time.Duration
	// Trigger of a batch, code of a refusal, class of a push.
	Trigger, Code, Class string
	Bytes                int64
	Discard              bool
	// Inner operation of at and from.
	Inner *Statement
	// Pairs of key and value, in the order written.
	Pairs []Pair
}

// Pair is key=value.
type Pair struct {
	Key string
	// Text is the value as written; Number is its value where the key takes a number.
	Text   string
	Number float64
}

// Vector is one file.
type Vector struct {
	File string
	// Name is the sentence of the first line.
	Name       string
	Statements []Statement
}

// Error is a malformed vector.
type Error struct {
	File     string
	Line     int
	Sentence string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Sentence) }

// ReadAll reads every file below a folder, in the order of their names.
func ReadAll(folder string) ([]*Vector, error) {
	var all []*Vector
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		vector, err := Read(string(text), filepath.ToSlash(name))
		all = append(all, vector)
		return err
	})
	return all, err
}

// Read reads one vector. The file's name is for messages. The error is an *Error.
func Read(text, file string) (*Vector, error) {
	r := &reader{file: file, line: 1, pushed: map[string]bool{}}
	name, err := r.read(text)
	if err != nil {
		return nil, err
	}
	return &Vector{File: file, Name: name, Statements: r.statements}, nil
}

func (r *reader) read(text string) (name string, err error) {
	// The reader leaves by panic(*Error) from any depth.
	defer func() {
		if value := recover(); value != nil {
			malformed, is := value.(*Error)
			if !is {
				panic(value)
			}
			err = malformed
		}
	}()
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	name, isComment := strings.CutPrefix(lines[0], "#")
	if name = strings.TrimSpace(name); !isComment || name == "" {
		r.fail("the first line must be a comment that names the behaviour: # one sentence")
	}
	for i, line := range lines {
		r.line = i + 1
		if words := strings.FieldsFunc(line, isBlank); !strings.HasPrefix(line, "#") && len(words) > 0 {
			r.statement(words[0], words[1:])
		}
	}
	for _, one := range r.mentioned {
		if r.line = one.line; !r.pushed[one.id] {
			r.fail("unknown ID '%s': no push of this file has it", one.id)
		}
	}
	return name, nil
}

func isBlank(c rune) bool { return c == ' ' || c == '\t' }
