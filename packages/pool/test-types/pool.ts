// @millrace/pool as its users' compilers see it.
import { type EventEmitter, once } from 'node:events';
import type { Readable } from 'node:stream';
import { MessageChannel, type Worker } from 'node:worker_threads';
import Main, {
  AbortError,
  type Allocation,
  ArrayTaskQueue,
  type CloseOptions,
  type DurationsSummary,
  FixedQueue,
  fileChunks,
  isWorkerThread,
  type LoadBalancer,
  lineChunks,
  logAllocations,
  move,
  Piscina,
  Pool,
  type PoolEvents,
  type PoolHistogram,
  type PoolOptions,
  type PoolStats,
  type PoolTask,
  type PoolWorker,
  queueOptionsSymbol,
  type RunningTask,
  type RunOptions,
  type TaskContext,
  type TaskQueue,
  type Transferable,
  transferableSymbol,
  valueSymbol,
  version,
  workerData,
} from '@millrace/pool';

// tasks and results
const pool = new Pool<{ n: number }, string>({ filename: new URL('file:///tasks.js') });
const text: Promise<string> = pool.run({ n: 1 });
// @ts-expect-error: not a task of this pool
pool.run(1);
// @ts-expect-error: the result is a string
const wrong: Promise<number> = pool.run({ n: 1 });
const any = new Pool({ filename: './tasks.js' });
const count: Promise<number> = any.run('anything');
const same: [typeof Pool, typeof Pool] = [Main, Piscina];

// the options
const balancer: LoadBalancer = (task, workers) =>
  task.isAbortable ? null : (workers.find(({ currentUsage }) => currentUsage < 2) ?? null);
const options: PoolOptions = {
  filename: null,
  name: 'default',
  functions: { a: './a.js', b: new URL('file:///b.js'), c: { filename: './c.js', name: 'c' } },
  minThreads: 0,
  maxThreads: 4,
  idleTimeout: Number.POSITIVE_INFINITY,
  maxQueue: 'auto',
  concurrentTasksPerWorker: 2,
  maxBatch: 1,
  priority: 'low',
  aging: 100,
  timeout: 1000,
  retry: 1,
  abortGrace: 10,
  maxTasksPerWorker: 1000,
  maxWorkerAge: 60_000,
  resourceLimits: { maxOldGenerationSizeMb: 64 },
  idleCores: true,
  throttleAbove: 0.8,
  throttleBelow: 0.7,
  argv: ['a', 1],
  execArgv: ['--no-warnings'],
  env: { A: 'a' },
  workerData: { any: 'thing' },
  trackUnmanagedFds: false,
  taskQueue: new ArrayTaskQueue(),
  loadBalancer: balancer,
  stricterFIFO: false,
  niceIncrement: 5,
  closeTimeout: 1000,
  recordTiming: true,
  workerHistogram: true,
  atomics: 'sync',
};
new Pool();
new Pool(options);
// @ts-expect-error: no such option
new Pool({ maxThread: 1 });
// @ts-expect-error: no such priority
new Pool({ priority: 'urgent' });
// @ts-expect-error: a number, or 'auto'
new Pool({ maxQueue: 'all' });
// @ts-expect-error: the code of a function is none
new Pool({ functions: { f: () => 1 } });

// a call
const { port1 } = new MessageChannel();
const call: RunOptions = {
  transferList: [port1, new ArrayBuffer(8)],
  filename: './tasks.js',
  name: 'f',
  signal: AbortSignal.timeout(10),
  priority: 'high',
  timeout: 10,
  retry: 2,
};
pool.run({ n: 1 }, call);
declare const emitter: EventEmitter;
declare const target: EventTarget;
pool.run({ n: 1 }, { signal: emitter });
pool.run({ n: 1 }, { signal: target });
// @ts-expect-error: nothing that says abort
pool.run({ n: 1 }, { signal: {} });
// @ts-expect-error: no such option
pool.run({ n: 1 }, { abortSignal: AbortSignal.timeout(10) });
pool.run({ n: 1 }).catch((error: unknown) => error instanceof AbortError && error.code);

// what else it does
const registered: typeof pool = pool.register('f', './tasks.js').register('g', './tasks.js', 'g');
const close: CloseOptions = { force: true };
const done: Promise<void>[] = [
  pool.prewarm(),
  pool.prewarm(2),
  pool.recycle(),
  pool.close(close),
  pool.destroy(),
  pool[Symbol.asyncDispose](),
];
pool[Symbol.dispose]();

