package engine

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file reads conformance vectors. The grammar is the one of conformance/README.md and is frozen: what this reader
// does not know is an error of the vector, never something to skip. The reader leaves by panic(*Error) from any depth.

// ---- what a vector is

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
	// Key of a push, empty: none.
	Key     string
	Bytes   int64
	Discard bool
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

// ---- the reader

type reader struct {
	file       string
	line       int
	clock      time.Duration
	statements []Statement
	pushed     map[string]bool
	// IDs that must be pushed somewhere in the file.
	mentioned    []mention
	sawOperation bool
}

type mention struct {
	id   string
	line int
}

func (r *reader) fail(format string, values ...any) {
	panic(&Error{r.file, r.line, fmt.Sprintf(format, values...)})
}

func (r *reader) add(s Statement) {
	s.Line = r.line
	r.statements = append(r.statements, s)
}

func (r *reader) statement(word string, rest []string) {
	switch {
	case slices.Contains(operations, word):
		r.add(r.operation(word, rest))
		r.sawOperation = true
	case word == "config":
		if r.sawOperation {
			r.fail("'config' must come before every other operation, and only once")
		}
		r.add(Statement{Kind: Config, Word: word, Pairs: r.pairs(rest, queueOptions)})
		r.sawOperation = true
	case slices.Contains(outcomes, word):
		if !r.sawOperation {
			r.fail("'%s' has no operation before it to be caused by", word)
		}
		r.outcome(word, rest)
	case word == "estimate":
		name, rest := r.optionalType(rest)
		r.add(Statement{Kind: Query, Word: word, Type: name, Pairs: r.pairs(rest, forType(name, signals[:1], estimates))})
	case word == "stats":
		r.add(Statement{Kind: Query, Word: word, Pairs: r.pairs(rest, stats)})
	default:
		r.fail("unknown word '%s': a line starts with config, %s, %s, estimate or stats",
			word, strings.Join(operations, ", "), strings.Join(outcomes, ", "))
	}
}

func (r *reader) operation(word string, rest []string) Statement {
	s := Statement{Line: r.line, Kind: Operation, Word: word}
	switch word {
	case "at":
		r.words(rest, 1, math.MaxInt, "at T [OPERATION]")
		s.Time = r.time(rest[0])
		if s.Time < r.clock {
			r.fail("time runs backwards: 'at %s', but it is %v already", rest[0], r.clock)
		}
		r.clock = s.Time
		if len(rest) > 1 {
			s.Inner = r.inner("at T", rest[1:], operations[1:])
		}
	case "advance", "busy":
		r.words(rest, 1, 1, word+" T")
		s.Time = r.time(rest[0])
		r.clock += s.Time
	case "push":
		r.push(&s, rest)
	case "turn", "flush":
		r.words(rest, 0, 0, word)
	case "handle", "unhandle":
		r.words(rest, 1, 1, word+" TYPE")
		s.Type = r.name(rest[0], "type")
	case "cancel", "fail":
		r.words(rest, 1, 1, word+" ID")
		s.ID = r.id(rest[0])
	case "from":
		r.words(rest, 1, math.MaxInt, "from ID OPERATION")
		s.ID = r.id(rest[0])
		// The handler takes no time before the event has been delivered.
		clock := r.clock
		s.Inner = r.inner("from ID", rest[1:], fromOperations)
		r.clock = clock
	case "signal":
		name, rest := r.optionalType(rest)
		s.Type, s.Pairs = name, r.pairs(rest, forType(name, signals[:1], signals))
	case "set":
		name, rest := r.optionalType(rest)
		s.Type, s.Pairs = name, r.pairs(rest, forType(name, typeOptions, queueOptions))
	case "close":
		r.words(rest, 0, 1, "close [discard]")
		if s.Discard = len(rest) == 1; s.Discard {
			r.word(rest[0], "way to close", []string{"discard"})
		}
	}
	return s
}

func forType(name string, ofType, ofQueue []key) []key {
	if name == "" {
		return ofQueue
	}
	return ofType
}

func (r *reader) inner(outer string, words []string, allowed []string) *Statement {
	if len(words) == 0 {
		r.fail("'%s' is followed by no operation: it takes one of %s", outer, strings.Join(allowed, ", "))
	}
	r.word(words[0], "operation after '"+outer+"'", allowed)
	s := r.operation(words[0], words[1:])
	return &s
}

