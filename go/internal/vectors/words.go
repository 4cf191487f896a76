package vectors

import "strings"

// The words of the grammar.
var (
	// "at" stands first: it is in no other operation.
	operations = []string{"at", "advance", "busy", "push", "turn", "handle", "unhandle", "cancel", "fail", "from",
		"signal", "set", "flush", "close"}
	fromOperations = []string{"push", "cancel", "flush", "close", "set", "handle", "unhandle"}
	outcomes       = []string{"expect", "hold", "error", "unhandled", "held", "replayed", "expired", "refused"}
	triggers       = []string{"size", "turn", "priority", "threshold", "delay", "flush", "close"}
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
	}
	// The rate stands first: it alone is of a type.
	signals = []key{
		{name: "rate", kind: amount},
		{name: "utilization", kind: share},
		{name: "gain", kind: number},
		{name: "holds", kind: count},
	}
	stats       = statsKeys()
	optionNames = strings.Split(namesOf(queueOptions)+", "+namesOf(typeOptions), ", ")
)

func statsKeys() []key {
	var keys []key
	for _, name := range []string{"queued", "bytes", "pushed", "delivered", "batches", "cancelled", "errors", "unhandled",
		"retained", "retained.bytes", "held", "replayed", "expired"} {
		keys = append(keys, key{name: name, kind: count})
	}
	for _, name := range classes {
		keys = append(keys, key{name: "depth." + name, kind: count}, key{name: "wait." + name, kind: amount})
	}
	for _, name := range triggers {
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
