/** Who gets which tasks, and what becomes of them. */
import {
  clearTimeout,
  nextTick,
  performance,
  queueMicrotask,
  setImmediate,
  setTimeout,
} from '../core/timers.cjs';
import { AbortError, type AbortSource, reasonOf } from './abort.js';
import type { AllocationReason } from './allocations.js';
import { batchSize, replyMs } from './batch-size.js';
import { ENDED, LISTENING, RUNNING, WAITING } from './board.js';
import { Durations } from './durations.js';
import {
  cannotStart,
  destroyed,
  exited,
  failureOf,
  full,
  taskNotClonable,
  timedOut,
  workerEnded,
} from './failure.js';
import { Fleet, type FleetEvents } from './fleet.js';
import type { PoolFunction } from './function.js';
import type { Settings } from './options.js';
import type { Failure, Reply } from './protocol.js';
import type { Task } from './task.js';
import type { PoolWorker, Thread } from './thread.js';
import type { PoolTask } from './user-queue.js';
import type { Waiting } from './waiting.js';

/**
 * Which worker gets a task; null for none of them: then another starts if there may be more, or the task waits. Workers have
 * `currentUsage`, which says how busy they are.
 */
export type LoadBalancer = (task: PoolTask, workers: PoolWorker[]) => PoolWorker | null;

/** What a pool counts. */
export class Counts {
  completed = 0;
  failed = 0;
  refused = 0;
  batches = 0;
  batched = 0;
  stolen = 0;
  requeued = 0;
  retried = 0;
  timedOut = 0;
  crashed = 0;
}

export interface SchedulerEvents {
  emit(event: string, ...args: unknown[]): void;
  allocated(reason: AllocationReason): void;
}

/** Tasks behind one that has run for so long, in ms, are given to a worker that has none; so are those that need more than this together. */
const stuckMs = 0.5;
/** So many times as long as usual, and what stands behind a task is given to whoever comes next. */
const unusual = 4;
/** A task that may be why a worker has ended before it began it is sent so often again. */
const maxReturns = 3;
/** The number of a task that was taken out of the queue and not sent yet. */
const inHand = -1;
/** Calls that share a look at the clock, within a turn. */
const nowUses = 64;
/** So long, in ms, workers get further tasks in a turn of the loop. */
const turnMs = 5;
/** While memory is short it is looked at so often, in ms. */
const throttleMs = 250;

export class Scheduler {
  readonly #settings: Settings;
  readonly #events: SchedulerEvents;
  readonly waiting: Waiting;
  readonly fleet: Fleet;
  readonly counts = new Counts();
  readonly runTimes: Durations | null;
  readonly waitTimes: Durations | null;
  /** Tasks that were sent, and for which somebody waits. */
  running = 0;
  throttled = false;
  needsDrain = false;
  /** Several tasks have just ended: those that come instead of them are sent together. */
  #gathering = false;
  #flushScheduled = false;
  #dispatching = false;
  #stealTimer: NodeJS.Timeout | null = null;
  #growTimer: NodeJS.Timeout | null = null;
  #throttleTimer: NodeJS.Timeout | null = null;
  readonly #graces = new Set<NodeJS.Timeout>();
  #isDestroyed = false;

