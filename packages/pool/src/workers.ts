/**
 * The workers of a pool: how many there are, and when each starts and ends.
 *
 *     started ──► ready ──► retiring ──► ended
 *        └───────────┴───────────────────▲
 *
 * A worker starts for the minimum, or when tasks wait and the time to start one is worth it (`wantsWorker`), and only if there
 * is memory for what it may grow to, and a core that is idle. It retires (it gets no more tasks) when it is replaced, or is too many for a new maximum,
 * and ends when it has no task. It ends at once when it was idle for `idleTimeout`, when nothing else stops its task
 * (`#condemn`), and when it crashes. Three workers in a row that end by themselves before they ran a task leave no hope: then
 * what waits is rejected, none starts, and each further call allows one more try.
 *
 * Only this file changes `threads`, the sizes, `throttled`, `coreLimit`, `crashed`, and of a thread `retiring`, `idleSinceMs` and who waits for
 * it. It owns no task: what becomes of those of a worker that ends is up to the scheduler, its {@link TaskOwner}.
 */

import { MillraceError, show } from '@millrace/base/errors';
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import { nextMicrotask } from '@millrace/base/turn';
import { IdleCores } from './idle-cores.js';
import { MemoryWatch, workerBytes } from './memory.js';
import type { Settings } from './options.js';
import { WAITING } from './protocol.cjs';
import { messageOf } from './task.js';
import { Thread, type ThreadEvents } from './thread.js';

/** Assumed duration of a start, in ms, until one has been measured. */
const usualStartMs = 40;
/** Workers in a row that may end by themselves before running a task, until starting more is no use. */
const hopeless = 3;
/** Time in ms between looks at memory and cores while they are short. */
const throttleMs = 250;

/** The scheduler, as its workers know it. */
export interface TaskOwner extends Pick<ThreadEvents, 'reply' | 'timedOut'> {
  /** Tasks that no worker has. */
  readonly queued: number;
  /** Hands out what waits, as far as there is room. */
  dispatch(): void;
  /** Puts what a worker has not begun back into the queue; it goes on with what it has. */
  takeBack(thread: Thread): void;
  /**
   * Puts back the tasks that an ending worker has not begun, or fails them. Returns their number. `isAtFault`: its first task
   * may be the reason.
   */
  requeue(thread: Thread, cause: Error, isAtFault: boolean): number;
  /** The worker has ended: what it had begun fails or begins again. Returns how many tasks that were. */
  endBegun(thread: Thread, cause: Error): number;
  /** Fails what waits. */
  rejectQueued(error: () => Error): void;
}

export class Workers {
  /** Workers that get tasks, and those that retire, until they end. */
  threads: Thread[] = [];
  /** Ends of workers that were told to end. */
  readonly ending = new Set<Promise<number>>();
  minThreads: number;
  maxThreads: number;
  readonly memory: MemoryWatch;
  /** Null if idle cores do not count. */
  readonly cores: IdleCores | null;
  /** Memory is short: one task at a time, and no more workers. */
  throttled = false;
  /** Workers that may have tasks at a time, as others use the cores; Infinity without a limit. */
  coreLimit = Number.POSITIVE_INFINITY;
  /** Workers that ended unexpectedly. */
  crashed = 0;
  /** True if no more workers start. */
  closed = false;
  readonly #settings: Settings;
  readonly #owner: TaskOwner;
  readonly #events: SchedulerEvents;
  readonly #threadEvents: ThreadEvents;
  /** True if tasks that were sent are ever taken back for another worker. */
  readonly #steals: boolean;
  /** Bytes that a worker may grow to. */
  #bytes: number;
  #startMs = usualStartMs;
  /** Workers that ended before they were ready, or had a task, since the last that ran one. */
  #failures = 0;
  /** The replacement that was begun last. */
  #replacing: Promise<void> = Promise.resolve();
  #idleTimer: NodeJS.Timeout | null = null;
  #growTimer: NodeJS.Timeout | null = null;
  #throttleTimer: NodeJS.Timeout | null = null;

