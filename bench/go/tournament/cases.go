package tournament

import "millrace.dev/go/bench/entrant"

const (
	ours = "millrace"
	goja = "goja_nodejs"
)

// featured are the entrants that have what the report's have: timers, promises, microtasks and descriptors.
var featured = []string{ours, goja, "direct", "tick", "safe", "lockfree", "batched"}

// polling are those whose loop sleeps in epoll_wait.
var polling = []string{"tick", "safe", "lockfree", "batched"}

// scripted are those whose microtasks and promises are JavaScript's.
var scripted = []string{goja}

// Cases are all cases, those of the report first.
var Cases = []Case{
	{"PingPong", 1_000_000, each(pingPong)},
	{"PingPong reused", 1_000_000, each(pingPongReused)},
	{"PingPongLatency", 100_000, slowly(polling, append(each(latency), alone("channel round trip", roundTrip))...)},
	{"PingPongLatency reused", 100_000, slowly(polling, append(each(latencyReused),
		alone("channel round trip", roundTripReused))...)},
	{"MultiProducer10", 1_000_000, each(producers(10))},
	{"MultiProducer100", 1_000_000, each(producers(100))},
	{"BurstSubmit", 1_000_000, append(each(burst), arm("millrace SubmitBatch", burstBatch, entrant.NewMillrace))},
	{"GCPressure", 100_000, each(gcPressure)},
	{"Allocation", 1_000_000, append(each(pingPong), alone("closure alone", closureAlone))},
	{"Do", 1_000_000, []Arm{
		arm("Do", inline, entrant.NewMillrace), fewer(arm("submit + wait", latencyReused, entrant.NewMillrace)),
	}},
	{"Do fresh", 1_000_000, []Arm{
		arm("Do", inlineFresh, entrant.NewMillrace), fewer(arm("submit + wait", latency, entrant.NewMillrace)),
	}},
	{"Mixed", 200_000, append(each(mixed), arm("millrace SubmitPriority", mixedPriority, entrant.NewMillrace))},
	{"Bursty", 20_000, each(bursty)},
	{"FDReady", 20_000, slowly(featured[1:], each(fdReady, featured...)...)}, // all but ours wait in epoll_wait for it
	{"FDReady by the loop", 20_000, each(fdReadyByLoop, featured...)},
	{"FDIdle", 50_000, slowly(polling, append(each(fdIdle, featured...),
		arm("no descriptor", latencyReused, entrant.NewMillrace))...)},
	{"Microtasks", 200_000, slowly(scripted, each(microtasks, featured...)...)},
	{"Promises", 200_000, slowly(scripted, each(promises, featured...)...)},
	{"Timers", 20_000, append(each(timers, featured...),
		arm("millrace precise", timers, entrant.NewPreciseMillrace), alone("time.AfterFunc", afterFuncs))},
	{"Queued100k", 100_000, each(queued)},
	{"Queued1M", 1_000_000, each(queued)},
	{"HundredMillion", 100_000_000, each(numbered, featured...)},
}
