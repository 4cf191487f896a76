/**
 * Names worker threads that block, from the main thread. A worker is blocked if its loop has not been idle since some time, which
 * Node.js knows without asking it. A worker of a pool is expected to compute: it is blocked only by one task that takes much longer than
 * usual, as the statistics of the pool tell.
 *
 * Each look compares the idle times. Those workers over their limit are sampled: a session of the inspector reaches them through the
 * main thread (`NodeWorker`), evaluates an expression that reads the stack, and is closed at the next look. The first sample also tells by
 * which thread of the system a worker runs, so that /proc can tell computing from starved and parked; a pool knows it before. A worker that
 * turns its loop without ever being idle is busy, not blocked: its count of turns shows that, where Node.js has it.
 *
 * It looks only while there are workers, and only while the main thread turns. Workers that started before it are not watched. Time for
 * which the process was stopped does not count.
 */

import { builtin } from '@millrace/base/realm';
import { sources } from '@millrace/base/sources';
import { clearInterval, performance, setInterval, wallClock } from '@millrace/base/timers';
import { framesOf, isLate, local, Samples } from './capture.cjs';
import { stateOf, stoppedMs, ThreadState } from './process-state.cjs';
import { workerSummaryOf } from './report.cjs';
import { mostFrames, now, ownTimes, stackOf, timesOf } from './sampler.cjs';
import type { ThreadTimes, WorkerStall } from './stall.cjs';

type Worker = import('node:worker_threads').Worker;

/** Time between two looks in ms. */
const lookMs = 250;
/** Multiple of a task's usual time from which on its worker counts as blocked. */
const unusual = 10;
/** Stops of the process that are remembered. */
const mostStops = 20;
/** Looks with a sample before the first report, and the most samples of a stall. */
const firstLooks = 3;
const mostSamples = 20;

/** Running task, as a pool tells it. */
interface RunningTask {
  readonly worker: number;
  readonly systemThread: number | null;
  readonly name: string;
  readonly filename: string;
  readonly ranMs: number;
  readonly meanMs: number | null;
}

/** Result of the expression. */
interface Answer {
  readonly stack: string | null;
  readonly at: number;
  /** Turns of the loop so far; null before Node.js 20.18. */
  readonly turns: number | null;
  /** Link to the thread in /proc, and its times; null outside Linux and before Node.js 20.16. */
  readonly thread: string | null;
  readonly schedstat: string | null;
}

/** Reads what tells the state of the thread that evaluates its text. It uses nothing of this file. */
function answerOf(read: typeof stackOf, most: number): Answer {
  const stack = read(most);
  // biome-ignore lint/plugin: it runs in a thread that has not loaded our timers
  const at = Number(process.hrtime.bigint() / 1000n) / 1000;
  const { nodeTiming } = globalThis.performance as unknown as {
    nodeTiming?: { uvMetricsInfo?: { loopCount: number } };
  };
  const turns = nodeTiming?.uvMetricsInfo?.loopCount ?? null;
  try {
    const fs = process.getBuiltinModule('node:fs');
    const thread = fs.readlinkSync('/proc/thread-self');
    const schedstat = fs.readFileSync('/proc/thread-self/schedstat', 'latin1');
    return { stack, at, turns, thread, schedstat };
  } catch {
    return { stack, at, turns, thread: null, schedstat: null };
  }
}

const expression = `(${answerOf})(${stackOf}, ${mostFrames})`;
/** Line of the stack that belongs to the expression. */
const own = /^ {4}at (?:\w+ \()?<anonymous>:\d+:\d+\)?$/;

/** Times of a thread at a time. */
interface Reading {
  readonly atMs: number;
  readonly times: ThreadTimes;
}

interface OpenStall {
  readonly id: number;
  readonly startedAt: number;
  readonly sinceMs: number;
  readonly task: RunningTask | null;
  readonly samples: Samples;
  looks: number;
  /** State of its thread at the first look that had it, and at the last one. */
  first: Reading | null;
  last: Reading | null;
  /** System call in which it slept at the last such look. */
  call: string | null;
  isReported: boolean;
  /** Pending question. */
  asked: { readonly at: number; readonly times: ThreadTimes | null } | null;
}

