/** What becomes of a task: it comes, waits for its turn, goes to a worker, and its result comes back. */
import { performance } from '../core/timers.cjs';
import { afterMicrotasks, nextMicrotask, onceAt } from '../core/turn.cjs';
import { AbortError, type AbortSource, reasonOf } from './abort.js';
import { replyMs } from './batch-size.js';
import { Cancellation } from './cancellation.js';
import type { Counts } from './counts.js';
import { Drain } from './drain.js';
import { Durations } from './durations.js';
import { Endings } from './endings.js';
import type { SchedulerEvents } from './events.js';
import { destroyed, failureOf, full, taskNotClonable } from './failure.js';
import { Fleet, type FleetEvents } from './fleet.js';
import { Growth } from './growth.js';
import { OpenTasks } from './open-tasks.js';
import type { Settings } from './options.js';
import { Placing } from './placing.js';
import type { Failure, Reply } from './protocol.cjs';
import { Replacements } from './replacements.js';
import { Stealing } from './stealing.js';
import type { PoolFunction, Task } from './task.js';
import type { Thread } from './thread.js';
import { Throttle } from './throttle.js';
import { Turn } from './turn.js';
import type { LoadBalancer } from './user-queue.js';
import type { Waiting } from './waiting.js';

/** Calls that share a look at the clock, within a turn. */
const nowUses = 64;

export class Scheduler {
  readonly #settings: Settings;
  readonly #events: SchedulerEvents;
  readonly fleet: Fleet;
  readonly waiting: Waiting;
  readonly counts: Counts;
  readonly runTimes: Durations | null;
  readonly waitTimes: Durations | null;
  readonly #tasks: OpenTasks;
  readonly #placing: Placing;
  readonly #stealing: Stealing;
  readonly #growth: Growth;
  readonly #throttle: Throttle;
  readonly #turn: Turn;
  readonly #drain: Drain;
  readonly #endings: Endings;
  readonly #cancellation: Cancellation;
  readonly #replacements: Replacements;
  #starting = true;
  /** Several tasks have just ended: those that come in their place are sent together. */
  #gathering = false;
  #dispatching = false;
  #draining = false;
  #nowMs = 0;
  #nowUses = 0;

  constructor(settings: Settings, waiting: Waiting, events: SchedulerEvents) {
    this.#settings = settings;
    this.#events = events;
    this.waiting = waiting;
    this.runTimes = settings.recordTiming ? new Durations() : null;
    this.waitTimes = settings.recordTiming ? new Durations() : null;
    const fleet = new Fleet(settings, this.#fleetEvents());
    const tasks = new OpenTasks(waiting, settings.concurrency > 1, () => this.#drain.check());
    const send = (thread: Thread, batch: Task[]) => this.#send(thread, batch);
    const dispatch = () => this.#dispatch();
    const growth = new Growth(settings, fleet, tasks, dispatch);
    this.fleet = fleet;
    this.counts = tasks.counts;
    this.#tasks = tasks;
    this.#growth = growth;
    this.#placing = new Placing(settings, fleet);
    this.#stealing = new Stealing(fleet, tasks, send, dispatch);
    this.#throttle = new Throttle(fleet, events, dispatch);
    this.#turn = new Turn(() => {
      if (waiting.size > 0) this.#dispatch();
    });
    this.#drain = new Drain(settings.concurrency, fleet, tasks, events);
    this.#endings = new Endings(settings, fleet, tasks, growth, events, dispatch);
    this.#cancellation = new Cancellation(settings.abortGrace, tasks, this.#drain, this.#endings);
    this.#replacements = new Replacements(settings, fleet, tasks, growth, events, dispatch);
    fleet.startMinimum(null);
    this.#starting = false;
  }

  #fleetEvents(): FleetEvents {
    const { emit } = this.#events;
    return {
      ready: (thread) => this.#ready(thread),
      reply: (thread, reply) => this.#reply(thread, reply),
      message: (value) => emit('message', value),
      broken: (thread, what) => this.#endings.condemn(thread, what === 'tasks'),
      exit: (thread, code) => this.#endings.exit(thread, code),
      created: (thread) => {
        if (!this.#starting) return;
        // The first ones are there before anybody can listen.
        thread.announced = true;
        nextMicrotask(() => emit('workerCreate', thread));
      },
      removed: (thread) => emit('workerDestroy', thread),
      allocated: (reason) => this.#events.allocated(reason),
    };
  }

