/**
 * A worker of durable tasks: takes them from the stream and runs them on a pool. The parts, in the order in which a task
 * passes them: the pullers ask for messages, the runner decides about each, the leases keep it until it is acknowledged, the
 * replies bring results to clients, and the requeue stores again whatever has to run another time or nowhere.
 *
 * Whenever the connection comes up, the streams and consumers are created or checked, and pulling begins; what fails is
 * tried again after a second, until `close()`. If the stream was removed and created anew, leases of the old one are done
 * without acknowledgement.
 */
import { EventEmitter } from 'node:events';
import { serialize } from 'node:v8';
import type { MillraceError } from '@millrace/base/errors';
import { announce } from '@millrace/base/sources';
import { clearInterval, setInterval, setTimeout } from '@millrace/base/timers';
import { throwLater } from '@millrace/base/turn';
import { Pool } from '@millrace/pool';
import { Link } from '../link.js';
import {
  type TaskWorkerEvents,
  type TaskWorkerStats,
  type WorkerContext,
  WorkerCounts,
} from './context.js';
import { Acks, Leases, Requeue } from './leases.js';
import { type TaskWorkerOptions, workerSettings } from './options.js';
import { Pullers } from './puller.js';
import { Replies } from './replies.js';
import { Runner } from './runner.js';
import {
  lagOf,
  openConsumers,
  openStreams,
  type QueueName,
  queueNames,
  type TaskLag,
  TaskNames,
} from './streams.js';

/** Intervals in ms: of mean times sent to clients, and of those of a new function; of requests for the lag. */
const timesMs = 1000;
const newTimesMs = 50;
const lagMs = 5000;
const retryMs = 1000;

/**
 * Takes durable tasks from a stream, from the start until `close()`, and runs them on worker threads of this process: those
 * of the option `pool`, or of a pool of its own. Keeps the process alive.
 *
 *     const worker = new TaskWorker({
 *       broker: 'nats://127.0.0.1:4222', stream: 'thumbnails', filename: new URL('./tasks.js', import.meta.url),
 *     });
 *     process.once('SIGTERM', () => worker.close());
 *     await worker.ready();
 */
export class TaskWorker extends EventEmitter<TaskWorkerEvents> {
  readonly #context: WorkerContext;
  readonly #pool: Pool;
  readonly #acks: Acks;
  readonly #replies: Replies;
  readonly #requeue: Requeue;
  readonly #leases: Leases;
  readonly #runner: Runner;
  readonly #pullers: Pullers;
  /** Rejects when the file of the functions cannot be loaded: its tasks would all become dead letters. */
  readonly #loaded: Promise<void>;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Creation time of the stream. */
  #createdAt: string | null = null;
  #isOpening = false;
  /** Listeners know that the broker is there. */
  #isUp = false;
  #lag: TaskLag | null = null;
  #closing: Promise<void> | null = null;

