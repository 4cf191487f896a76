/**
 * Worker thread, seen from the main thread: what it was sent, and which of that it has begun.
 *
 * Each task that is sent gets the next number; its place on the board (`protocol.cts`) is the number's low bits, so numbers that are
 * not answered must not meet (`room`). All of them are between `#oldest` and `#next`, except where a long task is left behind:
 * then those after it go round its place. The word at the place decides who has the task: the worker that begins it, or
 * this side that takes it back; whoever changes it from WAITING. `inFlight` counts what was sent and not answered, `live` those
 * of it that somebody still waits for. Only this file changes `task.thread` and, while a worker has the task, `task.number`.
 *
 * It also ends tasks that ran out of time, with one timer for all of them, and workers whose task was asked to stop and did not.
 */
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Transferable as TransferItem,
  Worker,
  type WorkerOptions,
} from 'node:worker_threads';
import { Durations, type DurationsSummary } from '@millrace/base/durations';
import { packageFile } from '@millrace/base/installed';
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import { thisPackage } from './package.cjs';
import {
  type Batch,
  type Board,
  boardOf,
  CONDEMNED,
  ENDED,
  LISTENING,
  maxDefinitions,
  newBoard,
  type Origin,
  placeMask,
  places,
  READY,
  REVOKED,
  type Reply,
  RUNNING,
  STOPPING,
  type Start,
  type Stop,
  WAITING,
} from './protocol.cjs';
import type { RunningTask } from './stats.js';
import { isShort, type PoolFunction, type Task, type TaskThread } from './task.js';

/** Tasks behind one that has run this long, in ms, are given to a worker that has none; so are those that take longer than this together. */
const stuckMs = 0.5;
/** Multiple of the usual time after which the tasks behind a long one go to the next free worker. */
const unusual = 4;

/** Program of a worker. Throws MILLRACE_E_BUNDLED. */
export const workerProgram = (): string =>
  packageFile(thisPackage, 'dist/worker/main.cjs', 'a pool');

/** Worker, as the user's own balancer sees it. */
export interface PoolWorker {
  /** Thread id. */
  readonly id: number;
  /** Tasks of the worker; Infinity while it runs one that can be aborted, beside which no other runs. */
  readonly currentUsage: number;
  readonly isRunningAbortableTask: boolean;
  /** Times of its tasks, with option `workerHistogram`. */
  readonly histogram: DurationsSummary | null;
  readonly terminating: boolean;
  readonly destroyed: boolean;
}

/** Events of a thread for its owner. */
export interface ThreadEvents {
  ready(thread: Thread): void;
  reply(thread: Thread, reply: Reply): void;
  /** Called with a message that its code posted by itself. */
  message(value: unknown): void;
  /** Called if one of the sides cannot read what the other has sent. */
  broken(thread: Thread, what: 'tasks' | 'results'): void;
  /** A task has run for longer than it may. */
  timedOut(task: Task, timeoutMs: number): void;
  /** Called when only its end stops its task. */
  condemned(thread: Thread): void;
  exit(thread: Thread, code: number): void;
}

export interface ThreadOptions {
  readonly worker: WorkerOptions;
  readonly concurrency: number;
  readonly preload: readonly [string, string] | null;
  readonly niceIncrement: number;
  readonly clockOffsetMs: number;
  readonly histogram: boolean;
  readonly abortGrace: number;
}