  constructor(settings: Settings, waiting: Waiting, events: SchedulerEvents) {
    this.#settings = settings;
    this.#events = events;
    this.waiting = waiting;
    this.runTimes = settings.recordTiming ? new Durations() : null;
    this.waitTimes = settings.recordTiming ? new Durations() : null;
    const { emit } = events;
    const fleetEvents: FleetEvents = {
      ready: (thread) => this.#ready(thread),
      reply: (thread, reply) => this.#reply(thread, reply),
      message: (value) => emit('message', value),
      broken: (thread, what) => this.#condemn(thread, what === 'tasks'),
      exit: (thread, code) => this.#exit(thread, code),
      created: (thread) => {
        if (!this.#starting) return;
        // The first ones are there before anybody can listen.
        thread.announced = true;
        queueMicrotask(() => emit('workerCreate', thread));
      },
      removed: (thread) => emit('workerDestroy', thread),
      allocated: (reason) => events.allocated(reason),
    };
    this.fleet = new Fleet(settings, fleetEvents);
    this.fleet.startMinimum(null);
    this.#starting = false;
  }

  #starting = true;

  /** Tasks beyond those that run: they wait here, or in a worker for their turn. */
  get maxQueue(): number {
    return this.#settings.maxQueue;
  }

  get queueSize(): number {
    let size = this.waiting.size;
    for (const thread of this.fleet.threads) size += thread.ahead;
    return size;
  }

  /** The time in ms; that of a call a moment ago if many follow one another. */
  nowMs(): number {
    if (--this.#nowUses < 0) {
      this.#nowMs = performance.now();
      this.#nowUses = nowUses;
    }
    return this.#nowMs;
  }

  #nowMs = 0;
  #nowUses = 0;

  /** Takes a task, or refuses it if there is no room. */
  submit(task: Task): void {
    const { maxQueue } = this.#settings;
    if (this.waiting.size + this.running >= maxQueue && !this.#admits()) {
      this.counts.refused++;
      task.settled = true;
      task.reject(full(maxQueue));
      return;
    }
    this.fleet.hope();
    this.waiting.push(task);
    // While nothing runs the first does not wait for others: its caller may be about to block this thread.
    const gathers = this.#gathering && this.running > 0;
    if (!gathers && this.#mayBegin(task)) this.#dispatch();
    this.#flushSoon();
  }

  /** Ends a task for its caller, wherever it is. */
  abort(task: Task, signal: AbortSource): void {
    this.#end(task, () => new AbortError(reasonOf(signal)));
  }

  /** Resolves to true once nothing waits or runs, and to false if that takes longer than so many ms. */
  whenDone(ms: number): Promise<boolean> {
    if (this.#isDone) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#done?.(false), ms);
      timer.unref();
      this.#done = (isDone) => {
        clearTimeout(timer);
        this.#done = null;
        resolve(isDone);
      };
    });
  }

  #done: ((isDone: boolean) => void) | null = null;