  /** Starts the minimum. Throws what `new Worker()` throws. */
  constructor(settings: Settings, owner: TaskOwner, events: SchedulerEvents) {
    this.#settings = settings;
    this.#owner = owner;
    this.#events = events;
    this.#threadEvents = {
      ready: (thread) => this.#ready(thread),
      reply: (thread, reply) => owner.reply(thread, reply),
      message: (value) => events.emit('message', value),
      broken: (thread, what) => this.#condemn(thread, what === 'tasks'),
      timedOut: (task, timeoutMs) => owner.timedOut(task, timeoutMs),
      condemned: (thread) => this.#condemn(thread, false),
      exit: (thread, code) => this.#exit(thread, code),
    };
    this.#steals = settings.maxBatch !== 1;
    this.minThreads = settings.minThreads;
    this.maxThreads = settings.maxThreads;
    this.#bytes = workerBytes(settings.worker.resourceLimits);
    const shares = { above: settings.throttleAbove, below: settings.throttleBelow };
    this.memory = new MemoryWatch({ shares });
    this.cores = settings.idleCores ? new IdleCores() : null;
    this.#startMinimum(null);
    for (const thread of this.threads) {
      // The first ones are there before anybody can listen.
      thread.announced = true;
      nextMicrotask(() => events.emit('workerCreate', thread));
    }
  }

  /** Workers that get tasks. */
  get size(): number {
    let size = 0;
    for (const thread of this.threads) if (!thread.retiring) size++;
    return size;
  }

  /** Workers that may have tasks at a time. */
  get limit(): number {
    return this.throttled ? 1 : this.coreLimit;
  }

  /** Reports whether the limit is reached: a worker without a task gets none. */
  get isFull(): boolean {
    const { limit } = this;
    if (limit === Number.POSITIVE_INFINITY) return false;
    let busy = 0;
    for (const thread of this.threads) if (thread.inFlight > 0) busy++;
    return busy >= limit;
  }

  get reservedBytes(): number {
    return this.threads.length * this.#bytes;
  }

  /** Starts no more workers, and looks at nothing any more. Those that run are ended one by one. */
  close(): void {
    this.closed = true;
    for (const timer of [this.#idleTimer, this.#growTimer, this.#throttleTimer]) {
      if (timer) clearTimeout(timer);
    }
  }

  // ------------------------------------------------------------------------------------------------ growth

  /** A task has come: lets one more try be made. */
  hope(): void {
    if (this.#isHopeless) this.#failures = hopeless - 1;
  }

  get #isHopeless(): boolean {
    return this.#failures >= hopeless;
  }

  /** Reports whether tasks that wait are worth another worker, and there is room for it. */
  wants(waiting: number, meanTaskMs: number | null): boolean {
    const { size: workers } = this;
    const max = Math.min(this.maxThreads, this.limit);
    if (workers >= max || this.closed || this.#isHopeless) return false;
    if (!wantsWorker({ waiting, workers, max, meanTaskMs, startMs: this.#startMs })) return false;
    return this.#admits();
  }

  /** Another worker for what waits. True if there is one now. */
  grow(meanTaskMs: number | null): boolean {
    return this.wants(this.#owner.queued, meanTaskMs) && this.#startForLoad();
  }

  /**
   * Looks again after the time that a start takes: tasks may need longer than they did, or need one another, those that wait as
   * well as those that were sent to a worker and stand there behind another.
   */
  growLater(): void {
    if (this.#growTimer !== null || this.size >= Math.min(this.maxThreads, this.limit)) return;
    if (this.size === 0 && this.#isHopeless) return;
    const isBehind = this.#steals && this.threads.some(({ ahead }) => ahead > 0);
    if (this.#owner.queued === 0 && !isBehind) return;
    this.#growTimer = setTimeout(() => {
      this.#growTimer = null;
      const late = this.#owner.queued + (this.#steals ? this.#standing() : 0);
      // One that is starting takes what stands only when it is ready.
      const free = this.threads.filter(({ inFlight, retiring }) => inFlight === 0 && !retiring);
      if (late > free.length && this.wants(late, null)) this.#startForLoad();
      this.#owner.dispatch();
    }, this.#startMs);
    this.#growTimer.unref();
  }

  /**
   * Tasks that can be taken back and stand behind one that has run for so long that another worker would be there by now, or
   * that was asked to stop.
   */
  #standing(): number {
    const nowMs = performance.now();
    let count = 0;
    for (const thread of this.threads) {
      if (thread.ahead === 0) continue;
      const { current } = thread;
      const isHeld = current !== null && thread.ranMs(current, nowMs) >= this.#startMs;
      if (!isHeld && !thread.isStopping) continue;
      for (const task of thread.pending()) {
        if (!task.moves && thread.word(task) === WAITING) count++;
      }
    }
    return count;
  }

  #startForLoad(): boolean {
    try {
      this.#start('load');
      return true;
    } catch (error) {
      this.#cannotStart(error);
      return false;
    }
  }

  #refill(reason: AllocationReason): void {
    try {
      this.#startMinimum(reason);
    } catch (error) {
      this.#cannotStart(error);
    }
  }

  #cannotStart(error: unknown): void {
    if (this.size === 0) this.#owner.rejectQueued(() => cannotStart(error));
  }

  #startMinimum(reason: AllocationReason | null): void {
    while (this.size < this.minThreads && !this.closed && !this.#isHopeless) {
      if (!this.#admits()) return;
      this.#start(reason);
    }
  }

  /** Throws what `new Worker()` throws. */
  #start(reason: AllocationReason | null): Thread {
    const thread = new Thread(this.#settings, this.#threadEvents, performance.now());
    this.threads.push(thread);
    if (reason !== null) this.#events.allocated(reason);
    return thread;
  }

  /** Starts workers until there are `count`, as far as there are memory and idle cores for them; resolves when they are ready. */
  async prewarm(count: number): Promise<void> {
    this.look(true);
    const most = Math.min(count, this.limit);
    while (this.size < most && !this.closed && this.#admits()) this.#startNow('load');
    await Promise.all(this.threads.map((thread) => this.#whenReady(thread)));
  }

  #startNow(reason: AllocationReason): Thread {
    try {
      return this.#start(reason);
    } catch (error) {
      throw cannotStart(error);
    }
  }

  #whenReady(thread: Thread): Promise<void> {
    if (thread.isReady) return Promise.resolve();
    thread.readiness ??= new Promise((resolve, reject) => {
      thread.hold();
      thread.whenReady = resolve;
      thread.worker.once('exit', (code) => {
        reject(this.closed ? destroyed() : cannotStart(thread.failure ?? exited(code)));
      });
    });
    return thread.readiness;
  }

  #ready(thread: Thread): void {
    // Now it says which limits it has that were not asked for.
    this.#bytes = workerBytes(this.#settings.worker.resourceLimits, thread.worker.resourceLimits);
    this.#startMs += (performance.now() - thread.startedMs - this.#startMs) / 4;
    if (thread.inFlight === 0) this.#becameIdle(thread);
    thread.whenReady?.();
    if (!thread.announced) this.#events.emit('workerCreate', thread);
    thread.announced = true;
    this.#owner.dispatch();
  }

  // ------------------------------------------------------------------------------------------------ memory and cores

  /** Reports whether there is memory for another one. */
  #admits(): boolean {
    return this.memory.admits(this.reservedBytes, this.#bytes);
  }

  /** Looks at the memory, and at the cores if a worker is to get tasks beside others that have some: sets {@link limit}. */
  look(isBeside: boolean): void {
    const { throttled } = this.memory.look();
    if (throttled !== this.throttled) {
      this.throttled = throttled;
      this.#events.allocated('memory');
    }
    if (isBeside && this.cores !== null) this.#limitTo(this.cores.allowed());
    if (this.limit === Number.POSITIVE_INFINITY || this.#throttleTimer !== null) return;
    this.#throttleTimer = setTimeout(() => {
      this.#throttleTimer = null;
      // Even when nothing waits: listeners are told when it is over.
      this.look(true);
      this.#owner.dispatch();
    }, throttleMs);
    this.#throttleTimer.unref();
  }

  /** A limit that is not below `maxThreads` is none. */
  #limitTo(allowed: number): void {
    const limit = allowed < this.maxThreads ? allowed : Number.POSITIVE_INFINITY;
    if (limit === this.coreLimit) return;
    this.coreLimit = limit;
    this.#events.allocated('cores');
  }

  // ------------------------------------------------------------------------------------------------ endings

  /** A worker has answered. */
  worked(thread: Thread): void {
    this.#failures = 0;
    if (thread.inFlight === 0) this.#becameIdle(thread);
    this.#replaceIfDue(thread);
  }

  /** Ends it at once. */
  end(thread: Thread): Promise<number> {
    this.#remove(thread);
    const ended = thread.terminate();
    this.ending.add(ended);
    return ended.finally(() => this.ending.delete(ended));
  }

  /** Removes a worker that has ended, or is ended now, from the pool. False if it was not in it. */
  #remove(thread: Thread): boolean {
    const index = this.threads.indexOf(thread);
    if (index === -1) return false;
    this.threads.splice(index, 1);
    this.#events.emit('workerDestroy', thread);
    return true;
  }

  /** Ends a worker to end its task. Tasks that it has not begun run elsewhere. */
  #condemn(thread: Thread, isAtFault: boolean): void {
    void this.end(thread);
    this.#owner.requeue(thread, thread.failure ?? exited(1), isAtFault);
    this.#events.allocated('recycle');
    this.#refill('recycle');
    this.#owner.dispatch();
  }

  /** Handles the end of a worker. */
  #exit(thread: Thread, code: number): void {
    const owner = this.#owner;
    const isCrash = this.#remove(thread);
    const cause = thread.failure ?? exited(code);
    const isAtFault = isCrash && this.#isAtFault(thread);
    if (isCrash) this.crashed++;
    if (isCrash && !isAtFault && !thread.hasBegun && thread.done === 0) this.#failures++;
    const lost = owner.requeue(thread, cause, isAtFault) + owner.endBegun(thread, cause);
    if (isCrash) {
      this.#events.allocated('crash');
      this.#refill('crash');
    }
    if (this.closed) owner.rejectQueued(destroyed);
    else if (this.size === 0 && this.#isHopeless) owner.rejectQueued(() => cannotStart(cause));
    else if (lost === 0 && thread.failure !== null && isCrash) {
      this.#events.emit('error', thread.failure);
    }
    owner.dispatch();
  }

  /**
   * Reports whether the first task of a worker may be why it has ended, rather than the pool's own file, or nothing that was
   * sent.
   */
  #isAtFault(thread: Thread): boolean {
    const [first] = thread.pending();
    if (first === undefined || thread.hasBegun) return false;
    return thread.isReady || first.fn.filename !== this.#settings.preload?.[0];
  }

  /** Handles an idle worker: it ends if it has to, or after some time if there are more than the minimum. */
  #becameIdle(thread: Thread): void {
    thread.idleSinceMs = performance.now();
    if (thread.retiring) {
      // What has ended by itself is a crash, also if its last results are read only now.
      if (!thread.hasExited) void this.end(thread);
      return;
    }
    if (this.size > this.minThreads) this.#watchIdle(this.#settings.idleTimeout);
  }

  #watchIdle(ms: number): void {
    if (this.#idleTimer !== null || ms === Number.POSITIVE_INFINITY || this.closed) return;
    this.#idleTimer = setTimeout(() => this.#endIdle(), ms);
    this.#idleTimer.unref();
  }

  #endIdle(): void {
    this.#idleTimer = null;
    const { idleTimeout } = this.#settings;
    const nowMs = performance.now();
    let next = Number.POSITIVE_INFINITY;
    // The last one: when there are few tasks, the first ones get them.
    for (const thread of this.threads.toReversed()) {
      if (this.size <= this.minThreads) return;
      if (thread.inFlight > 0 || thread.retiring || !thread.isReady) continue;
      // Timers may be early by a fraction of a ms.
      const leftMs = thread.idleSinceMs + idleTimeout - nowMs - 1;
      if (leftMs > 0) {
        next = Math.min(next, leftMs);
        continue;
      }
      void this.end(thread);
      this.#events.allocated('idle');
    }
    if (next < Number.POSITIVE_INFINITY) this.#watchIdle(next + 1);
  }

  // ------------------------------------------------------------------------------------------------ replacements

  /** Ends the idle ones that are too many for a new maximum; the others retire as they get done. */
  resize(minThreads: number, maxThreads: number): void {
    this.minThreads = minThreads;
    this.maxThreads = maxThreads;
    const active = this.threads.filter((thread) => !thread.retiring);
    active.sort((a, b) => b.inFlight - a.inFlight);
    for (const thread of active.slice(maxThreads)) {
      thread.retiring = true;
      if (thread.inFlight === 0) void this.end(thread);
    }
    this.#events.allocated('share');
    this.#takeBackRetiring();
    this.#owner.dispatch();
  }

  /** Starts a worker in place of this one, which gets no more tasks and ends when it has none. Resolves when it has ended. */
  replace(thread: Thread): Promise<void> {
    thread.replaced ??= this.#replace(thread).catch((error) => {
      thread.replaced = null;
      throw error;
    });
    return thread.replaced;
  }

  async #replace(thread: Thread): Promise<void> {
    // One after the other, or there would be twice as many for a while.
    const before = this.#replacing;
    let done = () => {};
    this.#replacing = new Promise((resolve) => {
      done = resolve;
    });
    let ended = Promise.resolve();
    try {
      await before;
      if (this.closed) throw destroyed();
      if (thread.retiring) return;
      if (this.#admits()) await this.#whenReady(this.#startNow('recycle'));
      ended = this.#retire(thread);
    } finally {
      done();
    }
    await ended;
    this.#refill('recycle');
  }

  /** Replaces a worker that is too old, or has run as many tasks as it may. */
  #replaceIfDue(thread: Thread): void {
    const { maxTasksPerWorker, maxWorkerAge } = this.#settings;
    const isOld =
      maxWorkerAge < Number.POSITIVE_INFINITY &&
      performance.now() - thread.startedMs >= maxWorkerAge;
    const isDue = isOld || thread.done >= maxTasksPerWorker;
    const isThere = !thread.retiring && this.threads.includes(thread);
    if (isDue && isThere && thread.replaced === null) {
      this.replace(thread).catch((error) => {
        if (!this.closed) this.#events.emit('error', error);
      });
    }
  }

  /** Gets no more tasks. What it has not begun waits again. */
  #retire(thread: Thread): Promise<void> {
    const ended = new Promise<void>((resolve) => thread.worker.once('exit', () => resolve()));
    thread.retiring = true;
    if (thread.destroyed) return Promise.resolve();
    this.#events.allocated('recycle');
    this.#takeBackRetiring();
    thread.worker.ref();
    if (thread.inFlight === 0) void this.end(thread);
    this.#owner.dispatch();
    return ended;
  }

  #takeBackRetiring(): void {
    for (const thread of this.threads) if (thread.retiring) this.#owner.takeBack(thread);
  }
}

