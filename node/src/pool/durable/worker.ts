/** A worker of durable tasks: takes them from the broker and runs them on threads. */
import { EventEmitter } from 'node:events';
import { serialize } from 'node:v8';
import { type Arrival, Link } from '../../broker/link.js';
import { decodeBatch, type WireRecord } from '../../broker/wire.js';
import { announce } from '../../core/sources.js';
import { throwLater } from '../../core/throw-later.js';
import { MillraceError } from '../../errors.js';
import { durableSymbol, type PoolOptions } from '../options.js';
import { Pool } from '../pool.js';
import { Acks } from './acks.js';
import { Answers } from './answers.js';
import { Backlog, maxHeldBytes, Soon } from './backlog.js';
import { type Delivery, deliveryOf } from './delivery.js';
import { Held } from './held.js';
import { lagOf, type TaskLag } from './lag.js';
import { type LaneName, lanes, TaskNames } from './names.js';
import { Puller } from './puller.js';
import { Recent } from './recent.js';
import { cancelKey, type DurableTask, read, textOf } from './record.js';
import { errorOf, resultOf, taskOf } from './results.js';
import { Store } from './store.js';
import { openConsumers, openStreams } from './streams.js';
import { type WorkerOptions, type WorkerSettings, workerSettings } from './worker-options.js';
import { type TaskServerStats, WorkerCounts } from './worker-stats.js';

/** What became of a task, for logs. */
export interface TaskEvent {
  readonly id: string;
  /** Of its function; empty for the usual one. */
  readonly name: string;
  /** How often it was delivered, this time included. */
  readonly delivery: number;
  /** What it failed with, in one line. */
  readonly error: string;
}

/** Events of a worker, and what their listeners get. */
export interface TaskServerEvents {
  /** The broker is there, and tasks come. */
  up: [];
  /** It is away, or something is wrong with it; it is tried on. */
  down: [error: MillraceError];
  /** A task has failed and is tried again after so many ms. */
  retry: [task: TaskEvent & { readonly delayMs: number }];
  /** A task has become a dead letter. */
  dead: [task: TaskEvent];
  close: [];
}

const timesMs = 1000;
const lagMs = 5000;
const retryMs = 1000;
const cancelsKept = 10_000;

/** Takes durable tasks from a stream, until `close()`. Made by {@link serveTasks}. */
export class TaskServer extends EventEmitter<TaskServerEvents> {
  readonly #settings: WorkerSettings;
  readonly #pool: Pool;
  readonly #link: Link;
  readonly #names: TaskNames;
  readonly #acks: Acks;
  readonly #answers: Answers;
  readonly #store: Store;
  readonly #pullers = new Map<LaneName, Puller>();
  readonly #backlogs = new Map<LaneName, Backlog>(lanes.map((lane) => [lane, new Backlog()]));
  readonly #soon: Soon;
  readonly #held = new Map<string, Held>();
  /** Messages that were acknowledged of late: the acknowledgement may have been lost. */
  readonly #done = new Recent(10_000);
  readonly #cancelled = new Recent(cancelsKept);
  /** Tasks that are here and may be aborted, by their {@link cancelKey}. */
  readonly #abortable = new Map<string, AbortController>();
  readonly #functions = new Set<string>();
  readonly #counts = new WorkerCounts();
  readonly #timers: NodeJS.Timeout[] = [];
  /** When the stream was made. */
  #createdAt: string | null = null;
  #heldBytes = 0;
  #refillScheduled = false;
  #isOpening = false;
  #isOpen = false;
  /** Listeners know that the broker is there. */
  #isUp = false;
  #lag: TaskLag | null = null;
  #closing: Promise<void> | null = null;
  #whenEmpty: (() => void) | null = null;

