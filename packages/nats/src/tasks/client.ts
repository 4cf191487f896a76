/**
 * The client of durable tasks: stores tasks in a stream, and settles its calls with the results that workers send.
 *
 * The life of a task here: it waits in the send queue, is sent in a message with others, and is stored once the broker has
 * acknowledged that. From then on it outlives this process: nothing here can lose it, and nothing takes it back. The send
 * queue owns `Call.state`.
 *
 * The life of a call of `run()`: its SharedResult stands in `#results` under the task's id until it settles, by
 * - the result or error that a worker sends. Each message of results is confirmed, whether or not somebody waits for them:
 *   until then the worker sends it again, and keeps the task in the stream;
 * - a failure to store the task, or a task of the same id that another client had stored (lost-results.ts);
 * - its signal: an unsent task is dropped, of a sent one the workers are told;
 * - the loss of its result while this client was away (lost-results.ts);
 * - `destroy()`.
 */
import { serialize } from 'node:v8';
import { AbortError, type AbortSource, onAbort, reasonOf } from '@millrace/base/abort';
import { MillraceError } from '@millrace/base/errors';
import { announce } from '@millrace/base/sources';
import { within } from '@millrace/base/timers';
import { atTurnEnd, onceAt } from '@millrace/base/turn';
import { type Arrival, Link } from '../link.js';
import { decodeBatch } from '../wire.js';
import { type ClientContext, ClientCounts, type TaskClientStats } from './context.js';
import { errorOfDuplicate, watchForLostResults } from './lost-results.js';
import {
  checkEnqueue,
  checkRun,
  clientSettings,
  type EnqueueOptions,
  type TaskClientOptions,
  type TaskOptions,
} from './options.js';
import { cancelKey, decodeOutcome, read } from './record.js';
import { type Call, newCall, SendQueue } from './send-queue.js';
import { TaskNames } from './streams.js';

/** Result of `TaskClient.enqueue()`. */
export interface Enqueued {
  /** Id of the task, for logs; generated for a task without one. */
  readonly id: string;
  /** True if a task of the same id was stored within the stream's `duplicateWindow`: this one was not. */
  readonly duplicate: boolean;
}

/** Tasks in one message that says which were aborted: some 300 bytes each, at most. */
const mostCancels = 1000;
const nothing = Buffer.alloc(0);

/**
 * Stores tasks in a stream of a NATS server, from which workers on any machine take them: see {@link TaskWorker}. A task that
 * is stored runs at least once, even if processes end in between. Connects at once, and keeps the process alive until it is
 * closed.
 *
 *     const client = new TaskClient({ broker: 'nats://127.0.0.1:4222', stream: 'thumbnails' });
 *     const { height } = await client.run({ path: 'a.png', width: 400 }, { name: 'thumbnail' });
 */
export class TaskClient<Argument = any, Result = any> {
  readonly #context: ClientContext;
  readonly #queue: SendQueue;
  readonly #results = new Map<string, SharedResult>();
  readonly #cancels: string[] = [];
  #nextId = 0;
  #isClosed = false;
  #closing: Promise<void> | null = null;
  #whenDone: (() => void) | null = null;