  get #isDone(): boolean {
    return this.running === 0 && this.waiting.size === 0;
  }

  /** Ends everything that waits or runs. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.fleet.close();
    this.#clearTimers();
    this.#rejectWaiting(destroyed);
    for (const thread of [...this.fleet.threads]) {
      const { again, lost } = thread.revokeAll();
      for (const task of [...again, ...lost, ...thread.takeBegun()])
        this.#fail(task, destroyed(), true);
      void this.fleet.end(thread);
    }
    await Promise.all(this.fleet.ending);
    this.#checkDrain();
  }

  /** Ends what waits, the tasks among them that workers were sent ahead. Those that a worker has room for count as begun. */
  rejectUnbegun(error: () => Error): void {
    this.#rejectWaiting(error);
    for (const thread of this.fleet.threads) {
      for (const task of thread.revokeTail(thread.ahead)) this.#fail(task, error(), true);
    }
    this.#checkDrain();
  }

  /** Starts workers until there are so many, as far as there is memory for them; resolves when they are ready. */
  async prewarm(count: number): Promise<void> {
    while (this.fleet.size < count && !this.fleet.closed && this.fleet.admits()) {
      this.#startNow('load');
    }
    await Promise.all(this.fleet.threads.map((thread) => this.#whenReady(thread)));
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
      if (this.fleet.closed) throw destroyed();
      if (thread.retiring) return;
      const isRoom = this.fleet.admits();
      if (isRoom) await this.#whenReady(this.#startNow('recycle'));
      ended = this.#retire(thread);
    } finally {
      done();
    }
    await ended;
    this.#startMinimum('recycle');
  }

  #replacing: Promise<void> = Promise.resolve();

  #startNow(reason: AllocationReason): Thread {
    try {
      return this.fleet.start(reason);
    } catch (error) {
      throw cannotStart(error);
    }
  }

  resize(minThreads: number, maxThreads: number): void {
    this.fleet.resize(minThreads, maxThreads);
    this.#requeueRetiring();
    this.#dispatch();
  }

  // ------------------------------------------------------------------------------------------------ sending

  /** Room may have come while nobody looked. */
  #admits(): boolean {
    if (this.#gathering) this.#dispatch();
    const { maxQueue } = this.#settings;
    if (this.queueSize < maxQueue) return true;
    if (this.waiting.size > 0) return false;
    return this.#roomy(false) !== null || this.fleet.wants(1, null);
  }

  /** Whether a task that comes now would begin at once: then it is not kept for the end of the microtasks. */
  #mayBegin(task: Task): boolean {
    if (this.#roomy(this.#isAlone(task)) !== null) return true;
    return this.fleet.wants(this.waiting.size, task.of.meanMs);
  }

  /** Whether no other may run beside it. */
  #isAlone(task: Task): boolean {
    return this.#settings.concurrency > 1 && task.guarded;
  }

  /** Sends what came in this turn at its end, after all microtasks: whoever calls in a row of them is in time. */
  #flushSoon(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    queueMicrotask(() => nextTick(() => this.#flush()));
  }

  #flush(): void {
    this.#flushScheduled = false;
    this.#gathering = false;
    this.#nowUses = 0;
    this.#dispatch();
  }

  /**
   * Results have come. A port hands over what has arrived meanwhile within one turn; with answers that bring questions, and
   * workers that are quick, that would have no end: after a while the questions wait for the next turn.
   */
  #resultsCame(): void {
    const nowMs = performance.now();
    this.#lastResultsMs = nowMs;
    if (this.#turnMs !== 0) return;
    this.#turnMs = nowMs;
    setImmediate(() => {
      this.#turnMs = 0;
      if (this.waiting.size > 0) this.#dispatch();
    });
  }

  /** When the first results of this turn came; 0 if none have. When the last results came. */
  #turnMs = 0;
  #lastResultsMs = 0;

  /** What counts is the time in which results came: a program that computes after the first of them gets its next call begun. */
  get #isTurnOver(): boolean {
    return this.#turnMs !== 0 && this.#lastResultsMs - this.#turnMs > turnMs;
  }

  #dispatch(): void {
    if (this.#dispatching || this.#isDestroyed) return;
    if (this.waiting.size > 0 && this.#isTurnOver) return;
    const nowMs = performance.now();
    this.#dispatching = true;
    try {
      if (this.#settings.loadBalancer) this.#dispatchByBalancer(this.#settings.loadBalancer, nowMs);
      else {
        if (this.waiting.size > 0) this.#takeBackStuck(nowMs);
        this.#dispatchByRoom(nowMs);
      }
      if (this.waiting.size === 0 && !this.throttled) this.#steal(nowMs);
    } finally {
      this.#dispatching = false;
    }
    this.#checkDrain();
  }

  /** Takes tasks out of the queue. Until they are sent or put back they are in nobody's hands: see {@link #end}. */
  #take(nowMs: number, limit: (head: Task, waiting: number) => number): Task[] {
    const tasks = this.waiting.take(nowMs, limit, this.#settings.concurrency > 1);
    for (const task of tasks) task.number = inHand;
    return tasks;
  }

  #putBack(tasks: readonly Task[]): void {
    for (const task of tasks) task.number = 0;
    this.waiting.putBack(tasks);
    for (const task of tasks) if (task.extras?.givenUp) this.#end(task, task.extras.givenUp);
  }

  #dispatchByRoom(nowMs: number): void {
    while (this.waiting.size > 0 && !this.#isThrottled()) {
      const head = this.waiting.head(nowMs);
      const alone = head !== null && this.#isAlone(head);
      const thread = this.#roomy(alone) ?? (head && !alone ? this.#takingAhead(head) : null);
      if (thread === null) {
        if (this.#grow(head?.of.meanMs ?? null)) continue;
        return;
      }
      const tasks = this.#take(nowMs, (first, waiting) =>
        this.#batchFor(thread, first, waiting, alone),
      );
      // A queue of the user's may have thought better of it.
      if (tasks.length === 0) return;
      if (!thread.admits(this.#isAlone(tasks[0]!))) {
        this.#putBack(tasks);
        if (this.#grow(null)) continue;
        return;
      }
      this.#send(thread, tasks);
    }
  }

  #batchFor(thread: Thread, { of, returns }: Task, waiting: number, alone: boolean): number {
    const { concurrency, maxBatch } = this.#settings;
    if (alone || this.throttled || returns > 0) return 1;
    const free = Math.min(concurrency - thread.inFlight, maxBatch);
    if (!thread.isReady) return Math.max(1, free);
    const { meanMs, sendMs } = of;
    const workers = this.fleet.size;
    const size = batchSize({ waiting, workers, meanMs, sendMs, maxBatch });
    return Math.min(Math.max(size, free), thread.room, Math.max(1, this.#tasksLeft(thread)));
  }

  #dispatchByBalancer(balancer: LoadBalancer, nowMs: number): void {
    while (this.waiting.size > 0 && !this.#isThrottled()) {
      const [task] = this.#take(nowMs, () => 1);
      if (!task) return;
      const workers = this.fleet.threads.filter((thread) => !thread.retiring);
      let chosen: PoolWorker | null;
      try {
        chosen = balancer(task, workers);
      } catch (error) {
        this.#fail(task, error);
        continue;
      }
      const thread = workers.find((each) => each === chosen);
      if (thread?.admits(this.#isAlone(task))) {
        this.#send(thread, [task]);
        continue;
      }
      this.#putBack([task]);
      if (!this.#grow(null)) return;
    }
  }

  /** A worker where a task would begin at once; the first of those with the least to do, so that the last ones become idle. */
  #roomy(alone: boolean): Thread | null {
    let best: Thread | null = null;
    for (const thread of this.fleet.threads) {
      if (!thread.hasRoom(alone)) continue;
      if (thread.inFlight === 0 && thread.isReady) return thread;
      if (best === null || thread.inFlight < best.inFlight) best = thread;
    }
    return best;
  }

  /** What moves its data to a worker could not be taken back from there: it is not sent ahead. */
  #takingAhead({ of, returns, moves }: Task): Thread | null {
    const { maxBatch } = this.#settings;
    if (maxBatch === 1 || this.throttled || returns > 0 || moves) return null;
    for (const thread of this.fleet.threads) {
      if (!thread.takesAhead(of) || thread.room < maxBatch) continue;
      if (this.#tasksLeft(thread) > 0) return thread;
    }
    return null;
  }

  /** Tasks that a worker may still begin before it is replaced; not below 0. */
  #tasksLeft({ done, inFlight }: Thread): number {
    return Math.max(0, this.#settings.maxTasksPerWorker - done - inFlight);
  }

  #send(thread: Thread, tasks: Task[]): void {
    const beganMs = performance.now();
    try {
      const { of, priority } = tasks[0]!;
      const left = of.lanes[priority].size;
      thread.send(tasks, replyMs(tasks.length, left, this.fleet.size));
    } catch (error) {
      // One of them is at fault, and no other.
      if (tasks.length > 1) for (const task of tasks) this.#send(thread, [task]);
      else this.#fail(tasks[0]!, taskNotClonable(error), false);
      return;
    }
    tasks[0]!.of.sent(tasks.length, performance.now() - beganMs);
    this.running += tasks.length;
    this.counts.batches++;
    this.counts.batched += tasks.length;
    let isLimited = false;
    for (const task of tasks) {
      if (task.extras === null) continue;
      isLimited ||= task.extras.timeoutMs > 0;
      if (task.extras.givenUp) this.#end(task, task.extras.givenUp);
    }
    if (isLimited) this.#watch(thread);
  }

  /** Another worker for what waits. True if there is one now. */
  #grow(meanMs: number | null): boolean {
    const { fleet } = this;
    if (fleet.wants(this.waiting.size, meanMs)) return this.#start('load');
    if (fleet.size === 0 && this.waiting.size > 0 && fleet.isHopeless) return false;
    // Tasks may need longer than they did, or need one another.
    if (fleet.size < fleet.maxThreads && this.#growTimer === null) {
      this.#growTimer = setTimeout(() => {
        this.#growTimer = null;
        if (this.waiting.size === 0) return;
        if (fleet.wants(this.waiting.size, null)) this.#start('load');
        this.#dispatch();
      }, fleet.startMs);
      this.#growTimer.unref();
    }
    return false;
  }

  #start(reason: AllocationReason): boolean {
    try {
      this.fleet.start(reason);
      return true;
    } catch (error) {
      if (this.fleet.size === 0) this.#rejectWaiting(() => cannotStart(error));
      return false;
    }
  }

  /** Whether memory is too short for another task beside one that runs. */
  #isThrottled(): boolean {
    const { throttled } = this.fleet.memory.look();
    if (throttled !== this.throttled) {
      this.throttled = throttled;
      this.#events.allocated('memory');
    }
    if (!throttled) return false;
    if (this.#throttleTimer === null) {
      this.#throttleTimer = setTimeout(() => {
        this.#throttleTimer = null;
        // Also when nothing waits: it is told when it is over.
        this.#isThrottled();
        this.#dispatch();
      }, throttleMs);
      this.#throttleTimer.unref();
    }
    return this.running > 0;
  }

  // ------------------------------------------------------------------------------------------------ stealing

  /** Nothing waits: a worker that has nothing gets half of what another one has not begun. */
  #steal(nowMs: number): void {
    if (this.#settings.maxBatch === 1) return;
    for (const thief of this.fleet.threads) {
      if (thief.inFlight > 0 || thief.retiring || !thief.isReady) continue;
      const victim = this.#victim();
      if (victim === null) return;
      if (!this.#isStuck(victim, nowMs)) {
        // What it has may be done in no time; if not, this is seen then.
        this.#stealTimer ??= setTimeout(() => {
          this.#stealTimer = null;
          if (this.waiting.size === 0) this.#dispatch();
        }, 1).unref();
        return;
      }
      const tasks = victim.revokeTail(Math.ceil(victim.ahead / 2));
      if (tasks.length === 0) return;
      this.running -= tasks.length;
      this.counts.stolen += tasks.length;
      for (const batch of byFunction(tasks)) this.#send(thief, batch);
    }
  }

  /**
   * The others have enough to do, and would go on with what came later: what stands behind a task of unusual length waits
   * again, in front. If all are stuck nobody would take it.
   */
  #takeBackStuck(nowMs: number): void {
    const { threads } = this.fleet;
    if (threads.every((thread) => thread.ahead === 0)) return;
    const stuck = threads.filter((thread) => this.#isBehindLong(thread, nowMs));
    if (stuck.length === threads.length) return;
    for (const thread of stuck) {
      if (thread.isStuck || thread.ahead === 0) continue;
      const tasks = thread.revokeTail(thread.ahead);
      thread.isStuck = true;
      this.running -= tasks.length;
      this.counts.stolen += tasks.length;
      if (tasks.length > 0) this.#putBack(tasks);
    }
  }

  #isBehindLong(thread: Thread, nowMs: number): boolean {
    for (const task of thread.pending()) {
      const word = thread.word(task);
      if (word === ENDED) continue;
      if (word === WAITING) return false;
      const usualMs = Math.max(stuckMs, task.of.meanMs ?? 0);
      return nowMs - thread.begunMs(task) >= unusual * usualMs;
    }
    return thread.isStopping;
  }

  #victim(): Thread | null {
    let victim: Thread | null = null;
    for (const thread of this.fleet.threads) {
      if (thread.ahead > (victim?.ahead ?? 0)) victim = thread;
    }
    return victim;
  }

  #isStuck(thread: Thread, nowMs: number): boolean {
    if (thread.isStopping) return true;
    for (const task of thread.pending()) {
      const word = thread.word(task);
      if (word === ENDED) continue;
      if (word !== WAITING && nowMs - thread.begunMs(task) > stuckMs) return true;
      return thread.ahead * (task.of.meanMs ?? 0) > stuckMs;
    }
    return false;
  }

  // ------------------------------------------------------------------------------------------------ results

  #ready(thread: Thread): void {
    this.fleet.started(thread);
    thread.whenReady?.();
    if (!thread.announced) this.#events.emit('workerCreate', thread);
    thread.announced = true;
    this.#dispatch();
  }

  #reply(thread: Thread, reply: Reply): void {
    const [which, results, failures] = reply;
    const count = results.length;
    const { startedMs, tookMs } = thread.board;
    const settled = thread.settle(reply, count);
    this.#resultsCame();
    this.fleet.worked();
    let failure = 0;
    let ended = 0;
    let totalMs = 0;
    let of: PoolFunction | null = null;
    for (let index = 0; index < count; index++) {
      const failed: Failure | null =
        failures?.[failure]?.[0] === index ? failures[failure++]! : null;
      const task = settled[index]!;
      if (task === null) continue;
      const number = typeof which === 'number' ? which + index : which[index]!;
      const place = number & (tookMs.length - 1);
      const ranMs = tookMs[place]!;
      this.runTimes?.record(ranMs);
      this.waitTimes?.record(startedMs[place]! - task.created);
      thread.durations?.record(ranMs);
      if (of !== task.of) {
        if (of !== null && ended > 0) of.ended(ended, totalMs);
        of = task.of;
        ended = 0;
        totalMs = 0;
      }
      ended++;
      totalMs += ranMs;
      this.running--;
      if (failed) this.#fail(task, failureOf(task.of, failed), false);
      else this.#succeed(task, results[index]);
    }
    if (of !== null && ended > 0) of.ended(ended, totalMs);
    if (thread.inFlight === 0) this.fleet.becameIdle(thread);
    this.#recycle(thread);
    if (count > 1) this.#gathering = true;
    this.#flushSoon();
    this.#dispatch();
    // What others have sent need not wait for its turn of the loop; one message each, so that the loop gets on.
    if (this.#draining) return;
    this.#draining = true;
    for (const other of [...this.fleet.threads])
      if (other !== thread && other.inFlight > 0) other.drain();
    this.#draining = false;
  }

  #draining = false;

  #recycle(thread: Thread): void {
    const { maxTasksPerWorker, maxWorkerAge } = this.#settings;
    const isOld =
      maxWorkerAge < Number.POSITIVE_INFINITY &&
      performance.now() - thread.startedMs >= maxWorkerAge;
    const isDue = isOld || thread.done >= maxTasksPerWorker;
    const isThere = !thread.retiring && this.fleet.threads.includes(thread);
    if (isDue && isThere && thread.replaced === null) {
      this.replace(thread).catch((error) => {
        if (!this.#isDestroyed) this.#events.emit('error', error);
      });
    }
  }

  #succeed(task: Task, result: unknown): void {
    this.counts.completed++;
    task.settled = true;
    task.extras?.unlisten?.();
    task.resolve(result as never);
  }

  #fail(task: Task, error: unknown, wasRunning = task.thread !== null): void {
    if (task.settled) return;
    if (wasRunning) this.running--;
    this.counts.completed++;
    this.counts.failed++;
    task.settled = true;
    task.extras?.unlisten?.();
    task.reject(error);
  }

  #rejectWaiting(error: () => Error): void {
    while (this.waiting.size > 0) {
      const tasks = this.waiting.take(performance.now(), (_, waiting) => waiting, false);
      if (tasks.length === 0) return;
      for (const task of tasks) this.#fail(task, error());
    }
  }

  #checkDrain(): void {
    if (this.#done !== null && this.#isDone) this.#done(true);
    if (this.running === 0 && this.waiting.size > 0) this.#keepAlive();
    const { concurrency } = this.#settings;
    let usage = 0;
    for (const thread of this.fleet.threads) usage += Math.min(concurrency, thread.live);
    const isFull = usage >= this.fleet.maxThreads * concurrency;
    if (isFull === this.needsDrain) return;
    this.needsDrain = isFull;
    queueMicrotask(() => this.#events.emit(isFull ? 'needsDrain' : 'drain'));
  }

  /** What the workers have is nobody's any more, and what waits for its end is somebody's: until then the process lives. */
  #keepAlive(): void {
    for (const thread of this.fleet.threads) if (thread.inFlight > 0) thread.worker.ref();
  }

  // ------------------------------------------------------------------------------------------------ ends

  /** Somebody gave up: the caller's signal, or the time that it had. */
  #end(task: Task, error: () => Error): void {
    if (task.settled) return;
    const { thread, number, extras } = task;
    if (thread === null && number === inHand) {
      // A getter of its argument, or a balancer, has done it: when it is sent or put back.
      if (extras) extras.givenUp = error;
      return;
    }
    if (thread === null) this.waiting.remove(task);
    if (thread === null || thread.revoke(task)) {
      this.#fail(task, error(), thread !== null);
      this.#checkDrain();
      return;
    }
    const how = thread.stop(task);
    this.#fail(task, error(), true);
    if (how === 'condemned') this.#condemn(thread);
    if (how === 'asked') this.#grace(thread, number);
    this.#checkDrain();
  }

  /** What has been asked to stop gets some time to do so. */
  #grace(thread: Thread, number: number): void {
    const timer = setTimeout(() => {
      this.#graces.delete(timer);
      if (thread.condemn(number)) this.#condemn(thread);
    }, this.#settings.abortGrace);
    timer.unref();
    this.#graces.add(timer);
  }

  /** Only the end of the worker ends its task. What it has not begun runs elsewhere. */
  #condemn(thread: Thread, isAtFault = false): void {
    void this.fleet.end(thread);
    this.#requeue(thread, thread.failure ?? exited(1), isAtFault);
    this.#events.allocated('recycle');
    this.#startMinimum('recycle');
    this.#dispatch();
  }

  #exit(thread: Thread, code: number): void {
    const isCrash = this.fleet.remove(thread);
    const cause = thread.failure ?? exited(code);
    const isAtFault = isCrash && this.#isAtFault(thread);
    if (isCrash) this.counts.crashed++;
    if (isCrash && !isAtFault && !thread.hasBegun && thread.done === 0) this.fleet.failed();
    const given = this.#requeue(thread, cause, isAtFault);
    const begun = thread.takeBegun();
    for (const task of begun) this.#begunOn(thread, task, cause);
    if (isCrash) {
      this.#events.allocated('crash');
      this.#startMinimum('crash');
    }
    if (this.#isDestroyed) this.#rejectWaiting(destroyed);
    else if (this.fleet.size === 0 && this.fleet.isHopeless)
      this.#rejectWaiting(() => cannotStart(cause));
    else if (begun.length === 0 && given === 0 && thread.failure !== null && isCrash) {
      this.#events.emit('error', thread.failure);
    }
    this.#dispatch();
  }

  /** Whether what a worker was to begin with may be why it has ended, and not the pool's own file, or nothing that was sent. */
  #isAtFault(thread: Thread): boolean {
    const [first] = thread.pending();
    if (first === undefined || thread.hasBegun) return false;
    return thread.isReady || first.of.filename !== this.#settings.preload?.[0];
  }

  /** `fleet.startMinimum`; what needs a worker that cannot be started is rejected. */
  #startMinimum(reason: AllocationReason): void {
    try {
      this.fleet.startMinimum(reason);
    } catch (error) {
      if (this.fleet.size === 0) this.#rejectWaiting(() => cannotStart(error));
    }
  }

  /**
   * Tasks that a worker will not begin any more wait again, ahead of the others; those that cannot are failed. How many there
   * were. If what it was to begin with may be at fault, that goes alone from then on, and not for ever.
   */
  #requeue(thread: Thread, cause: Error, isAtFault: boolean): number {
    const { again, lost } = thread.revokeAll();
    this.running -= again.length;
    if (isAtFault) for (const task of again) if (thread.isFirst(task.number)) task.returns++;
    const waiting = again.filter((task) => task.returns <= maxReturns);
    for (const task of again) {
      if (task.returns > maxReturns) this.#fail(task, workerEnded(cause, 'unbegun'), false);
    }
    this.counts.requeued += waiting.length;
    if (waiting.length > 0) this.#putBack(waiting);
    for (const task of lost) this.#fail(task, workerEnded(cause, 'waiting'), true);
    return again.length + lost.length;
  }

  /** A task that had begun when its worker ended. It may run again if its caller said so. */
  #begunOn(thread: Thread, task: Task, cause: Error): void {
    const word = thread.word(task);
    const { extras } = task;
    this.running--;
    if (extras !== null && extras.retriesLeft > 0 && !task.moves && !this.#isDestroyed) {
      extras.retriesLeft--;
      task.attempts++;
      this.counts.retried++;
      this.#putBack([task]);
      return;
    }
    this.#fail(task, workerEnded(cause, word === ENDED ? 'ended' : 'running'), false);
  }

  /** Gets no more tasks. What it has not begun waits again. */
  #retire(thread: Thread): Promise<void> {
    const ended = new Promise<void>((resolve) => thread.worker.once('exit', () => resolve()));
    thread.retiring = true;
    if (thread.destroyed) return Promise.resolve();
    this.#events.allocated('recycle');
    this.#requeueRetiring();
    thread.worker.ref();
    if (thread.inFlight === 0) void this.fleet.end(thread);
    this.#dispatch();
    return ended;
  }

  #requeueRetiring(): void {
    for (const thread of this.fleet.threads) {
      if (!thread.retiring) continue;
      const tasks = thread.revokeTail(thread.live);
      this.running -= tasks.length;
      if (tasks.length > 0) this.#putBack(tasks);
    }
  }

  #whenReady(thread: Thread): Promise<void> {
    if (thread.isReady) return Promise.resolve();
    thread.readiness ??= new Promise((resolve, reject) => {
      thread.hold();
      thread.whenReady = resolve;
      thread.worker.once('exit', (code) => {
        reject(this.#isDestroyed ? destroyed() : cannotStart(thread.failure ?? exited(code)));
      });
    });
    return thread.readiness;
  }

  // ------------------------------------------------------------------------------------------------ timeouts

  /**
   * Looks at the tasks of a worker that have a time limit: those that have begun are due that long after, the others at the
   * earliest that long from now. So one timer for each worker is enough, and nobody tells when a task begins.
   */
  #watch(thread: Thread): void {
    if (thread.destroyed) return;
    const nowMs = performance.now();
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const task of thread.pending()) {
      const timeoutMs = task.extras?.timeoutMs ?? 0;
      if (timeoutMs === 0) continue;
      const word = thread.word(task);
      if (word === ENDED) continue;
      const hasBegun = word === RUNNING || word === LISTENING;
      const leftMs = (hasBegun ? thread.begunMs(task) - nowMs : 0) + timeoutMs;
      if (leftMs > 0) {
        soonestMs = Math.min(soonestMs, leftMs);
        continue;
      }
      this.counts.timedOut++;
      this.#end(task, () => timedOut(timeoutMs, task.name));
      if (thread.terminating) return;
    }
    if (thread.deadline) clearTimeout(thread.deadline);
    thread.deadline = null;
    if (soonestMs === Number.POSITIVE_INFINITY) return;
    thread.deadline = setTimeout(() => this.#watch(thread), Math.ceil(soonestMs));
    thread.deadline.unref();
  }

  #clearTimers(): void {
    for (const timer of [this.#stealTimer, this.#growTimer, this.#throttleTimer, ...this.#graces]) {
      if (timer) clearTimeout(timer);
    }
  }
}

function byFunction(tasks: readonly Task[]): Task[][] {
  const batches: Task[][] = [];
  for (const task of tasks) {
    const last = batches.at(-1);
    if (last && last[0]!.of === task.of) last.push(task);
    else batches.push([task]);
  }
  return batches;
}