  constructor(options: WorkerOptions) {
    super();
    const settings = workerSettings(options);
    this.#settings = settings;
    const poolOptions: PoolOptions = { ...settings.pool, maxQueue: Number.POSITIVE_INFINITY };
    this.#pool = new Pool(Object.assign(poolOptions, { [durableSymbol]: true }));
    this.#soon = new Soon(this.#pool, settings.pool.concurrentTasksPerWorker ?? 1);
    // Its only one is that tasks ran for longer than closeTimeout, which close() sees.
    this.#pool.on('error', () => {});
    this.#link = new Link(settings.broker, 'worker');
    this.#names = new TaskNames(this.#link, settings.stream.name);
    this.#acks = new Acks(this.#link);
    this.#answers = new Answers(this.#link, this.#names, settings.replyTimeout);
    this.#store = new Store(this.#link, this.#names);
    this.#store.onMissing = () => void this.#open();
    this.#link.subscribe(this.#names.cancels, (payload) => this.#cancel(payload));
    for (const lane of lanes) this.#pullers.set(lane, this.#pullerOf(lane));
    this.#link.on('up', () => void this.#open()).on('down', (error) => this.#away(error));
    this.#every(Math.max(200, settings.ackWait / 3), () => this.#working());
    this.#every(timesMs, () => this.#tellTimes());
    this.#every(lagMs, () => void this.#look());
    announce('tasks', this as TaskServer, (server) => server.stats());
  }

  /** Resolves when it takes tasks. Rejects with MILLRACE_E_BROKER: the broker is absent, or the stream is set up otherwise. It is tried on all the same. */
  async ready(): Promise<this> {
    await this.#link.ready();
    await this.#set();
    return this;
  }

