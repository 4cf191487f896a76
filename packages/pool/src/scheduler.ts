/**
 * The life of a task, from `run()` until its promise is settled:
 *
 *     queued ──► in hand ──► sent ──► begun ──► settled
 *        ▲          │          │         │
 *        └──────────┴──────────┴─────────┘  put back, in front
 *
 * - Queued: it is in the run queue, until a worker has room. Tasks of one function leave together (`batchSize`), most of them to
 *   stand at the worker behind others: the message is paid once. What comes in one turn of the loop is sent at its end, except
 *   the first task that a worker could begin at once.
 * - In hand: taken from the queue and not sent. The balancer of a user, and getters of the argument, run now; if they give
 *   it up, that is noted, and it ends when it is sent or put back.
 * - Sent: `task.thread` has it. It is not lost to others: the worker begins it, or this thread takes it back, whoever changes its
 *   word on the board first. It is taken back when it is given up, when another worker has nothing to do (stealing), when it stands
 *   behind a task of unusual length, and when its worker retires or ends.
 * - Begun: it ends by itself. Given up, it is asked to stop, or its worker is ended. If its worker ends, it fails, or is put
 *   back if it may be retried.
 *
 * Exactly one of `#succeed` and `#fail` settles it, once. Only this file moves tasks between these states and changes their
 * counters: `queue.size` + `running` are the tasks for which somebody waits. Workers start and end in `workers.ts`.
 */
import { AbortError, type AbortSource, reasonOf } from '@millrace/base/abort';
import { Durations } from '@millrace/base/durations';
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import { afterMicrotasks, atTurnEnd, nextMicrotask, onceAt } from '@millrace/base/turn';
import type { LoadBalancer, Settings } from './options.js';
import { ENDED, type Failure, type Reply } from './protocol.cjs';
import type { RunQueue } from './queue.js';
import { finite, type PoolStats, type RunningTask, timesOf } from './stats.js';
import {
  batchSize,
  failureOf,
  full,
  type PoolFunction,
  replyMs,
  type Task,
  taskNotClonable,
  timedOut,
  workerEnded,
} from './task.js';
import type { Thread } from './thread.js';
import { destroyed, type SchedulerEvents, type TaskOwner, Workers } from './workers.js';

/** The number of a task in hand. */
const inHand = -1;
/** Calls that share a look at the clock, within a turn. */
const nowUses = 64;
/** Time in ms for which workers get further tasks within one turn of the loop. */
const turnMs = 5;
/** Most sends of a task that may be the reason why a worker ended before beginning it. */
const maxReturns = 3;

/** Counts of the tasks so far. */
class TaskCounts {
  completed = 0;
  failed = 0;
  refused = 0;
  batches = 0;
  batched = 0;
  stolen = 0;
  requeued = 0;
  retried = 0;
  timedOut = 0;
}

export class Scheduler implements TaskOwner {
  readonly queue: RunQueue;
  readonly workers: Workers;
  readonly runTimes: Durations | null;
  readonly waitTimes: Durations | null;
  readonly #settings: Settings;
  readonly #events: SchedulerEvents;
  readonly #counts = new TaskCounts();
  #running = 0;
  /** The workers have all that they can run. */
  #needsDrain = false;
  /** Resolves {@link whenDone}. */
  #done: ((isDone: boolean) => void) | null = null;
  /** Several tasks have just ended: those that come in their place are sent together. */
  #gathering = false;
  #dispatching = false;
  #draining = false;
  /** Times of the first results in this turn of the loop, 0 if there are none, and of the last results. */
  #turnStartMs = 0;
  #lastReplyMs = 0;
  #nowMs = 0;
  #nowUses = 0;
  #stealTimer: NodeJS.Timeout | null = null;

  /** Starts the minimum of workers. Throws what `new Worker()` throws. */
  constructor(settings: Settings, queue: RunQueue, events: SchedulerEvents) {
    this.#settings = settings;
    this.#events = events;
    this.queue = queue;
    this.runTimes = settings.recordTiming ? new Durations() : null;
    this.waitTimes = settings.recordTiming ? new Durations() : null;
    this.workers = new Workers(settings, this, events);
  }

