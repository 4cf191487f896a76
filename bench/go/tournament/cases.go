package tournament

import "millrace.dev/go/bench/entrant"

const (
	ours = "millrace"
	goja = "goja_nodejs"
)

// pollers are the entrants that call back when a descriptor is ready.
var pollers = []string{ours, "tick", "safe", "lockfree", "batched"}

// Cases are all cases, those of the report first.
var Cases = []Case{
	{"PingPong", 1_000_000, each(pingPong)},
	{"PingPong reused", 1_000_000, each(pingPongReused)},
	{"PingPongLatency", 100_000, polling(append(each(latency), alone("channel round trip", roundTrip))...)},
	{"PingPongLatency reused", 100_000, polling(append(each(latencyReused),
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
	{"FDReady", 20_000, polling(each(fdReady, pollers...)...)},
	{"FDReady by the loop", 20_000, each(fdReadyByLoop, pollers...)},
	{"FDIdle", 50_000, polling(append(each(fdIdle, pollers...),
		arm("no descriptor", latencyReused, entrant.NewMillrace))...)},
	{"Timers", 20_000, append(each(timers, ours, goja),
		arm("millrace precise", timers, entrant.NewPreciseMillrace), alone("time.AfterFunc", afterFuncs))},
	{"Queued100k", 100_000, each(queued)},
	{"Queued1M", 1_000_000, each(queued)},
}