interface Watched {
  readonly worker: Worker;
  readonly id: number;
  file: string | null;
  thread: ThreadState | null;
  /** True for a worker of a pool, which is expected to compute. */
  isPooled: boolean;
  idle: number;
  sinceMs: number;
  turns: number | null;
  stall: OpenStall | null;
}

/** Ms for which the process has computed so far, and for which this thread has computed or waited for a CPU. */
function usedMs(): readonly [process: number, thread: number] {
  const { user, system } = process.cpuUsage();
  const { cpu, starved } = ownTimes() ?? { cpu: 0, starved: 0 };
  return [(user + system) / 1000, cpu + starved];
}

/**
 * Stops of the process: SIGSTOP, a frozen container, a suspended machine. After one a look comes late, although nothing computed and this
 * thread did not wait for a CPU. Time that workers computed just before counts against it. This thread asleep in a system call, with all
 * others at rest, looks the same.
 */
class Stops {
  #dueMs = 0;
  #usedMs = usedMs();
  /** Oldest first. `endMs` is the time of the look that noticed it. */
  readonly #stops: { readonly endMs: number; readonly ms: number }[] = [];

  /** Begins anew; the first look is due at `dueMs`. */
  begin(dueMs: number): void {
    this.#dueMs = dueMs;
    this.#usedMs = usedMs();
  }

  /** Reports whether there was a stop since the last look. The next look is due at `dueMs`. */
  look(nowMs: number, dueMs = Math.max(this.#dueMs, nowMs)): boolean {
    const before = this.#usedMs;
    const after = usedMs();
    const ms = nowMs - this.#dueMs - Math.max(after[0] - before[0], after[1] - before[1]);
    this.#dueMs = dueMs;
    this.#usedMs = after;
    if (ms <= stoppedMs) return false;
    this.#stops.push({ endMs: nowMs, ms });
    if (this.#stops.length > mostStops) this.#stops.shift();
    return true;
  }

  /** Moves a time forward by the stops after it: from there on the process has run all the time. */
  without(sinceMs: number): number {
    return this.#stops.reduce(
      (since, { endMs, ms }) => (since < endMs ? Math.min(since + ms, endMs) : since),
      sinceMs,
    );
  }
}

export class WorkerWatch {
  readonly #limit: number;
  readonly #isOwn: (worker: Worker) => boolean;
  readonly #report: (stall: WorkerStall) => void;
  readonly #cwd = process.cwd();
  readonly #watched = new Map<number, Watched>();
  readonly #stops = new Stops();
  #timer: NodeJS.Timeout | null = null;
  #session: import('node:inspector').Session | null = null;
  #lastId = 0;

  /** `isOwn` excludes workers. `report` is called for a stall while it lasts, and at its end. */
  constructor(
    limit: number,
    isOwn: (worker: Worker) => boolean,
    report: (stall: WorkerStall) => void,
  ) {
    this.#limit = limit;
    this.#isOwn = isOwn;
    this.#report = report;
    process.on('worker', this.add);
  }