  /** Tasks that were sent, and for which somebody waits. */
  get running(): number {
    return this.#running;
  }

  /** Tasks that no worker has. */
  get queued(): number {
    return this.queue.size;
  }

  get completed(): number {
    return this.#counts.completed;
  }

  get needsDrain(): boolean {
    return this.#needsDrain;
  }

  /** Tasks beyond those that run: they wait here, or in a worker for their turn. */
  get queueSize(): number {
    let size = this.queue.size;
    for (const thread of this.workers.threads) size += thread.ahead;
    return size;
  }

  /** The time in ms; when many calls follow one another, that of a call a moment ago. */
  nowMs(): number {
    if (--this.#nowUses < 0) {
      this.#nowMs = performance.now();
      this.#nowUses = nowUses;
    }
    return this.#nowMs;
  }

  // ------------------------------------------------------------------------------------------------ coming

  /** Takes a task, or refuses it if there is no room. */
  submit(task: Task): void {
    const { maxQueue } = this.#settings;
    if (this.queue.size + this.#running >= maxQueue && !this.#admits()) {
      this.#counts.refused++;
      task.settled = true;
      task.reject(full(maxQueue));
      return;
    }
    this.workers.hope();
    this.queue.push(task);
    // While nothing runs the first does not wait for others: its caller may be about to block this thread.
    const gathers = this.#gathering && this.#running > 0;
    if (!gathers && this.#mayBegin(task)) this.dispatch();
    this.#flushSoon();
  }

  /** Room may have come while nobody looked. */
  #admits(): boolean {
    if (this.#gathering) this.dispatch();
    const { maxQueue } = this.#settings;
    if (this.queueSize < maxQueue) return true;
    if (this.queue.size > 0) return false;
    return this.#threadWithRoom(false) !== null || this.workers.wants(1, null);
  }

  /** Reports whether a task that comes now would begin at once: then it is not kept for the end of the microtasks. */
  #mayBegin(task: Task): boolean {
    if (this.#threadWithRoom(this.#isAlone(task)) !== null) return true;
    return this.workers.wants(this.queue.size, task.fn.meanMs);
  }

  /** Sends what came in this turn at its end, after all microtasks: so calls of a chain of them are all in time. */
  readonly #flushSoon = onceAt(afterMicrotasks, () => this.#flush());

  #flush(): void {
    this.#gathering = false;
    this.#nowUses = 0;
    this.dispatch();
  }

  // ------------------------------------------------------------------------------------------------ going

  /** Sends what waits, as far as there is room. */
  dispatch(): void {
    const { queue, workers } = this;
    if (this.#dispatching || workers.closed) return;
    if (queue.size > 0 && this.#isTurnOver) return;
    const nowMs = performance.now();
    this.#dispatching = true;
    try {
      const { loadBalancer, maxBatch } = this.#settings;
      if (loadBalancer) this.#dispatchByBalancer(loadBalancer, nowMs);
      else {
        if (queue.size > 0) this.#takeBackStuck(nowMs);
        this.#dispatchByRoom(nowMs);
      }
      if (queue.size === 0 && maxBatch !== 1) this.#steal(nowMs);
      workers.growLater();
    } finally {
      this.#dispatching = false;
    }
    this.#checkDrain();
  }

  #dispatchByRoom(nowMs: number): void {
    const { queue, workers } = this;
    while (queue.size > 0 && !this.#stepsBack()) {
      const head = queue.head(nowMs);
      const alone = head !== null && this.#isAlone(head);
      const mayGoAhead = head !== null && !alone && !workers.throttled;
      const thread = this.#threadWithRoom(alone) ?? (mayGoAhead ? this.#threadAhead(head) : null);
      if (thread === null) {
        if (workers.grow(head?.fn.meanMs ?? null)) continue;
        return;
      }
      const tasks = this.#take(nowMs, (first, waiting) =>
        alone || workers.throttled ? 1 : this.#batchFor(thread, first, waiting),
      );
      // A user's queue may have changed its mind.
      if (tasks.length === 0) return;
      if (!thread.admits(this.#isAlone(tasks[0]!))) {
        this.#putBack(tasks);
        if (workers.grow(null)) continue;
        return;
      }
      this.#send(thread, tasks);
    }
  }

  #dispatchByBalancer(balancer: LoadBalancer, nowMs: number): void {
    while (this.queue.size > 0 && !this.#stepsBack()) {
      const [task] = this.#take(nowMs, () => 1);
      if (!task) return;
      let thread: Thread | undefined;
      try {
        const threads = this.workers.threads.filter(({ retiring }) => !retiring);
        const chosen = balancer(task, threads);
        thread = threads.find((each) => each === chosen);
      } catch (error) {
        this.#fail(task, error);
        continue;
      }
      const isUsable = thread && (thread.inFlight > 0 || !this.workers.isFull);
      if (isUsable && thread?.admits(this.#isAlone(task))) {
        this.#send(thread, [task]);
        continue;
      }
      this.#putBack([task]);
      if (!this.workers.grow(null)) return;
    }
  }

  /**
   * Reports whether tasks step back: while memory is short a task begins when no other runs. Cores that are short limit the
   * workers that have tasks: `workers.isFull`.
   */
  #stepsBack(): boolean {
    const isBeside = this.#running > 0;
    this.workers.look(isBeside);
    return this.workers.throttled && isBeside;
  }