interface Demand {
  /** Tasks that no worker has yet. */
  readonly waiting: number;
  /** Workers, including those that are starting. */
  readonly workers: number;
  /** Workers that there may be. */
  readonly max: number;
  /** Mean time in ms that a task runs; null while none has. */
  readonly meanTaskMs: number | null;
  /** Time in ms until a new worker can run its first task. */
  readonly startMs: number;
}

/** A task from which on a worker of its own is worth a start, in ms. */
const longTaskMs = 1;

/**
 * Decides whether to start another worker. For tasks that are long, or of which nothing is known, as soon as one waits. For
 * tiny ones only if the present workers need longer for the queue than a new one takes to start: otherwise it would find
 * nothing to do.
 */
export function wantsWorker(demand: Demand): boolean {
  const { waiting, workers, max, meanTaskMs, startMs } = demand;
  if (workers >= max || waiting === 0) return false;
  if (workers === 0 || meanTaskMs === null || meanTaskMs >= longTaskMs) return true;
  return (waiting * meanTaskMs) / workers > startMs;
}

// ---- what is reported

/** Events of the scheduler and its workers for the pool. */
export interface SchedulerEvents {
  emit(event: string, ...args: unknown[]): void;
  allocated(reason: AllocationReason): void;
}

/** Reason why the number of workers has changed; `share`: this process got more or fewer CPUs in its cluster. */
export type AllocationReason = 'load' | 'idle' | 'memory' | 'cores' | 'crash' | 'recycle' | 'share';