// what it is like
const threads: Worker[] = pool.threads;
const numbers: number[] = [
  pool.minThreads,
  pool.maxThreads,
  pool.idleThreads,
  pool.queueSize,
  pool.completed,
  pool.utilization,
  pool.duration,
];
const full: boolean = pool.needsDrain;
const inUse: Readonly<Record<string, unknown>> = pool.options;
const histogram: PoolHistogram = pool.histogram;
const summary: DurationsSummary | undefined = histogram.runTime ?? histogram.waitTime;
const percentiles: number[] = summary ? [summary.p0_001, summary.p50, summary.p99_999] : [];
// @ts-expect-error: undefined with `recordTiming: false`
histogram.runTime.mean;
const stats: PoolStats = pool.stats();
const { queued, workers, waitMs, runMs, memory, throttled, coreLimit, tasks } = stats;
const usual: (number | null)[] = tasks.map(({ meanMs }: RunningTask) => meanMs);
const cores: number | null = coreLimit;
numbers.push(
  usual.length,
  queued.high,
  queued.total,
  workers.idle,
  waitMs.p99,
  runMs.mean,
  memory.limitBytes,
);
// @ts-expect-error: plain data that is a copy, and nobody's to write to
stats.completed = 0;

// events know what their listeners get
pool.on('error', (error) => error.message);
pool.once('drain', () => {}).off('drain', () => {});
pool.on('message', (value) => {
  const posted: unknown = value;
  void posted;
});
pool.on('workerCreate', (worker) => {
  const { id, currentUsage, isRunningAbortableTask, histogram, terminating, destroyed } = worker;
  const usage: [number, number, boolean, boolean, boolean] = [
    id,
    currentUsage,
    isRunningAbortableTask,
    terminating,
    destroyed,
  ];
  void [usage, histogram?.mean];
});
pool.on('allocation', ({ at, reason, workers, memory }) => {
  const known: 'load' | 'idle' | 'memory' | 'cores' | 'crash' | 'recycle' | 'share' = reason;
  void [at, known, workers, memory.throttled];
});
// @ts-expect-error: a worker is no string
pool.on('workerDestroy', (worker: string) => worker);
// @ts-expect-error: nothing is told
pool.on('drain', (what: string) => what);
const names: (keyof PoolEvents)[] = ['close', 'needsDrain'];
const asEmitter: EventEmitter = pool;
const id: number = pool.asyncId;
void once(pool, 'close');
const end: () => void = logAllocations(pool, (line) => line.length);
const allocation = (event: Allocation) => event.maxThreads;

// the other side
type Handler = (task: { n: number }, context: TaskContext) => string;
const handler: Handler = ({ n }, { signal, aborted, attempt }) => {
  signal.throwIfAborted();
  return aborted ? '' : 'x'.repeat(n + attempt);
};
const inWorker: boolean = isWorkerThread;
const data: unknown = workerData;

// what is moved keeps its type
const buffer: ArrayBuffer = move(new ArrayBuffer(8));
const bytes: Uint8Array = move(new Uint8Array(8));
class Both implements Transferable {
  readonly bytes = new Uint8Array(8);

  get [transferableSymbol]() {
    return [this.bytes.buffer];
  }

  get [valueSymbol]() {
    return { bytes: this.bytes };
  }
}
const both: Both = move(new Both());

// queues
class Urgent implements TaskQueue {
  readonly #tasks: PoolTask[] = [];

  get size() {
    return this.#tasks.length;
  }

  push(task: PoolTask) {
    const options: object | null = task[queueOptionsSymbol];
    if (options === null) this.#tasks.push(task);
    else this.#tasks.unshift(task);
  }

  shift() {
    return this.#tasks.shift() ?? null;
  }

  remove(task: PoolTask) {
    this.#tasks.splice(this.#tasks.indexOf(task), 1);
  }
}
new Pool({ taskQueue: new Urgent() });
new Pool({ taskQueue: new FixedQueue() });
// @ts-expect-error: a queue has to give back
new Pool({ taskQueue: { size: 0, push() {}, remove() {} } });
const worker = (chosen: PoolWorker) => chosen.id;

// pieces of files and streams
declare const stream: Readable;
const ranges: Promise<{ start: number; end: number }[]> = fileChunks('file', {
  chunks: 4,
  minBytes: 1024,
  delimiter: '\r\n',
});
async function lines() {
  for await (const { data, complete } of lineChunks(stream, { bytes: 1024, maxBytes: 4096 })) {
    const piece: [Uint8Array, boolean] = [data, complete];
    await pool.run({ n: piece.length }, { transferList: [data.buffer as ArrayBuffer] });
  }
}
// @ts-expect-error: no such option
fileChunks('file', { chunk: 4 });

// `require()` gives the class, with all that there is
const statics: [string, boolean, typeof fileChunks] = [
  Pool.version,
  Pool.isWorkerThread,
  Pool.fileChunks,
];
new Pool.FixedQueue().push({} as PoolTask);

void [
  text,
  wrong,
  count,
  same,
  registered,
  done,
  threads,
  full,
  inUse,
  percentiles,
  throttled,
  cores,
];
void [names, asEmitter, id, end, allocation, handler, inWorker, data, buffer, bytes, both, worker];
void [ranges, lines, statics, version];
