// Package engine is one queue with its policy: the path of an event from intake to egress. The names of its files tell
// the stage: intake takes an event in, admit decides whether there is room, batch keeps and chooses, dispatch runs
// handlers; what a batch is handed to afterwards is its [Sink].
//
// It owns no clock, timer, goroutine or lock. The first three are the [Host]'s, so that the same code runs on a
// virtual clock, at the end of a loop turn, and whenever a bulk function has returned; the lock is the caller's, who
// holds it in every call. Control runs one way: push, queue, dispatch point, sink. A dispatch point never nests.
//
// What it does, event by event, is stated in conformance/README.md, and every vector there passes.
package engine