/**
 * Event `allocation` of a pool: the number of its workers changed, or of those that may have tasks, or throttling began or
 * ended.
 */
export interface Allocation {
  /** Time of day in ms, as `Date.now()`. */
  readonly at: number;
  /**
   * Reason of the event. `load`: a worker was added for waiting tasks; `idle`: an idle one was removed; `memory`: the
   * throttle; `cores`: other programs leave more or fewer cores idle; `crash`: one ended unexpectedly; `recycle`: one was
   * replaced, or ended to stop its task; `share`: the process may use more or fewer CPUs.
   */
  readonly reason: AllocationReason;
  /** Workers now. */
  readonly workers: number;
  readonly maxThreads: number;
  /** Waiting tasks. */
  readonly queued: number;
  /** Running tasks. */
  readonly running: number;
  /**
   * Limit on the workers with tasks because other programs use the cores; null while enough are idle, and without
   * `idleCores`.
   */
  readonly coreLimit: number | null;
  readonly memory: {
    /** Memory that the workers may use, in bytes. */
    readonly reservedBytes: number;
    /** Memory of the container, or of the machine, in bytes. */
    readonly limitBytes: number;
    /** True while memory is short: no more workers, and fewer tasks at a time. */
    readonly throttled: boolean;
  };
}

/** The part of a pool that `logAllocations()` uses. */
export interface AllocationSource {
  on(event: 'allocation', listener: (allocation: Allocation) => void): unknown;
  off(event: 'allocation', listener: (allocation: Allocation) => void): unknown;
}