  /** How far all workers of the stream are behind; asks the broker. */
  lag(): Promise<TaskLag> {
    return lagOf(this.#link, this.#names);
  }

  /** What it has done, and what it has to do; plain data. */
  stats(): TaskServerStats {
    const held = Object.fromEntries(
      lanes.map((lane) => [lane, this.#backlogs.get(lane)!.tasks]),
    ) as Record<LaneName, number>;
    const { pending, confirmed, givenUp } = this.#answers;
    return {
      ...this.#counts,
      held,
      results: { pending, confirmed, givenUp },
      lag: this.#lag,
      pool: this.#pool.stats(),
      link: this.#link.stats(),
    };
  }

  /** Takes no more tasks, waits for those that run, up to `closeTimeout`, and gives back those that have not begun, at once. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    for (const puller of this.#pullers.values()) puller.stop();
    this.#isOpen = false;
    // Those that run go on; the promises of the others reject, and with them they are returned.
    await this.#pool.close({ force: true });
    if (this.#held.size > 0 && this.#link.state === 'up') {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, retryMs);
        this.#whenEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await this.#answers.drained(Math.min(retryMs, this.#settings.replyTimeout));
    this.#answers.close();
    for (const held of this.#held.values()) this.#acks.nak(held.reply, 0);
    this.#store.close();
    for (const timer of this.#timers) clearInterval(timer);
    this.#acks.close();
    await this.#link.close();
    this.#tell('close');
  }

  // ------------------------------------------------------------------------------------------------ the broker

  #pullerOf(lane: LaneName): Puller {
    const where = { stream: this.#names.stream, consumer: lane };
    const puller = new Puller(this.#link, where, (payload, arrival) =>
      this.#arrived(lane, payload, arrival),
    );
    // Not at once: nats-server 2.9 breaks a stream that is made while its old one is still being removed.
    puller.onMissing = () => setTimeout(() => void this.#open(), retryMs).unref();
    return puller;
  }

  /** Creates what is missing, and begins to pull. Tries again when that fails. */
  async #open(): Promise<void> {
    if (this.#isOpening || this.#closing !== null) return;
    this.#isOpening = true;
    try {
      await this.#set();
    } catch (error) {
      this.#tell('down', error as MillraceError);
      setTimeout(() => this.#link.state === 'up' && void this.#open(), retryMs).unref();
    } finally {
      this.#isOpening = false;
    }
  }

  async #set(): Promise<void> {
    const { stream, ackWait } = this.#settings;
    const { createdAt } = await openStreams(this.#link, this.#names, stream);
    if (this.#createdAt !== null && this.#createdAt !== createdAt) this.#forget();
    this.#createdAt = createdAt;
    await openConsumers(this.#link, this.#names, ackWait);
    await this.#store.open();
    if (this.#closing !== null) return;
    this.#isOpen = true;
    this.#refill();
    if (!this.#isUp) this.#tell('up');
    this.#isUp = true;
  }

  /** Another stream has the place of the one that it has messages of: no acknowledgement of these must meet one of the new ones. */
  #forget(): void {
    for (const held of this.#held.values()) held.reply = '';
    this.#acks.forget();
  }

  #away(error: MillraceError): void {
    this.#isUp = false;
    this.#tell('down', error);
  }

  #every(ms: number, what: () => void): void {
    this.#timers.push(setInterval(what, ms));
  }

  #working(): void {
    for (const { reply } of this.#held.values()) this.#acks.working(reply);
  }

  /** Clients pack tasks by how long their functions run. */
  #tellTimes(): void {
    const times: Record<string, number> = {};
    for (const name of this.#functions) {
      const meanMs = this.#pool.meanMs(name === '' ? null : name);
      if (meanMs !== null) times[name] = meanMs;
    }
    if (Object.keys(times).length > 0) this.#link.publish(this.#names.times, serialize(times));
  }

  async #look(): Promise<void> {
    if (this.#isOpen) this.#lag = await this.lag().catch(() => null);
  }

  /** At the end of a turn in which tasks have ended. */
  #refillSoon(): void {
    if (this.#refillScheduled) return;
    this.#refillScheduled = true;
    setImmediate(() => {
      this.#refillScheduled = false;
      this.#refill();
    });
  }

  #refill(): void {
    if (!this.#isOpen) return;
    const isFull = this.#heldBytes >= maxHeldBytes;
    const most = this.#settings.batch ?? this.#soon.tasks;
    for (const lane of lanes) {
      // What may end a process again runs one at a time, so that it is known what did.
      const limit = lane === 'alone' ? 1 : most;
      this.#pullers.get(lane)!.want(isFull ? 0 : this.#backlogs.get(lane)!.room(limit));
    }
  }

  // ------------------------------------------------------------------------------------------------ messages

  #arrived(lane: LaneName, payload: Uint8Array, { reply, headers }: Arrival): void {
    const delivery = deliveryOf(reply);
    if (delivery === null || reply === undefined) return;
    // Also for one that does not stay, as it has to wait: it has used up what was asked for.
    this.#refillSoon();
    const known = this.#held.get(delivery.key);
    if (known !== undefined) {
      known.reply = reply;
      this.#counts.repeated++;
      return;
    }
    if (this.#done.has(delivery.key)) {
      this.#counts.repeated++;
      this.#acks.ack(reply);
      return;
    }
    const batch = decodeBatch(payload);
    if (batch === null) {
      void this.#unreadable(lane, payload, delivery, reply);
      return;
    }
    const held = new Held(lane, delivery, batch, reply, payload.length, headers);
    if (held.hasToWait) {
      this.#acks.nak(reply, held.delayMs);
      return;
    }
    if (this.#closing !== null) {
      this.#refuse(held);
      return;
    }
    this.#hold(held);
    if (lane === 'alone') this.#runAlone(held);
    else if (held.isSuspect) this.#takeApart(held);
    else this.#run(held);
  }

  /** It was on its way as this worker began to end: stored again it looks to nobody like one that a worker has died of. */
  #refuse(held: Held): void {
    const { records } = held.batch;
    if (held.isSuspect || records.length === 0) {
      this.#acks.nak(held.reply, 0);
      return;
    }
    this.#hold(held);
    held.returned.push(...records);
    this.#counts.returned += records.length;
    void this.#giveBack(held);
  }

  #hold(held: Held): void {
    const tasks = held.batch.records.length;
    this.#held.set(held.delivery.key, held);
    this.#backlogs.get(held.lane)!.arrived(tasks);
    this.#heldBytes += held.bytes;
    this.#counts.messages++;
    this.#counts.tasks += tasks;
    if (tasks === 0) this.#release(held);
  }

  /** One of its tasks is done with: it has run, or is stored elsewhere. */
  #settle(held: Held): void {
    this.#free(held);
    this.#end(held);
  }

  /** There is room for another task. */
  #free(held: Held): void {
    held.counted--;
    this.#backlogs.get(held.lane)!.tasks--;
    this.#refillSoon();
  }

