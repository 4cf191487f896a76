/** A worker of durable tasks: takes them from the broker and runs them on threads. */
import { EventEmitter } from 'node:events';
import { serialize } from 'node:v8';
import { Link } from '../../broker/link.js';
import { announce } from '../../core/sources.js';
import { clearInterval, setInterval, setTimeout } from '../../core/timers.cjs';
import { throwLater } from '../../core/turn.cjs';
import type { MillraceError } from '../../errors.js';
import { durableSymbol, type PoolOptions } from '../options.js';
import { Pool } from '../pool.js';
import { anyFunction } from '../protocol.cjs';
import { Acks } from './acks.js';
import { Answers } from './answers.js';
import { Arrivals } from './arrivals.js';
import { Holding } from './holding.js';
import { lagOf, type TaskLag } from './lag.js';
import { type LaneName, lanes, TaskNames } from './names.js';
import { Outcomes } from './outcomes.js';
import { Pulling } from './pulling.js';
import { Running } from './running.js';
import { Store } from './store.js';
import { openConsumers, openStreams } from './streams.js';
import type { WorkerContext } from './worker-context.js';
import type { TaskServerEvents } from './worker-events.js';
import { type WorkerOptions, workerSettings } from './worker-options.js';
import { type TaskServerStats, WorkerCounts } from './worker-stats.js';

export type { TaskEvent, TaskServerEvents } from './worker-events.js';

const timesMs = 1000;
const lagMs = 5000;
const retryMs = 1000;

/** Takes durable tasks from a stream, until `close()`. Made by {@link serveTasks}. */
export class TaskServer extends EventEmitter<TaskServerEvents> {
  readonly #context: WorkerContext;
  readonly #pool: Pool;
  readonly #acks: Acks;
  readonly #answers: Answers;
  readonly #store: Store;
  readonly #holding: Holding;
  readonly #running: Running;
  readonly #pulling: Pulling;
  /** Rejects when the file of the functions cannot be loaded: its tasks would all become dead letters. */
  readonly #loaded: Promise<void>;
  readonly #timers: NodeJS.Timeout[] = [];
  /** When the stream was made. */
  #createdAt: string | null = null;
  #isOpening = false;
  /** Listeners know that the broker is there. */
  #isUp = false;
  #lag: TaskLag | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: WorkerOptions) {
    super();
    const settings = workerSettings(options);
    const poolOptions: PoolOptions = { ...settings.pool, maxQueue: Number.POSITIVE_INFINITY };
    const pool = new Pool(Object.assign(poolOptions, { [durableSymbol]: true }));
    this.#pool = pool;
    // Its only error is that tasks ran for longer than closeTimeout, which close() sees by itself.
    pool.on('error', () => {});
    this.#loaded = settings.pool.filename == null ? Promise.resolve() : loads(pool);
    this.#loaded.catch(() => {});
    const link = new Link(settings.broker, 'worker');
    const names = new TaskNames(link, settings.stream.name);
    const counts = new WorkerCounts();
    const tell = this.#tell.bind(this) as WorkerContext['tell'];
    const context = { settings, link, names, counts, tell, isClosing: false };
    this.#context = context;
    const acks = new Acks(link);
    this.#acks = acks;
    this.#answers = new Answers(link, names, settings.replyTimeout);
    const store = new Store(context);
    this.#store = store;
    store.onMissing = () => void this.#open();
    const holding = new Holding(context, acks, store);
    this.#holding = holding;
    const outcomes = new Outcomes(context, holding, this.#answers, store);
    const running = new Running(context, pool, holding, outcomes);
    this.#running = running;
    const arrivals = new Arrivals(context, { acks, store, holding, outcomes, running });
    link.subscribe(names.cancels, (payload) => running.cancel(payload));
    this.#pulling = new Pulling(context, pool, holding, (lane, payload, arrival) =>
      arrivals.arrived(lane, payload, arrival),
    );
    // Not at once: nats-server 2.9 breaks a stream that is made while its old one is still being removed.
    this.#pulling.onMissing = () => setTimeout(() => void this.#open(), retryMs).unref();
    holding.onRoom = () => this.#pulling.refillSoon();
    link.on('up', () => void this.#open()).on('down', (error) => this.#away(error));
    this.#every(Math.max(200, settings.ackWait / 3), () => holding.working());
    this.#every(timesMs, () => this.#tellTimes());
    this.#every(lagMs, () => void this.#look());
    announce('tasks', this as TaskServer, (server) => server.stats());
  }