/**
 * Writes a line for each allocation of a pool. Returns a function that stops it. `log`, by default `console.log`, is called
 * with one string. Throws MILLRACE_E_INVALID_ARGUMENT if it is not a function.
 *
 *     2026-01-31T12:00:00.000Z pool: load, 3 of 4 workers, 120 tasks queued, 3 running, memory reserved 393 of 2048 MB
 */
export function logAllocations(
  pool: AllocationSource,
  log: (line: string) => void = console.log,
): () => void {
  if (typeof log !== 'function') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `logAllocations() takes a function that is given each line, not ${show(log)}`,
    );
  }
  const listener = (allocation: Allocation) => log(line(allocation));
  pool.on('allocation', listener);
  return () => {
    pool.off('allocation', listener);
  };
}

function line(allocation: Allocation): string {
  const { at, reason, workers, maxThreads, queued, running, coreLimit, memory } = allocation;
  const { reservedBytes, limitBytes, throttled } = memory;
  return [
    `${new Date(at).toISOString()} pool: ${reason}`,
    `${workers} of ${maxThreads} workers`,
    `${queued} ${queued === 1 ? 'task' : 'tasks'} queued`,
    `${running} running`,
    `memory reserved ${mebi(reservedBytes)} of ${mebi(limitBytes)} MB${throttled ? ', throttled' : ''}`,
    ...(coreLimit === null ? [] : [`cores for ${coreLimit}`]),
  ].join(', ');
}

const mebi = (bytes: number): number => Math.round(bytes / 2 ** 20);

// ---- errors

const cannotStart = (cause: unknown): MillraceError =>
  new MillraceError(
    'MILLRACE_E_WORKER',
    `workers cannot be started: ${messageOf(cause)}; mend that, and the next task tries again`,
    { cause },
  );

const exited = (code: number): Error => new Error(`worker exited with code: ${code}`);

export const destroyed = (): MillraceError =>
  new MillraceError(
    'MILLRACE_E_CLOSED',
    'Terminating worker thread: the pool is being destroyed; close() would let its tasks end',
  );