func (r *reader) push(s *Statement, rest []string) {
	const usage = "push TYPE ID [high|normal|low] [bytes=N] [key=K]"
	r.words(rest, 2, 5, usage)
	s.Type, s.ID = r.name(rest[0], "type"), r.id(rest[1])
	if r.pushed[s.ID] {
		r.fail("the ID '%s' is pushed twice: an ID names one event", s.ID)
	}
	r.pushed[s.ID] = true
	rest = rest[2:]
	if len(rest) > 0 && !strings.Contains(rest[0], "=") {
		s.Class, rest = r.word(rest[0], "class", classes), rest[1:]
	}
	if len(rest) > 0 && !strings.HasPrefix(rest[0], "key=") {
		s.Bytes = int64(r.pairs(rest[:1], []key{{name: "bytes", kind: count}})[0].Number)
		rest = rest[1:]
	}
	if len(rest) > 0 {
		word, isKey := strings.CutPrefix(rest[0], "key=")
		if !isKey {
			r.fail("'%s' is one word too many: write '%s'", rest[0], usage)
		}
		s.Key, rest = r.name(word, "key"), rest[1:]
	}
	r.words(rest, 0, 0, usage)
}

func (r *reader) outcome(word string, rest []string) {
	s := Statement{Kind: Outcome, Word: word}
	switch word {
	case "expect":
		r.words(rest, 3, math.MaxInt, "expect TIME TRIGGER ID…")
		s.Time, s.Trigger = r.time(rest[0]), r.word(rest[1], "trigger", triggerWords)
		for _, id := range rest[2:] {
			s.IDs = append(s.IDs, r.id(id))
		}
	case "hold":
		r.words(rest, 1, 1, "hold T")
		s.Time = r.time(rest[0])
	case "refused":
		r.words(rest, 2, 2, "refused ID CODE")
		if s.Code = r.word(rest[1], "code", codes); s.Code == "invalid" {
			s.ID = r.word(rest[0], "key", optionNames)
		} else {
			s.ID = r.id(rest[0])
		}
	default:
		most := math.MaxInt
		if word == "error" {
			most = 1
		}
		r.words(rest, 1, most, word+" ID…")
		for _, id := range rest {
			s.ID = r.id(id)
			r.add(s)
		}
		return
	}
	r.add(s)
}

// words checks how many there are; `usage` is what the line should look like.
func (r *reader) words(words []string, least, most int, usage string) {
	if len(words) < least {
		r.fail("a word is missing: write '%s'", usage)
	}
	if len(words) > most {
		r.fail("'%s' is one word too many: write '%s'", words[most], usage)
	}
}

var (
	namePattern   = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	numberPattern = regexp.MustCompile(`^-?\d{1,16}(\.\d{1,9})?$`)
)

func (r *reader) name(word, what string) string {
	if !namePattern.MatchString(word) {
		r.fail("'%s' is no %s: letters, digits, '_', '.' and '-' only", word, what)
	}
	return word
}

func (r *reader) id(word string) string {
	r.mentioned = append(r.mentioned, mention{r.name(word, "ID"), r.line})
	return word
}

func (r *reader) word(word, what string, allowed []string) string {
	if !slices.Contains(allowed, word) {
		r.fail("unknown %s '%s': allowed are %s", what, word, strings.Join(allowed, ", "))
	}
	return word
}

func (r *reader) number(word string, kind kind, what string) float64 {
	value, err := strconv.ParseFloat(word, 64)
	whole := value == math.Trunc(value)
	wrong := err != nil || !numberPattern.MatchString(word) || math.Abs(value) > 1<<53 ||
		(kind == integer || kind == count) && !whole ||
		kind != integer && kind != number && value < 0 ||
		kind == share && value > 1
	if wrong {
		r.fail("%s '%s' must be %s", what, word, kind)
	}
	return value
}

func (r *reader) time(word string) time.Duration {
	return Milliseconds(r.number(word, amount, "the time"))
}

// Milliseconds is a time in ms; one that is too long is the longest there is.
func Milliseconds(ms float64) time.Duration {
	ns := math.Round(ms * float64(time.Millisecond))
	// Far below the end of the range, so that sums of times stay within it.
	const longest = math.MaxInt64 / 1024
	return time.Duration(min(max(ns, -longest), longest))
}

// optionalType splits an optional type off: a first word without '='.
func (r *reader) optionalType(words []string) (string, []string) {
	if len(words) == 0 || strings.Contains(words[0], "=") {
		return "", words
	}
	return r.name(words[0], "type"), words[1:]
}

