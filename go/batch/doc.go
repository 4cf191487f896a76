// Package batch groups concurrent calls into one, and events of a loop turn into batches. It adds no delay when the
// loop is idle. Errors and priorities that other packages have too are those of package millrace.
//
//   - New, for callers on any goroutine of something that does many at once as cheaply as one: a commit to a disk, an
//     insert of rows, a multi-get, a call of another service. While one batch is in flight, later calls queue for the next.
//   - NewEmitter, for events of a program that runs on a loop of package eventloop: handlers get the
//     events of a turn of the loop at its end, in order of priority and arrival, one by one or as a slice.
//
// Both have the same queue with the same options, bounds and statistics, which is that of Millrace for Node.js and for
// C; conformance/README.md states its rules, and the vectors there test them.
//
// # When not
//
// A function that takes less than two switches of goroutines, which a call of Do costs, is better called under a mutex
// (go test -bench 100Callers ./batch shows both). A function that does n at the cost of n times one gains nothing.
// Events that have nothing to do with a loop are better sent on a channel. And nothing here survives the process: what
// has to survive belongs in a queue on disk.
//
// A bulk function must not call Do, Flush or Close of its own batcher: with the default of one batch in flight it would
// wait for itself. Close an emitter before its loop.
package batch