  /** Throws MILLRACE_E_INVALID_OPTION, and the errors of `new Pool()`. */
  constructor(options: TaskWorkerOptions) {
    super();
    const settings = workerSettings(options);
    const pool = settings.pool ?? ownPool(settings.poolOptions);
    this.#pool = pool;
    const link = new Link(settings.broker, 'tasks');
    const names = new TaskNames(link, settings.stream.name);
    const counts = new WorkerCounts();
    const emit = this.#emit.bind(this) as WorkerContext['emit'];
    const context = { settings, link, names, counts, isClosing: false, emit };
    this.#context = context;
    const acks = new Acks(link);
    this.#acks = acks;
    const replies = new Replies(link, names, settings.replyTimeout);
    this.#replies = replies;
    const requeue = new Requeue(context);
    this.#requeue = requeue;
    requeue.onMissing = () => void this.#open();
    const leases = new Leases(context, acks, requeue);
    this.#leases = leases;
    const runner = new Runner(context, { pool, acks, leases, requeue, replies });
    this.#runner = runner;
    // Until then each of its tasks is a message of its own, which costs two to three times the CPU.
    runner.onNewFunction = () => setTimeout(() => this.#tellTimes(), newTimesMs).unref();
    link.subscribe(names.cancels, (payload) => runner.cancel(payload));
    const pullers = new Pullers(context, pool, leases, (queue, payload, arrival) =>
      runner.arrived(queue, payload, arrival),
    );
    this.#pullers = pullers;
    // Not at once: nats-server 2.9 breaks a stream that is created while its old one is still being removed.
    pullers.onMissing = () => setTimeout(() => void this.#open(), retryMs).unref();
    leases.onRoom = () => pullers.refillSoon();
    link.on('up', () => void this.#open()).on('down', (error) => this.#down(error));
    this.#every(Math.max(200, settings.ackWait / 3), () => leases.working());
    this.#every(timesMs, () => this.#tellTimes());
    this.#every(lagMs, () => void this.#look());
    this.#loaded = pool.checkFile();
    this.#loaded.catch((error) => {
      if (context.isClosing) return;
      this.#emit('down', error);
      void this.close();
    });
    announce('tasks', this as TaskWorker, (worker) => worker.stats());
  }

  /**
   * Resolves when the worker takes tasks. Rejects with MILLRACE_E_BROKER when the broker is absent or the stream has other
   * settings; attempts go on. Rejects with MILLRACE_E_TASK_FILE when the file cannot be loaded or has no function, with
   * MILLRACE_E_WORKER when its thread ended: then it closes.
   */
  async ready(): Promise<this> {
    await this.#loaded;
    await this.#context.link.ready();
    await this.#start();
    return this;
  }

  /** Asks the broker for the lag of all workers of the stream. */
  lag(): Promise<TaskLag> {
    return lagOf(this.#context.link, this.#context.names);
  }

  /** Returns counters, and the tasks and results that it has; plain data. */
  stats(): TaskWorkerStats {
    const held = Object.fromEntries(queueNames.map((queue) => [queue, this.#leases.tasks(queue)]));
    const { pending, confirmed, givenUp } = this.#replies;
    return {
      ...this.#context.counts,
      held: held as Record<QueueName, number>,
      results: { pending, confirmed, givenUp },
      lag: this.#lag,
      pool: this.#pool.stats(),
      link: this.#context.link.stats(),
    };
  }

  /**
   * Takes no more tasks, waits up to `closeTimeout` for running ones, and returns tasks that have not begun to the stream at
   * once. With the option `pool` it waits for all tasks of the pool, and leaves it open. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { link, settings } = this.#context;
    this.#context.isClosing = true;
    this.#pullers.stop();
    // Those that run go on; the promises of the others reject, which gives them back.
    if (settings.pool === null) await this.#pool.close({ force: true });
    else await this.#leases.empty(settings.closeTimeout);
    if (link.state === 'up') await this.#leases.empty(retryMs);
    await this.#replies.drained(Math.min(retryMs, settings.replyTimeout));
    this.#replies.close();
    this.#leases.abandon();
    this.#requeue.close();
    for (const timer of this.#timers) clearInterval(timer);
    this.#acks.close();
    await link.close();
    this.#emit('close');
  }

  // ------------------------------------------------------------------------------------------------ the broker

  /** Begins to pull, once at a time. */
  async #open(): Promise<void> {
    const { link } = this.#context;
    if (this.#isOpening || this.#context.isClosing) return;
    this.#isOpening = true;
    try {
      await this.#start();
    } catch (error) {
      if (this.#context.isClosing) return;
      this.#emit('down', error as MillraceError);
      setTimeout(() => link.state === 'up' && void this.#open(), retryMs).unref();
    } finally {
      this.#isOpening = false;
    }
  }

  async #start(): Promise<void> {
    const { link, names, settings } = this.#context;
    await this.#loaded;
    const { createdAt } = await openStreams(link, names, settings.stream);
    if (this.#createdAt !== null && this.#createdAt !== createdAt) this.#leases.forget();
    this.#createdAt = createdAt;
    await openConsumers(link, names, settings.ackWait);
    await this.#requeue.open();
    if (this.#context.isClosing) return;
    this.#pullers.start();
    if (!this.#isUp) this.#emit('up');
    this.#isUp = true;
  }

  #down(error: MillraceError): void {
    this.#isUp = false;
    this.#emit('down', error);
  }

  #every(ms: number, what: () => void): void {
    this.#timers.push(setInterval(what, ms));
  }

  /** Clients pack tasks by how long their functions run. */
  #tellTimes(): void {
    const { link, names } = this.#context;
    const times = this.#runner.times();
    if (Object.keys(times).length > 0) link.publish(names.times, serialize(times));
  }

  async #look(): Promise<void> {
    if (this.#pullers.isOpen) this.#lag = await this.lag().catch(() => null);
  }

  /** A listener that throws is the application's error, and no reason to stop in the middle of something. */
  #emit<Name extends keyof TaskWorkerEvents>(name: Name, ...args: TaskWorkerEvents[Name]): void {
    try {
      (this as EventEmitter).emit(name, ...args);
    } catch (error) {
      throwLater(error);
    }
  }
}

function ownPool(options: ConstructorParameters<typeof Pool>[0]): Pool {
  const pool = new Pool({ ...options, maxQueue: Number.POSITIVE_INFINITY });
  // Its only error is that tasks ran for longer than closeTimeout, which close() sees by itself.
  pool.on('error', () => {});
  return pool;
}