  /** Resolves when it takes tasks. Rejects with MILLRACE_E_BROKER: the broker is absent, or the stream is set up otherwise. It is tried on all the same. With MILLRACE_E_TASK_FILE: the file cannot be loaded, or has no function. */
  async ready(): Promise<this> {
    await this.#loaded;
    await this.#context.link.ready();
    await this.#set();
    return this;
  }

  /** How far all workers of the stream are behind; asks the broker. */
  lag(): Promise<TaskLag> {
    return lagOf(this.#context.link, this.#context.names);
  }

  /** What it has done, and what it has to do; plain data. */
  stats(): TaskServerStats {
    const held = Object.fromEntries(lanes.map((lane) => [lane, this.#holding.tasks(lane)]));
    const { pending, confirmed, givenUp } = this.#answers;
    return {
      ...this.#context.counts,
      held: held as Record<LaneName, number>,
      results: { pending, confirmed, givenUp },
      lag: this.#lag,
      pool: this.#pool.stats(),
      link: this.#context.link.stats(),
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
    const { link, settings } = this.#context;
    this.#context.isClosing = true;
    this.#pulling.stop();
    // Those that run go on; the promises of the others reject, which gives them back.
    await this.#pool.close({ force: true });
    if (link.state === 'up') await this.#holding.empty(retryMs);
    await this.#answers.drained(Math.min(retryMs, settings.replyTimeout));
    this.#answers.close();
    this.#holding.abandon();
    this.#store.close();
    for (const timer of this.#timers) clearInterval(timer);
    this.#acks.close();
    await link.close();
    this.#tell('close');
  }

  // ------------------------------------------------------------------------------------------------ the broker

  /** Creates what is missing, and begins to pull. Tries again when that fails. */
  async #open(): Promise<void> {
    const { link } = this.#context;
    if (this.#isOpening || this.#context.isClosing) return;
    this.#isOpening = true;
    try {
      await this.#set();
    } catch (error) {
      this.#tell('down', error as MillraceError);
      setTimeout(() => link.state === 'up' && void this.#open(), retryMs).unref();
    } finally {
      this.#isOpening = false;
    }
  }

  async #set(): Promise<void> {
    const { link, names, settings } = this.#context;
    await this.#loaded;
    const { createdAt } = await openStreams(link, names, settings.stream);
    if (this.#createdAt !== null && this.#createdAt !== createdAt) this.#holding.forget();
    this.#createdAt = createdAt;
    await openConsumers(link, names, settings.ackWait);
    await this.#store.open();
    if (this.#context.isClosing) return;
    this.#pulling.start();
    if (!this.#isUp) this.#tell('up');
    this.#isUp = true;
  }

  #away(error: MillraceError): void {
    this.#isUp = false;
    this.#tell('down', error);
  }

  #every(ms: number, what: () => void): void {
    this.#timers.push(setInterval(what, ms));
  }

  /** Clients pack tasks by how long their functions run. */
  #tellTimes(): void {
    const { link, names } = this.#context;
    const times = this.#running.times();
    if (Object.keys(times).length > 0) link.publish(names.times, serialize(times));
  }

  async #look(): Promise<void> {
    if (this.#pulling.isOpen) this.#lag = await this.lag().catch(() => null);
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

/**
 * Takes durable tasks from a stream and runs them on worker threads of this process, until `close()`. Resolves when it takes tasks.
 * Rejects with MILLRACE_E_TASK_FILE when the file cannot be loaded or has no function, with MILLRACE_E_BROKER when the broker is
 * absent or the stream is set up otherwise, and with MILLRACE_E_INVALID_OPTION.
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

async function loads(pool: Pool): Promise<void> {
  await pool.run(['', 1, null], { name: anyFunction });
}