export class Thread implements PoolWorker, TaskThread {
  readonly worker: Worker;
  readonly board: Board;
  readonly #port: MessagePort;
  readonly #events: ThreadEvents;
  readonly #concurrency: number;
  readonly #graceMs: number;
  /** Tasks by place that were sent and not answered. Null also for tasks taken back or given up. */
  readonly tasks: (Task | null)[] = new Array(places).fill(null);
  readonly #known = new Set<number>();
  readonly durations: Durations | null;
  /** Number of the next task; all that are not answered are between `#oldest` and it, except those left behind. */
  #next = 0;
  #oldest = 0;
  /** Tasks that were sent and not answered, those that nobody waits for included. */
  inFlight = 0;
  /** Tasks among them that were not taken back: it still has to run these. */
  live = 0;
  /** Tasks that it has answered. */
  done = 0;
  /** Unanswered number by place, or -1. */
  readonly #numbers = new Float64Array(places).fill(-1);
  /** A task that runs while a thousand others end keeps its place, and those after it go round it. */
  #leftBehind = false;
  /** The last number of each batch that is not answered, in order. */
  readonly #batchEnds: number[] = [];
  /** True if none of its tasks is a long one. */
  #onlyShort = true;
  /** True if it has a task that runs alone. */
  #exclusive = false;
  /** Numbers of those that were asked to stop, and have not been answered. */
  readonly #stopping = new Set<number>();
  #held = false;
  /** Tasks were taken back from it, and it has not answered since. */
  isStuck = false;
  /** Timer for the first of its tasks that may run for too long. */
  #deadline: NodeJS.Timeout | null = null;
  /** Timers for the tasks that were asked to stop. */
  readonly #graces = new Set<NodeJS.Timeout>();
  isReady = false;
  /** Time of its start, in ms. */
  readonly startedMs: number;
  terminating = false;
  /** True once its thread has ended; its last messages may be unread. Then `destroyed`: they have been read. */
  hasExited = false;
  destroyed = false;
  /** The first thing that went wrong in it. */
  failure: Error | null = null;
  // Kept by `workers.ts`.
  /** Time since which it is idle, in ms. */
  idleSinceMs: number;
  /** Gets no more tasks. */
  retiring = false;
  /** The pool's listeners know of it. */
  announced = false;
  whenReady: (() => void) | null = null;
  /** Promise of its being ready, or replaced. */
  readiness: Promise<void> | null = null;
  replaced: Promise<void> | null = null;