  /** Takes tasks out of the queue. Until they are sent or put back they are in hand. */
  #take(nowMs: number, limit: (head: Task, waiting: number) => number): Task[] {
    const tasks = this.queue.take(nowMs, limit, this.#settings.concurrency > 1);
    for (const task of tasks) task.number = inHand;
    return tasks;
  }

  /** Puts tasks back in front of the queue, except those aborted meanwhile. */
  #putBack(tasks: readonly Task[]): void {
    for (const task of tasks) task.number = 0;
    this.queue.putBack(tasks);
    for (const task of tasks) {
      if (!task.extras?.givenUp || task.settled) continue;
      this.queue.remove(task);
      this.#fail(task, task.extras.givenUp(), false);
      this.#checkDrain();
    }
  }

  #send(thread: Thread, tasks: Task[]): void {
    const beganMs = performance.now();
    try {
      const { fn, priority } = tasks[0]!;
      const left = fn.queues[priority].size;
      thread.send(tasks, replyMs(tasks.length, left, this.workers.size));
    } catch (error) {
      // One of them is at fault; the others must not fail with it.
      if (tasks.length > 1) for (const task of tasks) this.#send(thread, [task]);
      else this.#fail(tasks[0]!, taskNotClonable(error), false);
      return;
    }
    tasks[0]!.fn.sent(tasks.length, performance.now() - beganMs);
    this.#running += tasks.length;
    this.#counts.batches++;
    this.#counts.batched += tasks.length;
    let isLimited = false;
    for (const task of tasks) {
      if (task.extras === null) continue;
      isLimited ||= task.extras.timeoutMs > 0;
      if (task.extras.givenUp) this.#end(task, task.extras.givenUp);
    }
    if (isLimited) thread.watchTimeouts();
  }

  // ------------------------------------------------------------------------------------------------ placement

  /** Reports whether no other task may run beside it. */
  #isAlone(task: Task): boolean {
    return this.#settings.concurrency > 1 && task.guarded;
  }

  /** A worker where a task would begin at once; the first of those with the least to do, so that the last ones become idle. */
  #threadWithRoom(alone: boolean): Thread | null {
    let best: Thread | null = null;
    const { threads, isFull } = this.workers;
    for (const thread of threads) {
      if (!thread.hasRoom(alone) || (isFull && thread.inFlight === 0)) continue;
      if (thread.inFlight === 0 && thread.isReady) return thread;
      if (best === null || thread.inFlight < best.inFlight) best = thread;
    }
    return best;
  }

  /**
   * A worker that has all that it can run, and may be sent more of a function. What moves its data to a worker could not be
   * taken back from there: it is not sent ahead.
   */
  #threadAhead({ fn, returns, moves }: Task): Thread | null {
    const { maxBatch } = this.#settings;
    if (maxBatch === 1 || returns > 0 || moves) return null;
    const { threads, isFull } = this.workers;
    for (const thread of threads) {
      if (isFull && thread.inFlight === 0) continue;
      if (!thread.takesAhead(fn) || thread.room < maxBatch) continue;
      if (this.#tasksLeft(thread) > 0) return thread;
    }
    return null;
  }

  /**
   * Returns the number of a function's tasks that a worker gets, given the task whose turn it is and how many wait in its
   * queue.
   */
  #batchFor(thread: Thread, { fn, returns }: Task, waiting: number): number {
    const { concurrency, maxBatch } = this.#settings;
    if (returns > 0) return 1;
    const free = Math.min(concurrency - thread.inFlight, maxBatch);
    if (!thread.isReady) return Math.max(1, free);
    const { meanMs, sendMs } = fn;
    const workers = this.workers.size;
    const size = batchSize({ waiting, workers, meanMs, sendMs, maxBatch });
    return Math.min(Math.max(size, free), thread.room, Math.max(1, this.#tasksLeft(thread)));
  }

  /** Tasks that a worker may still begin before it is replaced; not below 0. */
  #tasksLeft({ done, inFlight }: Thread): number {
    return Math.max(0, this.#settings.maxTasksPerWorker - done - inFlight);
  }

  // ------------------------------------------------------------------------------------------------ stealing

  /** Steals when no task waits: an idle worker gets half of the tasks that another one has not begun. */
  #steal(nowMs: number): void {
    const { threads } = this.workers;
    for (const thief of threads) {
      if (thief.inFlight > 0 || thief.retiring || !thief.isReady) continue;
      const victim = victimOf(threads);
      if (victim === null) return;
      this.workers.look(true);
      if (this.workers.isFull) return;
      if (!victim.holdsUp(nowMs)) {
        // What it has may be done in no time; if not, that shows at the next look.
        this.#stealTimer ??= setTimeout(() => {
          this.#stealTimer = null;
          if (this.queue.size === 0) this.dispatch();
        }, 1).unref();
        return;
      }
      const tasks = this.#stolen(victim.revokeTail(Math.ceil(victim.ahead / 2)));
      if (tasks.length === 0) return;
      for (const batch of byFunction(tasks)) this.#send(thief, batch);
    }
  }

  /**
   * The others have enough to do, and would go on with what came later: what stands behind a task of unusual length waits
   * again, in front. If all are stuck nobody would take it.
   */
  #takeBackStuck(nowMs: number): void {
    const { threads } = this.workers;
    if (threads.every((thread) => thread.ahead === 0)) return;
    const stuck = threads.filter((thread) => thread.isBehindLong(nowMs));
    if (stuck.length === threads.length) return;
    for (const thread of stuck) {
      if (thread.isStuck || thread.ahead === 0) continue;
      const tasks = this.#stolen(thread.revokeStuck());
      if (tasks.length > 0) this.#putBack(tasks);
    }
  }

  #stolen(tasks: Task[]): Task[] {
    this.#running -= tasks.length;
    this.#counts.stolen += tasks.length;
    return tasks;
  }

  // ------------------------------------------------------------------------------------------------ coming back

  /** A worker reports results. */
  reply(thread: Thread, reply: Reply): void {
    const [which, results, failures] = reply;
    const count = results.length;
    const { startedMs, tookMs } = thread.board;
    const settled = thread.settle(reply, count);
    this.#resultsCame();
    let failure = 0;
    let ended = 0;
    let totalMs = 0;
    let fn: PoolFunction | null = null;
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
      if (fn !== task.fn) {
        if (fn !== null && ended > 0) fn.ended(ended, totalMs);
        fn = task.fn;
        ended = 0;
        totalMs = 0;
      }
      ended++;
      totalMs += ranMs;
      this.#running--;
      if (failed) this.#fail(task, failureOf(task.fn, failed), false);
      else this.#succeed(task, results[index]);
    }
    if (fn !== null && ended > 0) fn.ended(ended, totalMs);
    this.workers.worked(thread);
    if (count > 1) this.#gathering = true;
    this.#flushSoon();
    this.dispatch();
    // What others have sent need not wait for its turn of the loop; one message each, so that the loop makes progress.
    if (this.#draining) return;
    this.#draining = true;
    for (const other of [...this.workers.threads])
      if (other !== thread && other.inFlight > 0) other.drain();
    this.#draining = false;
  }

  /**
   * A port hands over what has arrived meanwhile within one turn of the loop. With answers that bring questions, and workers
   * that are quick, that would have no end: after a while the questions wait for the next turn.
   */
  #resultsCame(): void {
    const nowMs = performance.now();
    this.#lastReplyMs = nowMs;
    if (this.#turnStartMs !== 0) return;
    this.#turnStartMs = nowMs;
    atTurnEnd(() => {
      this.#turnStartMs = 0;
      if (this.queue.size > 0) this.dispatch();
    });
  }

  /**
   * Reports whether the turn's time is over. The time in which results came counts: a program that computes after the first of them
   * gets its next call begun.
   */
  get #isTurnOver(): boolean {
    return this.#turnStartMs !== 0 && this.#lastReplyMs - this.#turnStartMs > turnMs;
  }

  #succeed(task: Task, result: unknown): void {
    this.#counts.completed++;
    task.settled = true;
    task.extras?.unlisten?.();
    task.resolve(result as never);
  }

  #fail(task: Task, error: unknown, wasRunning = task.thread !== null): void {
    if (task.settled) return;
    if (wasRunning) this.#running--;
    this.#counts.completed++;
    this.#counts.failed++;
    task.settled = true;
    task.extras?.unlisten?.();
    task.reject(error);
  }

  // ------------------------------------------------------------------------------------------------ given up

  /** Ends a task for its caller, wherever it is. */
  abort(task: Task, signal: AbortSource): void {
    this.#end(task, () => new AbortError(reasonOf(signal)));
  }

  /** Handles a task that has run for longer than its caller allowed. */
  timedOut(task: Task, timeoutMs: number): void {
    this.#counts.timedOut++;
    this.#end(task, () => timedOut(timeoutMs, task.name));
  }

  #end(task: Task, error: () => Error): void {
    if (task.settled) return;
    const { thread, number, extras } = task;
    if (thread === null && number === inHand) {
      if (extras) extras.givenUp = error;
      return;
    }
    if (thread === null) this.queue.remove(task);
    if (thread === null || thread.revoke(task)) {
      this.#fail(task, error(), thread !== null);
      this.#checkDrain();
      return;
    }
    const how = thread.stop(task);
    this.#fail(task, error(), true);
    if (how === 'condemned') thread.kill();
    this.#checkDrain();
  }

  // ------------------------------------------------------------------------------------------------ ends of workers

  takeBack(thread: Thread): void {
    const tasks = thread.revokeTail(thread.live);
    this.#running -= tasks.length;
    if (tasks.length > 0) this.#putBack(tasks);
  }

  /** The first task goes alone from then on if it may be at fault, and not for ever. */
  requeue(thread: Thread, cause: Error, isAtFault: boolean): number {
    const { again, lost } = thread.revokeAll();
    this.#running -= again.length;
    if (isAtFault) for (const task of again) if (thread.isFirst(task.number)) task.returns++;
    const waiting = again.filter((task) => task.returns <= maxReturns);
    for (const task of again) {
      if (task.returns > maxReturns) this.#fail(task, workerEnded(cause, 'unbegun'), false);
    }
    this.#counts.requeued += waiting.length;
    if (waiting.length > 0) this.#putBack(waiting);
    for (const task of lost) this.#fail(task, workerEnded(cause, 'waiting'), true);
    return again.length + lost.length;
  }

  endBegun(thread: Thread, cause: Error): number {
    const begun = thread.takeBegun();
    for (const task of begun) {
      const word = thread.word(task);
      const { extras } = task;
      this.#running--;
      if (extras !== null && extras.retriesLeft > 0 && !task.moves && !this.workers.closed) {
        extras.retriesLeft--;
        task.attempts++;
        this.#counts.retried++;
        this.#putBack([task]);
      } else {
        this.#fail(task, workerEnded(cause, word === ENDED ? 'ended' : 'running'), false);
      }
    }
    return begun.length;
  }

  rejectQueued(error: () => Error): void {
    while (this.queue.size > 0) {
      const tasks = this.queue.take(performance.now(), (_, waiting) => waiting, false);
      if (tasks.length === 0) return;
      for (const task of tasks) this.#fail(task, error());
    }
  }

  // ------------------------------------------------------------------------------------------------ the end

  /** Resolves to true once nothing waits or runs, and to false if that takes longer than `ms`. */
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

  get #isDone(): boolean {
    return this.#running === 0 && this.queue.size === 0;
  }

  /** Tasks have come, or gone: tells when all have ended, and when there is room for further ones. */
  #checkDrain(): void {
    const { concurrency } = this.#settings;
    const { threads, maxThreads, coreLimit } = this.workers;
    if (this.#done !== null && this.#isDone) this.#done(true);
    if (this.#running === 0 && this.queue.size > 0) this.#keepAlive();
    let usage = 0;
    for (const thread of threads) usage += Math.min(concurrency, thread.live);
    const isFull = usage >= Math.min(maxThreads, coreLimit) * concurrency;
    if (isFull === this.#needsDrain) return;
    this.#needsDrain = isFull;
    nextMicrotask(() => this.#events.emit(isFull ? 'needsDrain' : 'drain'));
  }

  /** Keeps the process alive while a caller waits for the end of tasks for whose results no caller waits. */
  #keepAlive(): void {
    for (const thread of this.workers.threads) if (thread.inFlight > 0) thread.worker.ref();
  }

  /** Ends what waits, the tasks among them that workers were sent ahead. Those that a worker has room for count as begun. */
  rejectUnbegun(error: () => Error): void {
    this.rejectQueued(error);
    for (const thread of this.workers.threads) {
      for (const task of thread.revokeTail(thread.ahead)) this.#fail(task, error(), true);
    }
    this.#checkDrain();
  }

  /** Ends everything that waits or runs. */
  async destroy(): Promise<void> {
    this.workers.close();
    if (this.#stealTimer) clearTimeout(this.#stealTimer);
    this.rejectQueued(destroyed);
    for (const thread of [...this.workers.threads]) {
      const { again, lost } = thread.revokeAll();
      for (const task of [...again, ...lost, ...thread.takeBegun()])
        this.#fail(task, destroyed(), true);
      void this.workers.end(thread);
    }
    await Promise.all(this.workers.ending);
    this.#checkDrain();
  }

  // ------------------------------------------------------------------------------------------------ statistics

  stats(): PoolStats {
    const { queue, workers } = this;
    const [high, normal, low] = queue.sizes();
    let ahead = 0;
    let ready = 0;
    let busy = 0;
    const tasks: RunningTask[] = [];
    const nowMs = performance.now();
    for (const thread of workers.threads) {
      ahead += thread.ahead;
      if (thread.isReady) ready++;
      if (thread.inFlight > 0) busy++;
      const task = thread.runningTask(nowMs);
      if (task !== null) tasks.push(task);
    }
    const { completed, failed, refused, batches, batched, ...others } = this.#counts;
    const total = workers.threads.length;
    return {
      queued: { high, normal, low, ahead, total: queue.size + ahead },
      maxQueue: this.#settings.maxQueue,
      running: this.#running - ahead,
      tasks,
      completed,
      failed,
      refused,
      workers: { total, ready, busy, idle: total - busy },
      minThreads: workers.minThreads,
      maxThreads: workers.maxThreads,
      batches,
      meanBatch: batches === 0 ? 0 : batched / batches,
      ...others,
      crashed: workers.crashed,
      throttled: workers.throttled,
      coreLimit: finite(workers.coreLimit),
      waitMs: timesOf(this.waitTimes),
      runMs: timesOf(this.runTimes),
      memory: {
        reservedBytes: workers.reservedBytes,
        limitBytes: workers.memory.look().limitBytes,
      },
    };
  }
}

/** The one with the most that it has not begun. */
function victimOf(threads: readonly Thread[]): Thread | null {
  let victim: Thread | null = null;
  for (const thread of threads) {
    if (thread.ahead > (victim?.ahead ?? 0)) victim = thread;
  }
  return victim;
}

function byFunction(tasks: readonly Task[]): Task[][] {
  const batches: Task[][] = [];
  for (const task of tasks) {
    const last = batches.at(-1);
    if (last && last[0]!.fn === task.fn) last.push(task);
    else batches.push([task]);
  }
  return batches;
}
