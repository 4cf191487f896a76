package engine

// Priority is the class of an event: High ends any hold and leaves first. After each MaxDeferral, a waiting event counts
// as one class higher.
type Priority int8

const (
	High Priority = iota
	Normal
	Low
	// OfType is the class of the event's type.
	OfType Priority = -1
)

const priorities = 3

func (p Priority) String() string {
	switch p {
	case High:
		return "High"
	case Normal:
		return "Normal"
	case Low:
		return "Low"
	}
	return "OfType"
}

// PriorityOf is the class of a type that nobody gave one: the kinds of event that libuv knows have theirs, all others
// are Normal.
func PriorityOf(name string) Priority {
	switch name {
	case "signal", "process", "async":
		return High
	case "idle", "work", "background":
		return Low
	}
	return Normal
}
