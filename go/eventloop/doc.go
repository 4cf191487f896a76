// Package eventloop runs functions one after another on one goroutine, as the event loop of JavaScript does: tasks from
// any goroutine, timers, immediates and descriptors, each followed by its microtasks; with priorities, a bounded queue,
// and errors instead of lost work. Package promise has the promises of a loop.
//
// What belongs to a loop needs no mutex, since only one of its functions runs at a time:
//
//   - [Loop.Submit] queues a task. It never waits, and never runs the task itself.
//   - [Loop.Do] runs a function on the loop and waits for it, on the calling goroutine while the loop sleeps.
//   - [Loop.After], [Loop.Every], [Loop.Watch] and [Loop.Immediate] run functions when it is time.
//
// [Loop.Run] serves a program that ends when nothing is left to do, [Loop.Start] a part of a larger one. [Loop.Close]
// ends the loop and accounts for each task that was accepted. Errors that other packages return too are those of
// package millrace.
//
// # Order
//
// Each task, timer, immediate and readiness callback is followed by the functions given to [Loop.NextTick] and then by
// all microtasks ([Loop.Microtask] and reactions of promises), including those that they add. Between any two tasks
// come HIGH tasks, timers that are due, and descriptors that are ready. A turn runs the tasks that waited when it
// began, and then the immediates that were set before.
//
// # When not to use it
//
// Where order does not matter, or state is shared by few: goroutines, a mutex and channels use all processors, a loop
// uses one. A task that blocks keeps everything else on its loop waiting; promise.Async is for what blocks.
package eventloop