  constructor(options: ThreadOptions, events: ThreadEvents, nowMs: number) {
    this.#events = events;
    this.#concurrency = options.concurrency;
    this.#graceMs = options.abortGrace;
    this.durations = options.histogram ? new Durations() : null;
    this.startedMs = nowMs;
    this.idleSinceMs = nowMs;
    const { port1, port2 } = new MessageChannel();
    const board = newBoard();
    this.board = boardOf(board);
    this.#port = port1;
    this.worker = new Worker(workerProgram(), options.worker);
    const { concurrency, preload, niceIncrement, clockOffsetMs } = options;
    const start: Start = {
      ...{ port: port2, board, concurrency, preload, niceIncrement, clockOffsetMs },
    };
    this.worker.postMessage(start, [port2]);
    // The worker is what keeps the process alive, and only while it has tasks.
    port1.on('message', (message: string | Reply) => this.#received(message));
    port1.on('messageerror', (error: unknown) => this.#resultsLost(error));
    port1.unref();
    this.worker.on('message', (value) => events.message(value));
    this.worker.on('error', (error: Error) => {
      this.failure ??= error;
    });
    this.worker.on('exit', (code) => {
      this.hasExited = true;
      this.retiring = true;
      while (this.drain());
      if (this.#deadline) clearTimeout(this.#deadline);
      this.#clearGraces();
      this.terminating = false;
      this.destroyed = true;
      port1.close();
      events.exit(this, code);
    });
    this.worker.unref();
  }

  get id(): number {
    return this.worker.threadId;
  }

  get isRunningAbortableTask(): boolean {
    return this.inFlight === 1 && this.tasks[this.#oldest & placeMask]?.isAbortable === true;
  }

  get currentUsage(): number {
    return this.isRunningAbortableTask ? Number.POSITIVE_INFINITY : this.live + this.#stopping.size;
  }

  get histogram(): DurationsSummary | null {
    return this.durations === null ? null : this.durations.summary();
  }

  /** Reports whether a task would begin at once. */
  hasRoom(exclusive: boolean): boolean {
    if (this.retiring || this.#exclusive) return false;
    return exclusive ? this.inFlight === 0 : this.inFlight < this.#concurrency && this.room > 0;
  }

  /** Reports whether a task may be sent, whether or not it would begin at once. */
  admits(exclusive: boolean): boolean {
    return !this.#exclusive && this.room > 0 && (!exclusive || this.inFlight === 0);
  }

  /** Reports whether more tasks of a function may be sent while it has all that it can run. */
  takesAhead(fn: PoolFunction): boolean {
    return (
      !this.retiring &&
      !this.#exclusive &&
      this.isReady &&
      !this.isStuck &&
      !this.isStopping &&
      this.#batchEnds.length < 2 &&
      this.#onlyShort &&
      isShort(fn.meanMs)
    );
  }

  /** Places that are free for tasks: numbers of those that are not answered must not meet. */
  get room(): number {
    if (!this.#leftBehind) return places - (this.#next - this.#oldest);
    let free = 0;
    while (free < places && this.#numbers[(this.#next + free) & placeMask]! < 0) free++;
    return free;
  }

  /** Tasks that cannot have begun, as far as is known without looking: those beyond what runs at a time. */
  get ahead(): number {
    return Math.max(0, this.live - Math.max(0, this.#concurrency - this.#stopping.size));
  }

  /** True if it still runs a task for which no caller waits. */
  get isStopping(): boolean {
    return this.#stopping.size > 0;
  }

  /** Sends tasks of one function. Throws what postMessage throws; then nothing was sent. */
  send(tasks: readonly Task[], replyMs: number): void {
    const { fn } = tasks[0]!;
    const { words } = this.board;
    const count = tasks.length;
    const first = this.#next;
    const payload: unknown[] = new Array(count);
    let origins: (number | Origin)[] | null = null;
    let transfers: TransferItem[] | null = null;
    let guarded = false;
    for (let index = 0; index < count; index++) {
      const task = tasks[index]!;
      // The message makes it visible; the worker changes it after that.
      words[(first + index) & placeMask] = WAITING;
      payload[index] = task.task;
      const { origin } = task;
      if (origin !== 0) {
        origins ??= new Array(count).fill(0);
        origins[index] = origin;
      }
      if (task.extras === null) continue;
      guarded ||= task.guarded;
      if (task.moves) {
        transfers ??= [];
        transfers.push(...task.extras.transferList);
      }
    }
    const definition = this.#known.has(fn.id) ? null : ([fn.filename, fn.name] as const);
    const batch: Batch = [first, fn.id, payload, origins, guarded, definition, replyMs];
    if (transfers === null) this.#port.postMessage(batch);
    else this.#port.postMessage(batch, transfers);
    if (definition !== null && this.#known.size === maxDefinitions) this.#known.clear();
    if (definition !== null) this.#known.add(fn.id);
    for (let index = 0; index < count; index++) {
      const task = tasks[index]!;
      task.thread = this;
      task.number = first + index;
      this.tasks[(first + index) & placeMask] = task;
      this.#numbers[(first + index) & placeMask] = first + index;
    }
    if (this.live === 0) this.worker.ref();
    if (this.inFlight === 0) this.#onlyShort = true;
    this.#next += count;
    this.#batchEnds.push(this.#next);
    this.inFlight += count;
    this.live += count;
    this.#leaveBehind();
    // Nothing goes behind a task that may be why a worker has ended.
    if (!isShort(fn.meanMs) || tasks[0]!.returns > 0) this.#onlyShort = false;
    if (guarded && this.#concurrency > 1) this.#exclusive = true;
  }

  /** Tasks that a reply is about, in its order; null for each that nobody waits for. The thread lets go of them. */
  settle([which]: Reply, count: number): (Task | null)[] {
    const settled: (Task | null)[] = new Array(count);
    for (let index = 0; index < count; index++) {
      const number = typeof which === 'number' ? which + index : which[index]!;
      const place = number & placeMask;
      const task = this.tasks[place]!;
      this.#numbers[place] = -1;
      settled[index] = task;
      if (this.#stopping.size > 0) this.#stopping.delete(number);
      if (task !== null) {
        this.tasks[place] = null;
        this.live--;
      }
    }
    this.isStuck = false;
    this.inFlight -= count;
    this.done += count;
    this.#advance();
    if (this.inFlight === 0) this.#exclusive = false;
    if (this.live === 0) this.#unref();
    return settled;
  }

  #advance(): void {
    while (this.#oldest < this.#next && this.#numbers[this.#oldest & placeMask] !== this.#oldest)
      this.#oldest++;
    if (this.inFlight === 0) this.#leftBehind = false;
    this.#leaveBehind();
    while (this.#batchEnds.length > 0 && this.#batchEnds[0]! <= this.#oldest)
      this.#batchEnds.shift();
  }

  #leaveBehind(): void {
    if (!this.#leftBehind && this.#next - this.#oldest < places) return;
    if (this.inFlight === places) return;
    this.#leftBehind = true;
    while (this.#numbers[this.#next & placeMask]! >= 0) this.#next++;
    this.#oldest = Math.max(this.#oldest, this.#next - places);
  }

  /** First number that may be unanswered, up to `#next`. */
  get #start(): number {
    return this.#leftBehind ? this.#next - places : this.#oldest;
  }

  /** Takes a task back if it has not begun. */
  revoke(task: Task): boolean {
    const place = task.number & placeMask;
    const { words } = this.board;
    if (Atomics.compareExchange(words, place, WAITING, REVOKED) !== WAITING) return false;
    this.#giveUp(task);
    return true;
  }

  /** Gives up a task for which no caller waits any more; it may still run. */
  #giveUp(task: Task): void {
    this.tasks[task.number & placeMask] = null;
    if (--this.live === 0) this.#unref();
    task.thread = null;
  }

  /** Somebody waits for it to be ready: that keeps the process alive, as tasks and the wait for its end do. */
  hold(): void {
    this.#held = true;
    this.worker.ref();
  }

  /** Lets the process end: no caller waits for a task of this worker. */
  #unref(): void {
    if (!this.#held && !this.retiring) this.worker.unref();
  }

  /** Takes back up to `count` of the tasks that have not begun, the last first; those that cannot be sent again stay. Oldest first. */
  revokeTail(count: number): Task[] {
    const taken: Task[] = [];
    for (let number = this.#next - 1; number >= this.#start && taken.length < count; number--) {
      const task = this.tasks[number & placeMask];
      if (!task || task.moves) continue;
      if (!this.revoke(task)) break;
      taken.push(task);
    }
    return taken.reverse();
  }

  /** Takes back all that stands behind its task; it gets nothing ahead until it has answered. */
  revokeStuck(): Task[] {
    this.isStuck = true;
    return this.revokeTail(this.ahead);
  }

  /** Takes back all tasks that have not begun: those that can run elsewhere, and those whose data was lost with this worker. */
  revokeAll(): { again: Task[]; lost: Task[] } {
    const again: Task[] = [];
    const lost: Task[] = [];
    for (let number = this.#start; number < this.#next; number++) {
      const task = this.tasks[number & placeMask];
      if (task && this.revoke(task)) (task.moves ? lost : again).push(task);
    }
    return { again, lost };
  }

  /** Takes the tasks that it had begun and for which a caller still waits. The thread releases them. */
  takeBegun(): Task[] {
    const begun: Task[] = [];
    for (let number = this.#start; number < this.#next; number++) {
      const task = this.tasks[number & placeMask];
      if (!task) continue;
      this.#giveUp(task);
      begun.push(task);
    }
    return begun;
  }

  /** The oldest of its tasks that is not over, begun or not; what was given up is not looked at. */
  get current(): Task | null {
    for (const task of this.pending()) if (this.word(task) !== ENDED) return task;
    return null;
  }

  /** Returns the time for which a task of it has run, in ms; 0 if it has not begun. */
  ranMs(task: Task, nowMs: number): number {
    return this.word(task) === WAITING ? 0 : nowMs - this.begunMs(task);
  }

  /** Returns its oldest running task, for statistics; null if it runs none for which a caller waits. */
  runningTask(nowMs: number): RunningTask | null {
    const task = this.current;
    if (task === null || this.word(task) === WAITING) return null;
    const { name, filename, meanMs } = task.fn;
    const systemThread = Atomics.load(this.board.systemThread, 0) || null;
    const ranMs = nowMs - this.begunMs(task);
    return { worker: this.id, systemThread, name, filename, ranMs, meanMs };
  }

  /** Reports whether what it has to begin stands behind a task of unusual length. */
  isBehindLong(nowMs: number): boolean {
    const task = this.current;
    if (task === null) return this.isStopping;
    return this.ranMs(task, nowMs) >= unusual * Math.max(stuckMs, task.fn.meanMs ?? 0);
  }

  /** Reports whether what it has not begun is worth a message to another worker. */
  holdsUp(nowMs: number): boolean {
    if (this.isStopping) return true;
    const task = this.current;
    if (task === null) return false;
    return this.ranMs(task, nowMs) > stuckMs || this.ahead * (task.fn.meanMs ?? 0) > stuckMs;
  }

  word(task: Task): number {
    return Atomics.load(this.board.words, task.number & placeMask);
  }

  /** Returns the time at which a task was begun; only for one that was. */
  begunMs(task: Task): number {
    return this.board.startedMs[task.number & placeMask]!;
  }

  /**
   * Somebody gave up a task that has begun. Asks it to stop, if its function listens; otherwise only the end of this
   * worker stops it.
   */
  stop(task: Task): 'ended' | 'asked' | 'condemned' {
    const place = task.number & placeMask;
    const { words } = this.board;
    const number = task.number;
    this.#giveUp(task);
    // It may begin to listen between two looks.
    for (;;) {
      if (Atomics.compareExchange(words, place, RUNNING, CONDEMNED) === RUNNING) return 'condemned';
      const word = Atomics.compareExchange(words, place, LISTENING, STOPPING);
      if (word === LISTENING) {
        this.#stopping.add(number);
        this.#port.postMessage(number satisfies Stop);
        this.#grace(number);
        return 'asked';
      }
      if (word !== RUNNING) return 'ended';
    }
  }

  /** A task that was asked to stop gets some time to do so. If it has not then, nothing else begins after it. */
  #grace(number: number): void {
    if (this.destroyed) return;
    const timer = setTimeout(() => {
      this.#graces.delete(timer);
      const place = number & placeMask;
      if (this.#numbers[place] !== number) return;
      const { words } = this.board;
      if (Atomics.compareExchange(words, place, STOPPING, CONDEMNED) === STOPPING) this.kill();
    }, this.#graceMs);
    timer.unref();
    this.#graces.add(timer);
  }

  kill(): void {
    this.#events.condemned(this);
  }

  /**
   * Looks at the tasks that have a time limit: those that have begun are due that long after, the others at the earliest that
   * long from now. So one timer is enough, and nobody has to report when a task begins.
   */
  watchTimeouts(): void {
    if (this.destroyed) return;
    const nowMs = performance.now();
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const task of this.pending()) {
      const timeoutMs = task.extras?.timeoutMs ?? 0;
      if (timeoutMs === 0) continue;
      const word = this.word(task);
      if (word === ENDED) continue;
      const hasBegun = word === RUNNING || word === LISTENING;
      const leftMs = (hasBegun ? this.begunMs(task) - nowMs : 0) + timeoutMs;
      if (leftMs > 0) {
        soonestMs = Math.min(soonestMs, leftMs);
        continue;
      }
      this.#events.timedOut(task, timeoutMs);
      if (this.terminating) return;
    }
    if (this.#deadline) clearTimeout(this.#deadline);
    this.#deadline = null;
    if (soonestMs === Number.POSITIVE_INFINITY) return;
    this.#deadline = setTimeout(() => this.watchTimeouts(), Math.ceil(soonestMs));
    this.#deadline.unref();
  }

  #clearGraces(): void {
    for (const timer of this.#graces) clearTimeout(timer);
    this.#graces.clear();
  }

  /** Reports whether it has begun one of the tasks that it has; what was given up is not looked at. */
  get hasBegun(): boolean {
    for (const task of this.pending()) if (this.word(task) !== WAITING) return true;
    return false;
  }

  /** Reports whether a task is in the first batch that it has not finished. */
  isFirst(number: number): boolean {
    return number < (this.#batchEnds[0] ?? 0);
  }

  *pending(): Generator<Task> {
    for (let number = this.#start; number < this.#next; number++) {
      const task = this.tasks[number & placeMask];
      if (task) yield task;
    }
  }

  /** Handles a message that has arrived without waiting for its turn in the loop. False if there is none. */
  drain(): boolean {
    if (this.destroyed) return false;
    let entry: { message: string | Reply } | undefined;
    try {
      entry = receiveMessageOnPort(this.#port);
    } catch (error) {
      this.#resultsLost(error);
      return true;
    }
    if (entry === undefined) return false;
    this.#received(entry.message);
    return true;
  }

  /** Ends the worker; 'exit' follows. */
  terminate(): Promise<number> {
    this.retiring = true;
    this.terminating = true;
    this.#clearGraces();
    this.worker.ref();
    return this.worker.terminate();
  }

  #received(message: string | Reply): void {
    if (typeof message !== 'string') {
      this.#events.reply(this, message);
    } else if (message === READY) {
      this.isReady = true;
      this.#held = false;
      if (this.live === 0) this.#unref();
      this.#events.ready(this);
    } else {
      this.failure ??= new Error(message);
      this.#events.broken(this, 'tasks');
    }
  }

  /** A reply cannot be read, and nobody knows whose it was: the worker is of no use any more. */
  #resultsLost(error: unknown): void {
    this.failure ??= new Error(`results cannot be read: ${error}`, { cause: error });
    this.#events.broken(this, 'results');
  }
}