  #end(held: Held): void {
    held.left--;
    if (held.left === held.returned.length) {
      if (held.left > 0) void this.#giveBack(held);
      else this.#release(held);
    }
  }

  #release(held: Held): void {
    this.#acks.ack(held.reply);
    this.#done.add(held.delivery.key);
    this.#drop(held);
  }

  #drop(held: Held): void {
    this.#held.delete(held.delivery.key);
    this.#backlogs.get(held.lane)!.tasks -= held.counted;
    this.#heldBytes -= held.bytes;
    if (this.#held.size === 0) this.#whenEmpty?.();
  }

  /** What no worker has said anything about: each task becomes a message of its own, which runs when nothing else of its kind does. */
  #takeApart(held: Held): void {
    this.#counts.suspects++;
    held.batch.records.forEach((record, index) => {
      void this.#until(() => this.#store.alone(held, record, index)).then((isStored) => {
        if (isStored) this.#settle(held);
      });
    });
  }

  /** Each time that it was delivered before, it was the only one of its kind on a worker that then ended. */
  #runAlone(held: Held): void {
    const crashes = held.delivery.count - 1;
    const task = taskOf(held.batch.records[0]);
    const most = (task?.attempts || this.#settings.attempts) - held.failures;
    if (crashes < most) {
      this.#run(held);
      return;
    }
    const error = new MillraceError(
      'MILLRACE_E_WORKER',
      `the process of the worker ended each of ${crashes} times that the task ran alone`,
    );
    held.batch.records.forEach((record, index) => {
      void this.#bury(held, record, index, 'worker', error);
    });
  }

  #run(held: Held): void {
    held.batch.records.forEach((record, index) => {
      const task = taskOf(record);
      if (task === null) {
        const error = new Error('the task cannot be read; is the client of another version?');
        void this.#bury(held, record, index, 'unreadable', error);
      } else if (task.isAbortable && this.#cancelled.has(keyOf(held, task))) {
        this.#counts.cancelled++;
        this.#settle(held);
      } else void this.#runTask(held, record, index, task);
    });
  }

  async #runTask(held: Held, record: WireRecord, index: number, task: DurableTask): Promise<void> {
    const { id, name, timeoutMs, isAbortable } = task;
    const controller = isAbortable ? new AbortController() : null;
    if (controller !== null) this.#abortable.set(keyOf(held, task), controller);
    let result: unknown;
    try {
      result = await this.#pool.run([id, held.deliveries, task.task], {
        ...(name !== '' && { name }),
        ...(timeoutMs > 0 && { timeout: timeoutMs }),
        ...(controller !== null && { signal: controller.signal }),
        priority: held.priority,
      });
    } catch (error) {
      this.#failed(held, record, index, task, error);
      return;
    } finally {
      if (controller !== null) this.#abortable.delete(keyOf(held, task));
    }
    this.#counts.done++;
    this.#functions.add(name);
    if (task.isAnswered) {
      this.#answer(held, resultOf(id, result, held.deliveries, this.#link.maxPayload));
    } else this.#settle(held);
  }

  #answer(held: Held, record: WireRecord): void {
    let isFree = false;
    // What waits for a client that is away does not keep this worker from others' tasks.
    const away = () => {
      if (!isFree) this.#free(held);
      isFree = true;
    };
    const end = () => {
      away();
      this.#end(held);
    };
    this.#answers.send(held.batch.sender, record, { away, end });
  }

  #answerError(held: Held, task: DurableTask | null, error: unknown): void {
    if (task?.isAnswered) {
      this.#answer(held, errorOf(task.id, error, held.deliveries, this.#link.maxPayload));
    } else this.#settle(held);
  }

  #failed(held: Held, record: WireRecord, index: number, task: DurableTask, error: unknown): void {
    const code = (error as { code?: unknown } | null)?.code;
    if (code === 'MILLRACE_E_CLOSED' && this.#closing !== null) {
      this.#counts.returned++;
      // Only what has not begun looks like an abort. The rest ran for longer than closeTimeout: its delivery counts.
      if ((error as Error).name !== 'AbortError') {
        void this.#until(() => this.#store.again(held, record, index, held.failures, 0)).then(
          (isStored) => isStored && this.#settle(held),
        );
        return;
      }
      held.returned.push(record);
      if (held.left === held.returned.length) void this.#giveBack(held);
      return;
    }
    if (code === 'MILLRACE_E_ABORTED' && this.#cancelled.has(keyOf(held, task))) {
      this.#counts.cancelled++;
      this.#settle(held);
      return;
    }
    this.#counts.failed++;
    // It has run to its end; another time would end like this one.
    if (code === 'MILLRACE_E_BAD_RESULT') {
      this.#answerError(held, task, error);
      return;
    }
    const failures = held.failures + 1;
    if (failures >= (task.attempts || this.#settings.attempts)) {
      void this.#bury(held, record, index, 'failed', error);
      return;
    }
    void this.#again(held, record, index, task, failures, error);
  }

  async #again(
    held: Held,
    record: WireRecord,
    index: number,
    { id, name }: DurableTask,
    failures: number,
    error: unknown,
  ): Promise<void> {
    const delayMs = this.#settings.backoffMs(failures);
    if (!(await this.#until(() => this.#store.again(held, record, index, failures, delayMs))))
      return;
    this.#counts.retried++;
    this.#tell('retry', { id, name, delivery: held.deliveries, error: textOf(error), delayMs });
    this.#settle(held);
  }

  /** Stores a dead letter, and then answers the caller. */
  async #bury(
    held: Held,
    record: WireRecord,
    index: number,
    reason: string,
    error: unknown,
  ): Promise<void> {
    const text = textOf(error);
    if (!(await this.#until(() => this.#store.dead(held, record, index, reason, text)))) return;
    const task = taskOf(record);
    this.#counts.dead++;
    const { id = '', name = '' } = task ?? {};
    this.#tell('dead', { id, name, delivery: held.deliveries, error: text });
    this.#answerError(held, task, error);
  }

  async #unreadable(
    lane: LaneName,
    payload: Uint8Array,
    delivery: Delivery,
    reply: string,
  ): Promise<void> {
    if (!(await this.#until(() => this.#store.unreadable(lane, payload, delivery)))) return;
    this.#counts.dead++;
    this.#acks.ack(reply);
  }

  /** As this worker ends: what has not begun is stored again, or, where that fails, delivered again. */
  async #giveBack(held: Held): Promise<void> {
    try {
      await this.#store.back(held);
      this.#release(held);
    } catch {
      this.#acks.nak(held.reply, 0);
      this.#drop(held);
    }
  }

  /** Tries to store until it works. False if this worker has ended before: then the message is delivered again. */
  async #until(store: () => Promise<unknown>): Promise<boolean> {
    for (;;) {
      try {
        await store();
        return true;
      } catch (error) {
        if (this.#closing !== null) return false;
        this.#tell('down', error as MillraceError);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  #cancel(payload: Uint8Array): void {
    const keys = read(payload);
    if (!Array.isArray(keys)) return;
    for (const key of keys) {
      if (typeof key !== 'string') continue;
      this.#cancelled.add(key);
      this.#abortable.get(key)?.abort();
    }
  }

  /** A listener that throws is the application's error, and no reason to stop in the middle of something. */
  #tell<Name extends keyof TaskServerEvents>(name: Name, ...args: TaskServerEvents[Name]): void {
    try {
      (this as EventEmitter).emit(name, ...args);
    } catch (error) {
      throwLater(error);
    }
  }
}

const keyOf = ({ batch }: Held, { id }: DurableTask) => cancelKey(batch.sender, batch.sequence, id);

/**
 * Takes durable tasks from a stream and runs them on worker threads of this process, until `close()`. Resolves when it takes tasks.
 * Rejects with MILLRACE_E_BROKER when the broker is absent or the stream is set up otherwise, and with
 * MILLRACE_E_INVALID_OPTION.
 *
 *     const worker = await serveTasks({
 *       broker: 'nats://127.0.0.1:4222', stream: 'thumbnails', filename: new URL('./tasks.js', import.meta.url),
 *     });
 *     process.once('SIGTERM', () => worker.close());
 */
export async function serveTasks(options: WorkerOptions): Promise<TaskServer> {
  const server = new TaskServer(options);
  try {
    return await server.ready();
  } catch (error) {
    await server.close();
    throw error;
  }
}