  /** Tasks that were sent, and for which somebody waits. */
  get running(): number {
    return this.#tasks.running;
  }

  get throttled(): boolean {
    return this.#throttle.throttled;
  }

  get needsDrain(): boolean {
    return this.#drain.needsDrain;
  }

  /** Tasks beyond those that run: they wait here, or in a worker for their turn. */
  get maxQueue(): number {
    return this.#settings.maxQueue;
  }

  get queueSize(): number {
    let size = this.waiting.size;
    for (const thread of this.fleet.threads) size += thread.ahead;
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
    if (this.waiting.size + this.#tasks.running >= maxQueue && !this.#admits()) {
      this.counts.refused++;
      task.settled = true;
      task.reject(full(maxQueue));
      return;
    }
    this.fleet.hope();
    this.waiting.push(task);
    // While nothing runs the first does not wait for others: its caller may be about to block this thread.
    const gathers = this.#gathering && this.#tasks.running > 0;
    if (!gathers && this.#mayBegin(task)) this.#dispatch();
    this.#flushSoon();
  }

  /** Room may have come while nobody looked. */
  #admits(): boolean {
    if (this.#gathering) this.#dispatch();
    const { maxQueue } = this.#settings;
    if (this.queueSize < maxQueue) return true;
    if (this.waiting.size > 0) return false;
    return this.#placing.roomy(false) !== null || this.fleet.wants(1, null);
  }

  /** Whether a task that comes now would begin at once: then it is not kept for the end of the microtasks. */
  #mayBegin(task: Task): boolean {
    if (this.#placing.roomy(this.#placing.isAlone(task)) !== null) return true;
    return this.fleet.wants(this.waiting.size, task.of.meanMs);
  }

  /** Sends what came in this turn at its end, after all microtasks: so calls of a chain of them are all in time. */
  readonly #flushSoon = onceAt(afterMicrotasks, () => this.#flush());

  #flush(): void {
    this.#gathering = false;
    this.#nowUses = 0;
    this.#dispatch();
  }

  // ------------------------------------------------------------------------------------------------ going

  #dispatch(): void {
    if (this.#dispatching || this.fleet.closed) return;
    if (this.waiting.size > 0 && this.#turn.isOver) return;
    const nowMs = performance.now();
    this.#dispatching = true;
    try {
      const { loadBalancer, maxBatch } = this.#settings;
      if (loadBalancer) this.#dispatchByBalancer(loadBalancer, nowMs);
      else {
        if (this.waiting.size > 0) this.#stealing.takeBackStuck(nowMs);
        this.#dispatchByRoom(nowMs);
      }
      const isCalm = this.waiting.size === 0 && !this.#throttle.throttled;
      if (isCalm && maxBatch !== 1) this.#stealing.steal(nowMs);
      if (!this.#throttle.throttled) this.#growth.watch();
    } finally {
      this.#dispatching = false;
    }
    this.#drain.check();
  }

  #dispatchByRoom(nowMs: number): void {
    const placing = this.#placing;
    while (this.waiting.size > 0 && !this.#stepsBack()) {
      const head = this.waiting.head(nowMs);
      const alone = head !== null && placing.isAlone(head);
      const mayGoAhead = head !== null && !alone && !this.#throttle.throttled;
      const thread = placing.roomy(alone) ?? (mayGoAhead ? placing.takingAhead(head) : null);
      if (thread === null) {
        if (this.#growth.grow(head?.of.meanMs ?? null)) continue;
        return;
      }
      const tasks = this.#tasks.take(nowMs, (first, waiting) =>
        alone || this.#throttle.throttled ? 1 : placing.batchFor(thread, first, waiting),
      );
      // A user's queue may have changed its mind.
      if (tasks.length === 0) return;
      if (!thread.admits(placing.isAlone(tasks[0]!))) {
        this.#tasks.putBack(tasks);
        if (this.#growth.grow(null)) continue;
        return;
      }
      this.#send(thread, tasks);
    }
  }

  #dispatchByBalancer(balancer: LoadBalancer, nowMs: number): void {
    while (this.waiting.size > 0 && !this.#stepsBack()) {
      const [task] = this.#tasks.take(nowMs, () => 1);
      if (!task) return;
      let thread: Thread | undefined;
      try {
        thread = this.#placing.chosenBy(balancer, task);
      } catch (error) {
        this.#tasks.fail(task, error);
        continue;
      }
      if (thread?.admits(this.#placing.isAlone(task))) {
        this.#send(thread, [task]);
        continue;
      }
      this.#tasks.putBack([task]);
      if (!this.#growth.grow(null)) return;
    }
  }

  /** While memory is short a task begins when no other runs. */
  #stepsBack(): boolean {
    return this.#throttle.look() && this.#tasks.running > 0;
  }

  #send(thread: Thread, tasks: Task[]): void {
    const beganMs = performance.now();
    try {
      const { of, priority } = tasks[0]!;
      const left = of.lanes[priority].size;
      thread.send(tasks, replyMs(tasks.length, left, this.fleet.size));
    } catch (error) {
      // One of them is at fault; the others must not fail with it.
      if (tasks.length > 1) for (const task of tasks) this.#send(thread, [task]);
      else this.#tasks.fail(tasks[0]!, taskNotClonable(error), false);
      return;
    }
    tasks[0]!.of.sent(tasks.length, performance.now() - beganMs);
    this.#tasks.running += tasks.length;
    this.counts.batches++;
    this.counts.batched += tasks.length;
    let isLimited = false;
    for (const task of tasks) {
      if (task.extras === null) continue;
      isLimited ||= task.extras.timeoutMs > 0;
      if (task.extras.givenUp) this.#cancellation.end(task, task.extras.givenUp);
    }
    if (isLimited) this.#cancellation.watch(thread);
  }

  // ------------------------------------------------------------------------------------------------ coming back

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
    this.#turn.resultsCame();
    this.fleet.worked();
    const tasks = this.#tasks;
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
      tasks.running--;
      if (failed) tasks.fail(task, failureOf(task.of, failed), false);
      else tasks.succeed(task, results[index]);
    }
    if (of !== null && ended > 0) of.ended(ended, totalMs);
    if (thread.inFlight === 0) this.fleet.becameIdle(thread);
    this.#replacements.replaceIfDue(thread);
    if (count > 1) this.#gathering = true;
    this.#flushSoon();
    this.#dispatch();
    // What others have sent need not wait for its turn of the loop; one message each, so that the loop makes progress.
    if (this.#draining) return;
    this.#draining = true;
    for (const other of [...this.fleet.threads])
      if (other !== thread && other.inFlight > 0) other.drain();
    this.#draining = false;
  }