  stop(): void {
    process.off('worker', this.add);
    this.#closeSession();
    for (const each of this.#watched.values()) each.thread?.close();
    // An exit that comes later finds nothing to end or to close.
    this.#watched.clear();
    this.#look();
  }

  /** Watches a worker that has just started. */
  readonly add = (worker: Worker): void => {
    const id = worker.threadId;
    if (id < 0 || this.#isOwn(worker)) return;
    const watched: Watched = {
      ...{ worker, id, file: null, thread: null, isPooled: false },
      ...{ idle: 0, sinceMs: performance.now(), turns: null, stall: null },
    };
    this.#watched.set(id, watched);
    worker.once('exit', () => {
      if (this.#watched.get(id) !== watched) return;
      this.#discountStop(performance.now());
      if (watched.stall !== null) this.#end(watched, watched.stall);
      watched.thread?.close();
      watched.thread = null;
      this.#watched.delete(id);
    });
    if (this.#timer !== null) return;
    this.#stops.begin(watched.sinceMs + lookMs);
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  };

  #look(): void {
    this.#closeSession();
    if (this.#watched.size === 0) {
      if (this.#timer !== null) clearInterval(this.#timer);
      this.#timer = null;
      return;
    }
    const nowMs = performance.now();
    this.#discountStop(nowMs, nowMs + lookMs);
    const tasks = runningTasks();
    const blocked: Watched[] = [];
    for (const watched of this.#watched.values()) {
      const task = tasks.get(watched.id) ?? null;
      if (task !== null) this.#isOfPool(watched, task);
      const { idle } = watched.worker.performance.eventLoopUtilization();
      if (idle !== watched.idle) {
        watched.idle = idle;
        this.#paused(watched, nowMs);
      }
      if (this.#isBlocked(watched, task, nowMs)) blocked.push(watched);
    }
    if (blocked.length > 0) this.#observe(blocked);
  }

  /** Leaves out the time for which the process was stopped. Called first by all that looks at the clock. */
  #discountStop(nowMs: number, dueMs?: number): void {
    if (!this.#stops.look(nowMs, dueMs)) return;
    // A pending sample would count as taken after the time for which nothing ran.
    for (const { stall } of this.#watched.values()) if (stall !== null) stall.asked = null;
  }

  #isOfPool(watched: Watched, { systemThread }: RunningTask): void {
    watched.isPooled = true;
    if (systemThread !== null) watched.thread ??= ThreadState.open(folderOf(systemThread));
  }

  #paused(watched: Watched, nowMs: number): void {
    if (watched.stall !== null) this.#end(watched, watched.stall);
    watched.sinceMs = nowMs;
    watched.turns = null;
  }

  /** Opens and ends the stall of a worker. Returns true while it is blocked. */
  #isBlocked(watched: Watched, task: RunningTask | null, nowMs: number): boolean {
    const taskSinceMs = task === null ? Number.NEGATIVE_INFINITY : nowMs - task.ranMs;
    const sinceMs = Math.max(watched.sinceMs, taskSinceMs);
    // The next task has begun, or none, without a pause between.
    const { stall } = watched;
    const isOther = stall !== null && (sinceMs > stall.sinceMs + 1 || !isSame(stall.task, task));
    if (isOther) this.#end(watched, stall);
    if (watched.isPooled && task === null) return false;
    const limit = Math.max(this.#limit, unusual * (task?.meanMs ?? 0));
    if (nowMs - this.#stops.without(sinceMs) < limit) return false;
    watched.stall ??= {
      id: ++this.#lastId,
      startedAt: wallClock.now() - (nowMs - sinceMs),
      ...{ sinceMs, task, samples: new Samples(), looks: 0 },
      ...{ first: null, last: null, call: null, isReported: false, asked: null },
    };
    return true;
  }

  #observe(blocked: readonly Watched[]): void {
    const asked: Watched[] = [];
    for (const watched of blocked) {
      const stall = watched.stall!;
      readThread(watched, stall);
      if (stall.samples.count < mostSamples) asked.push(watched);
      if (++stall.looks <= firstLooks || stall.isReported) continue;
      stall.isReported = true;
      this.#report(this.#describe(watched, stall, false));
    }
    if (asked.length > 0) this.#sample(asked);
  }

  #end(watched: Watched, stall: OpenStall): void {
    watched.stall = null;
    if (stall.isReported) this.#report(this.#describe(watched, stall, true));
  }

  #describe({ id, file }: Watched, stall: OpenStall, isOver: boolean): WorkerStall {
    const { first, last, samples, task } = stall;
    const cpu = last === null ? null : Math.round(last.times.cpu - first!.times.cpu);
    const starved = last === null ? null : Math.round(last.times.starved - first!.times.starved);
    const ranMs = (from: number, to: number) => this.#stops.without(to) - this.#stops.without(from);
    const state = last === null ? 'unknown' : stateOf(ranMs(first!.atMs, last.atMs), cpu, starved);
    const described = {
      id: stall.id,
      startedAt: stall.startedAt,
      duration: Math.round(ranMs(stall.sinceMs, performance.now())),
      ...{ isOver, state, cpu, starved },
      systemCall: state === 'parked' ? stall.call : null,
      samples: samples.count,
      ...samples.read(),
      worker: { id, file },
      task: task && {
        name: task.name,
        file: local(task.filename, this.#cwd),
        usual: task.meanMs,
      },
    };
    return { ...described, summary: workerSummaryOf(described) };
  }

  /** Asks workers for their stacks. The answers come until the next look. */
  #sample(asked: readonly Watched[]): void {
    // Node.js may have been built without it.
    if (!process.features.inspector) return;
    const { Session } = builtin('node:inspector');
    const session = new Session();
    const byId = new Map(asked.map((watched) => [watched.id, watched]));
    const bySession = new Map<string, Watched>();
    session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      // Its title is `Worker 3` or `[worker 3] name`.
      const watched = byId.get(Number(/worker (\d+)/i.exec(workerInfo.title)?.[1]));
      if (!watched?.stall) return;
      watched.file = local(workerInfo.url, this.#cwd);
      watched.stall.asked ??= { at: now(), times: timesNow(watched) };
      bySession.set(sessionId, watched);
      const params = { expression, silent: true, returnByValue: true };
      const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params });
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    });
    session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
      const answer = JSON.parse(message)?.result?.result?.value as Answer | undefined;
      const watched = bySession.get(sessionId);
      if (watched !== undefined && answer !== undefined) this.#sampled(watched, answer);
    });
    session.connect();
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    this.#session = session;
  }

  #closeSession(): void {
    this.#session?.disconnect();
    this.#session = null;
  }

  #sampled(watched: Watched, { stack, at, turns, thread, schedstat }: Answer): void {
    this.#discountStop(performance.now());
    if (thread !== null) watched.thread ??= ThreadState.open(`/proc/${thread}`);
    if (watched.turns !== null && turns !== watched.turns) {
      this.#paused(watched, performance.now());
      return;
    }
    watched.turns = turns;
    const { stall } = watched;
    if (!stall?.asked || stack === null) return;
    const { asked } = stall;
    stall.asked = null;
    const elapsed = at - asked.at;
    const times = schedstat === null ? null : timesOf(schedstat);
    const lines = stack.split('\n').filter((line) => !own.test(line));
    stall.samples.add({
      frames: framesOf(lines, this.#cwd),
      isLate: isLate(elapsed, asked.times, times),
      elapsed,
    });
  }
}

const folderOf = (systemThread: number): string => `/proc/self/task/${systemThread}`;

/** Returns the times of the worker's thread; null if it is not known, or has ended. */
function timesNow({ thread }: Watched): ThreadTimes | null {
  try {
    return thread?.times() ?? null;
  } catch {
    return null;
  }
}

function readThread(watched: Watched, stall: OpenStall): void {
  const times = timesNow(watched);
  if (times === null) return;
  stall.last = { atMs: performance.now(), times };
  stall.first ??= stall.last;
  try {
    stall.call = watched.thread?.call()?.name ?? stall.call;
  } catch {
    // The thread has ended between the two.
  }
}

const isSame = (a: RunningTask | null, b: RunningTask | null): boolean =>
  a === b || (a !== null && b !== null && a.name === b.name && a.filename === b.filename);

/** Returns the running tasks of all pools of this thread, by worker. */
function runningTasks(): Map<number, RunningTask> {
  const tasks = new Map<number, RunningTask>();
  for (const source of sources()) {
    if (source.kind !== 'pool') continue;
    const { tasks: running = [] } = (source.stats() ?? {}) as { tasks?: readonly RunningTask[] };
    for (const task of running) tasks.set(task.worker, task);
  }
  return tasks;
}