  /** Throws MILLRACE_E_INVALID_OPTION. */
  constructor(options: TaskClientOptions) {
    const settings = clientSettings(options);
    const link = new Link(settings.broker, 'tasks');
    const names = new TaskNames(link, settings.stream.name);
    this.#context = { settings, link, names, counts: new ClientCounts() };
    const queue = new SendQueue(this.#context);
    this.#queue = queue;
    queue.onLess = () => this.#checkDone();
    link.subscribe(names.results(link.node), (payload, arrival) => this.#settle(payload, arrival));
    link.subscribe(names.times, (payload) => queue.packer.learn(read(payload)));
    watchForLostResults(
      this.#context,
      () =>
        [...this.#results.values()].flatMap(({ call }) => (call?.state === 'stored' ? call : [])),
      (call, error) => {
        const result = this.#results.get(call.id);
        if (result?.call === call) result.reject(error);
      },
    );
    announce('task-client', this as TaskClient, (client) => client.stats());
  }

  /**
   * Stores a task, and resolves to the result of a worker's function: `fn(task, context)`. The task is cloned at once.
   * Rejects with the function's error of the last attempt, whose `deliveries` counts how many times a worker got it, and with
   *
   * - MILLRACE_E_BROKER when it could not be stored within `storeTimeout`, MILLRACE_E_OVERLOADED when the stream is full, or
   *   `maxQueue` tasks are not stored,
   * - MILLRACE_E_TOO_LARGE when the task or its result does not fit into a message,
   * - MILLRACE_E_DUPLICATE when a task of its `id` was stored before,
   * - MILLRACE_E_RESULT_LOST when it is done, and its result was dropped while this client was away,
   * - MILLRACE_E_ABORTED (an AbortError whose `cause` is the signal's reason), MILLRACE_E_TIMEOUT,
   * - MILLRACE_E_CLOSED after `close()` or `destroy()`, MILLRACE_E_INVALID_OPTION, MILLRACE_E_INVALID_ARGUMENT.
   */
  async run(task: Argument, options: TaskOptions = {}): Promise<Result> {
    checkRun(options);
    const { id, signal = null } = options;
    const same = id === undefined || this.#isClosed ? undefined : this.#results.get(id);
    const result = same ?? this.#request(task, options);
    return result.wait(signal) as Promise<Result>;
  }

  #request(task: unknown, options: TaskOptions): SharedResult {
    const { counts } = this.#context;
    const result = new SharedResult((ended, isFailed) => {
      if (this.#results.get(call.id) === ended) this.#results.delete(call.id);
      counts.completed++;
      if (isFailed) counts.failed++;
      this.#checkDone();
    });
    const call = this.#newCall(task, options, true, {
      onStored: (stored) => {
        if (!stored.isDuplicate) return;
        void errorOfDuplicate(this.#context, call, stored, () => result.isEnded).then(
          (error) => error !== null && result.reject(error),
        );
      },
      onFailed: (error) => result.reject(error),
    });
    result.call = call;
    result.onAbandoned = () => this.#abort(call);
    this.#results.set(call.id, result);
    this.#queue.add(call);
    return result;
  }

  /**
   * Stores a task without waiting for its result. Resolves when the broker has it: from then on it is not lost. Rejects as
   * `run()` does when it cannot be stored.
   */
  async enqueue(task: Argument, options: EnqueueOptions = {}): Promise<Enqueued> {
    checkEnqueue(options);
    return new Promise((resolve, reject) => {
      const call = this.#newCall(task, options, false, {
        // Of a message that was sent more than once nobody can tell who sent the first one; mostly it was this client.
        onStored: ({ isDuplicate, tries }) =>
          resolve({ id: call.id, duplicate: call.hasOwnId && isDuplicate && tries === 1 }),
        onFailed: reject,
      });
      this.#queue.add(call);
    });
  }

  #newCall(
    task: unknown,
    options: TaskOptions,
    isAnswered: boolean,
    listeners: Pick<Call, 'onStored' | 'onFailed'>,
  ): Call {
    if (this.#isClosed) throw closed('was closed before the call');
    this.#queue.checkRoom();
    const id = options.id ?? `${this.#context.link.node}.${(this.#nextId++).toString(36)}`;
    return newCall(this.#context, id, task, options, isAnswered, listeners);
  }

  #abort(call: Call): void {
    if (call.state === 'waiting') {
      this.#queue.remove(call);
      return;
    }
    this.#cancels.push(cancelKey(this.#context.link.node, call.message, call.id));
    this.#cancelSoon();
  }

  readonly #cancelSoon = onceAt(atTurnEnd, () => {
    const { link, names } = this.#context;
    while (this.#cancels.length > 0) {
      try {
        link.publish(names.cancels, serialize(this.#cancels.splice(0, mostCancels)));
      } catch {
        // A broker may take only small messages. A task that is not told of runs to its end; its call has been rejected.
      }
    }
  });

  #settle(payload: Uint8Array, { reply }: Arrival): void {
    const { counts, link } = this.#context;
    const batch = decodeBatch(payload);
    if (batch === null) return;
    for (const record of batch.records) {
      const outcome = decodeOutcome(record);
      const result = outcome === null ? undefined : this.#results.get(outcome.id);
      if (outcome === null || result === undefined) counts.repeated++;
      else if (outcome.isFailed) result.reject(outcome.value);
      else result.resolve(outcome.value);
    }
    if (reply !== undefined) link.publish(reply, nothing);
  }

  // ------------------------------------------------------------------------------------------------ the end

  /**
   * Refuses calls from now on, and waits until the tasks are stored and the calls answered. Rejects with MILLRACE_E_TIMEOUT
   * when that takes longer than `closeTimeout`; then the calls that are left have rejected. With `force` tasks that have not
   * been sent are rejected at once. Idempotent.
   */
  close(options: { force?: boolean } = {}): Promise<void> {
    if (options.force)
      this.#queue.rejectWaiting(() => closed('was closed before the task was sent'));
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Rejects all calls at once with MILLRACE_E_CLOSED, and closes the connection. Stored tasks run all the same. */
  async destroy(): Promise<void> {
    this.#isClosed = true;
    const error = () => closed('was destroyed');
    this.#queue.close(error);
    for (const result of [...this.#results.values()]) result.reject(error());
    await this.#context.link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    const { closeTimeout } = this.#context.settings;
    const done = new Promise<true>((resolve) => (this.#whenDone = () => resolve(true)));
    const isDone = this.#isDone || (await within(closeTimeout, done));
    await this.destroy();
    if (isDone) return;
    throw new MillraceError(
      'MILLRACE_E_TIMEOUT',
      `tasks were still not stored or not answered after the closeTimeout of ${closeTimeout} ms; raise it, or destroy() the client`,
    );
  }

  #checkDone(): void {
    if (this.#isDone) this.#whenDone?.();
  }

  get #isDone(): boolean {
    return this.#queue.size === 0 && this.#results.size === 0;
  }

  // ------------------------------------------------------------------------------------------------ what it knows

  /**
   * Mean time in ms that a function runs at the workers, by its name; null until a worker has reported it. Without a name, of
   * the default function.
   */
  meanMs(name = ''): number | null {
    return this.#queue.packer.meanMs(name);
  }

  /** Returns counters, and the open tasks and calls; plain data. */
  stats(): TaskClientStats {
    const { counts, link, settings } = this.#context;
    const { packed, ...others } = counts;
    const [high, normal, low] = this.#queue.packer.sizes;
    const { size } = this.#queue;
    return {
      ...others,
      queued: { high, normal, low, total: size },
      maxQueue: settings.maxQueue,
      running: Math.max(0, this.#results.size - size),
      meanBatch: counts.messages === 0 ? 0 : packed / counts.messages,
      ...this.#queue.stored,
      link: link.stats(),
    };
  }
}

const closed = (what: string): MillraceError =>
  new MillraceError('MILLRACE_E_CLOSED', `the client of durable tasks ${what}`);

/** The result of a task for one or more callers: calls with one id share it. */
class SharedResult {
  readonly promise: Promise<unknown>;
  call: Call | null = null;
  /** The last caller has aborted its call. */
  onAbandoned: () => void = () => {};
  readonly #onEnd: (result: SharedResult, isFailed: boolean) => void;
  #resolve!: (result: unknown) => void;
  #reject!: (error: unknown) => void;
  #callers = 0;
  #isEnded = false;

  /** `onEnd` is called once, before its promise settles. */
  constructor(onEnd: (result: SharedResult, isFailed: boolean) => void) {
    this.#onEnd = onEnd;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The result for one more caller; a signal ends the wait of its own call, and with the last one that of the task. */
  wait(signal: AbortSource | null): Promise<unknown> {
    this.#callers++;
    if (signal === null) return this.promise;
    return new Promise((resolve, reject) => {
      const unlisten = onAbort(signal, () => {
        const error = new AbortError(reasonOf(signal));
        reject(error);
        if (--this.#callers > 0 || this.#isEnded) return;
        this.onAbandoned();
        this.reject(error);
      });
      this.promise.finally(unlisten).then(resolve, reject);
    });
  }

  resolve(result: unknown): void {
    if (this.#end(false)) this.#resolve(result);
  }

  reject(error: unknown): void {
    if (this.#end(true)) this.#reject(error);
  }

  #end(isFailed: boolean): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#onEnd(this, isFailed);
    return true;
  }
}