  // ------------------------------------------------------------------------------------------------ ending

  /** Ends a task for its caller, wherever it is. */
  abort(task: Task, signal: AbortSource): void {
    this.#cancellation.end(task, () => new AbortError(reasonOf(signal)));
  }

  /** Resolves to true once nothing waits or runs, and to false if that takes longer than `ms`. */
  whenDone(ms: number): Promise<boolean> {
    return this.#drain.whenDone(ms);
  }

  /** Ends everything that waits or runs. */
  async destroy(): Promise<void> {
    this.fleet.close();
    for (const each of [this.#stealing, this.#growth, this.#throttle, this.#cancellation])
      each.close();
    this.#tasks.rejectWaiting(destroyed);
    for (const thread of [...this.fleet.threads]) {
      const { again, lost } = thread.revokeAll();
      for (const task of [...again, ...lost, ...thread.takeBegun()])
        this.#tasks.fail(task, destroyed(), true);
      void this.fleet.end(thread);
    }
    await Promise.all(this.fleet.ending);
    this.#drain.check();
  }

  /** Ends what waits, the tasks among them that workers were sent ahead. Those that a worker has room for count as begun. */
  rejectUnbegun(error: () => Error): void {
    this.#tasks.rejectWaiting(error);
    for (const thread of this.fleet.threads) {
      for (const task of thread.revokeTail(thread.ahead)) this.#tasks.fail(task, error(), true);
    }
    this.#drain.check();
  }

  // ------------------------------------------------------------------------------------------------ workers

  /** Starts workers until there are `count`, as far as there is memory for them; resolves when they are ready. */
  prewarm(count: number): Promise<void> {
    return this.#replacements.prewarm(count);
  }

  /** Starts a worker in place of this one, which gets no more tasks and ends when it has none. Resolves when it has ended. */
  replace(thread: Thread): Promise<void> {
    return this.#replacements.replace(thread);
  }

  resize(minThreads: number, maxThreads: number): void {
    this.fleet.resize(minThreads, maxThreads);
    this.#replacements.requeueRetiring();
    this.#dispatch();
  }
}
