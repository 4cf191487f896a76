// @millrace/monitor as its users' compilers see it.
import loopbench, {
  type Burst,
  burst,
  type Capacity,
  type CapacityRequest,
  type Core,
  type Cores,
  capacity,
  type GcKind,
  type GcPauses,
  type GcStats,
  type Health,
  type Limits,
  type LoopDelay,
  limits,
  Monitor,
  type MonitorEvents,
  type MonitorOptions,
  memoryUsage,
  monitor,
  type ProcessMemory,
  type RequestTimes,
  type Snapshot,
  type SystemMemory,
  type TaskSource,
} from '@millrace/monitor';

// the options
const pool = { stats: () => ({ waiting: 1 }) };
const source: TaskSource = () => 5;
const options: MonitorOptions = {
  limit: 42,
  lower: 21,
  sampleInterval: 5,
  calm: 2,
  window: 1000,
  idleThreshold: 0.1,
  tasks: { pool, source },
};
const loop: Monitor = monitor(options);
const same: typeof loopbench = monitor;
new Monitor();
// @ts-expect-error: no such option
monitor({ limits: 42 });
// @ts-expect-error: a limit is a number
monitor({ limit: '42' });
// @ts-expect-error: a source tells its statistics
monitor({ tasks: { pool: 5 } });

// the events
loop.on('load', () => {}).once('unload', () => {});
const events: (keyof MonitorEvents)[] = ['load', 'unload'];
// @ts-expect-error: no such event
loop.on('overload', () => {});

// what it tells
const { p99, max }: LoopDelay = loop.loopDelay;
const numbers: number[] = [loop.delay, loop.limit, loop.utilization, p99, max];
const over: boolean = loop.overLimit;
loop.limit = 50;
// @ts-expect-error: it is measured
loop.utilization = 1;
const { byKind }: GcStats = loop.gc;
const pauses: GcPauses = byKind.major;
const kinds: GcKind[] = ['minor', 'major', 'incremental', 'weakCallbacks'];
const snapshot: Snapshot = loop.snapshot();
const health: Health = loop.health();
const cores: Cores = health.cpu.cores;
const each: readonly Core[] = cores.each;
const system: SystemMemory = health.memory;
const process: ProcessMemory = health.memory.process;
const same2: ProcessMemory = memoryUsage();
const { cpus, cpuSource, memoryBytes }: Limits = limits();

// the formulas
const request: RequestTimes = { syncMs: 10, asyncMs: 10 };
const asked: CapacityRequest = { ...request, ratePerSecond: 100, utilization: 0.7 };
const computed: Capacity = capacity(asked);
const answers: Burst = burst(3, request);
const results: number[] = [computed.responseMs, computed.perSecond, ...answers.loop];
// @ts-expect-error: a burst has no rate
burst(3, { ...request, ratePerSecond: 100 });
loop.stop();

void [same, events, numbers, over, pauses, kinds, snapshot, each, system, process, same2, cpus];
void [cpuSource, memoryBytes, results];