func (r *reader) pairs(words []string, keys []key) []Pair {
	if len(words) == 0 {
		r.fail("a key=value is missing: allowed keys are %s", namesOf(keys))
	}
	var pairs []Pair
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		if name == "" || text == "" || strings.Contains(text, "=") {
			r.fail("'%s' is not of the form key=value", word)
		}
		at := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if at < 0 {
			r.fail("unknown key '%s': allowed are %s", name, namesOf(keys))
		}
		if slices.ContainsFunc(pairs, func(p Pair) bool { return p.Key == name }) {
			r.fail("the key '%s' stands twice on the line: write it once", name)
		}
		pair := Pair{Key: name, Text: text}
		if keys[at].words != nil {
			r.word(text, name, keys[at].words)
		} else {
			pair.Number = r.number(text, keys[at].kind, name)
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// ---- the words

// The words of the grammar.
var (
	// "at" stands first: it is in no other operation.
	operations = []string{"at", "advance", "busy", "push", "turn", "handle", "unhandle", "cancel", "fail", "from",
		"signal", "set", "flush", "close"}
	fromOperations = []string{"push", "cancel", "flush", "close", "set", "handle", "unhandle", "busy"}
	outcomes       = []string{"expect", "hold", "error", "unhandled", "held", "replayed", "expired", "superseded", "refused"}
	triggerWords   = []string{"size", "turn", "priority", "threshold", "delay", "flush", "close"}
	codes          = []string{"overloaded", "closed", "cancelled", "retention", "already", "invalid"}
	classes        = []string{"high", "normal", "low"}
)

// kind of a number.
type kind string

const (
	number  kind = "a decimal number"
	amount  kind = "a decimal number of at least 0"
	integer kind = "a whole number"
	count   kind = "a whole number of at least 0"
	share   kind = "a decimal number within 0 and 1"
)

// key of a pair: its value is one of some words, or a number.
type key struct {
	name  string
	words []string
	kind  kind
}

var (
	queueOptions = []key{
		{name: "policy", words: []string{"direct", "fixed", "adaptive"}},
		{name: "order", words: []string{"arrival", "type"}},
		{name: "max_batch", kind: integer},
		{name: "max_delay", kind: number},
		{name: "min_saving", kind: number},
		{name: "max_batch_time", kind: number},
		{name: "threshold", kind: integer},
		{name: "hold", words: []string{"tuned", "always"}},
		{name: "max_queue", kind: integer},
		{name: "max_queue_bytes", kind: integer},
		{name: "max_deferral", kind: number},
	}
	typeOptions = []key{
		{name: "priority", words: classes},
		{name: "max_batch", kind: integer},
		{name: "retain", words: []string{"off", "first", "each"}},
		{name: "retain_max", kind: integer},
		{name: "retain_max_bytes", kind: integer},
		{name: "retain_max_age", kind: number},
		{name: "merge", words: []string{"off", "on", "fail"}},
	}
	// The rate stands first: it alone is of a type.
	signals = []key{
		{name: "rate", kind: amount},
		{name: "utilization", kind: share},
		{name: "total", kind: amount},
		{name: "batch_cost", kind: amount},
		{name: "hold_cost", kind: amount},
		{name: "saving", kind: number},
		{name: "slowdown", kind: number},
	}
	estimates   = append(slices.Clone(signals[1:]), key{name: "event_cost", kind: amount}, key{name: "limit", kind: count})
	stats       = statsKeys()
	optionNames = strings.Split(namesOf(queueOptions)+", "+namesOf(typeOptions), ", ")
)

func statsKeys() []key {
	var keys []key
	for _, name := range []string{"queued", "bytes", "pushed", "delivered", "batches", "cancelled", "superseded", "errors", "unhandled",
		"retained", "retained.bytes", "held", "replayed", "expired"} {
		keys = append(keys, key{name: name, kind: count})
	}
	for _, name := range classes {
		keys = append(keys, key{name: "depth." + name, kind: count}, key{name: "wait." + name, kind: amount})
	}
	for _, name := range triggerWords {
		keys = append(keys, key{name: "trigger." + name, kind: count})
	}
	for _, name := range codes {
		keys = append(keys, key{name: "refused." + name, kind: count})
	}
	return keys
}

func namesOf(keys []key) string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.name
	}
	return strings.Join(names, ", ")
}
