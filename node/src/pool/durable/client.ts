/** A pool's other half where tasks go to a broker: its calls, and their results. */
import { serialize } from 'node:v8';
import { type Arrival, Link } from '../../broker/link.js';
import { decodeBatch } from '../../broker/wire.js';
import { priorities } from '../../core/intake/priority.js';
import { announce } from '../../core/sources.js';
import { clearTimeout, setTimeout } from '../../core/timers.cjs';
import { atTurnEnd, onceAt } from '../../core/turn.cjs';
import { MillraceError } from '../../errors.js';
import { closed, destroyed } from '../failure.js';
import { isMoved } from '../movable.cjs';
import type { PoolOptions } from '../options.js';
import type { PoolStats } from '../stats.js';
import { type Call, type CallFate, callOf } from './call.js';
import type { ClientContext } from './client-context.js';
import { checkCall, clientSettings, type DurableCall } from './client-options.js';
import { ClientCounts, clientStats } from './client-stats.js';
import { duplicateOf } from './duplicates.js';
import { watchForGivenUp } from './given-up.js';
import { TaskNames } from './names.js';
import { Outbox } from './outbox.js';
import { Pending } from './pending.js';
import { cancelKey, decodeOutcome, read } from './record.js';

/** What `Pool.enqueue()` resolves to. */
export interface Enqueued {
  /** The task's id, for logs; made up for a task without one. */
  readonly id: string;
  /** A task of the same id had been stored within the stream's `duplicateWindow`: this one was not. */
  readonly duplicate: boolean;
}

const nothing = Buffer.alloc(0);

export class DurableClient {
  readonly #context: ClientContext;
  readonly #outbox: Outbox;
  readonly #pending = new Map<string, Pending>();
  readonly #cancels: string[] = [];
  #nextId = 0;
  #isClosed = false;
  #whenDone: (() => void) | null = null;

  /** Throws MILLRACE_E_INVALID_OPTION. */
  constructor(options: PoolOptions) {
    const settings = clientSettings(options);
    const link = new Link(settings.broker, 'tasks');
    const names = new TaskNames(link, settings.stream.name);
    this.#context = { settings, link, names, counts: new ClientCounts() };
    const outbox = new Outbox(this.#context);
    this.#outbox = outbox;
    outbox.onLess = () => this.#checkDone();
    link.subscribe(names.results(link.node), (payload, arrival) => this.#results(payload, arrival));
    link.subscribe(names.times, (payload) => outbox.packer.learn(read(payload)));
    watchForGivenUp(
      this.#context,
      () =>
        [...this.#pending.values()].flatMap(({ call }) => (call?.state === 'stored' ? call : [])),
      (call, error) => {
        const pending = this.#pending.get(call.id);
        if (pending?.call === call) pending.reject(error);
      },
    );
    announce('pool', this as DurableClient, (client) => client.stats());
  }

  run(task: unknown, options: DurableCall): Promise<unknown> {
    checkCall(options);
    const { counts } = this.#context;
    const { id, signal = null } = options;
    const same = id === undefined ? undefined : this.#pending.get(id);
    if (same !== undefined) return same.wait(signal);
    const pending = new Pending((ended, isFailed) => {
      if (this.#pending.get(call.id) === ended) this.#pending.delete(call.id);
      counts.completed++;
      if (isFailed) counts.failed++;
      this.#checkDone();
    });
    const call = this.#callOf(task, options, true, {
      stored: (stored) => {
        if (!stored.isDuplicate) return;
        const isOver = () => pending.isEnded;
        void duplicateOf(this.#context, call, stored, isOver).then(
          (error) => error !== null && pending.reject(error),
        );
      },
      reject: (error) => pending.reject(error),
    });
    pending.call = call;
    pending.onAbandoned = () => this.#abort(call);
    this.#pending.set(call.id, pending);
    this.#outbox.add(call);
    return pending.wait(signal);
  }

  enqueue(task: unknown, options: DurableCall): Promise<Enqueued> {
    checkCall(options);
    return new Promise((resolve, reject) => {
      const call = this.#callOf(task, options, false, {
        // When a message was sent more than once, nobody can tell whose the first one was; mostly it was its own.
        stored: ({ isDuplicate, tries }) =>
          resolve({ id: call.id, duplicate: call.hasOwnId && isDuplicate && tries === 1 }),
        reject,
      });
      this.#outbox.add(call);
    });
  }

  /** Throws for what cannot be taken. */
  #callOf(task: unknown, options: DurableCall, isAnswered: boolean, fate: CallFate): Call {
    if (this.#isClosed) throw closed('queue is being terminated');
    if (isMoved(task)) {
      throw new MillraceError(
        'MILLRACE_E_INVALID_ARGUMENT',
        'what is marked by move() cannot leave the process; give the task as it is, it is copied',
      );
    }
    this.#outbox.checkRoom();
    const id = options.id ?? `${this.#context.link.node}.${(this.#nextId++).toString(36)}`;
    return callOf(this.#context, id, task, options, isAnswered, fate);
  }

  #abort(call: Call): void {
    if (call.state === 'waiting') {
      this.#outbox.remove(call);
      return;
    }
    this.#cancels.push(cancelKey(this.#context.link.node, call.message, call.id));
    this.#cancelSoon();
  }

  readonly #cancelSoon = onceAt(atTurnEnd, () => this.#cancel());

  #cancel(): void {
    const { link, names } = this.#context;
    link.publish(names.cancels, serialize(this.#cancels.splice(0)));
  }

  #results(payload: Uint8Array, { reply }: Arrival): void {
    const { counts, link } = this.#context;
    const batch = decodeBatch(payload);
    if (batch === null) return;
    for (const record of batch.records) {
      const outcome = decodeOutcome(record);
      const pending = outcome === null ? undefined : this.#pending.get(outcome.id);
      if (outcome === null || pending === undefined) counts.repeated++;
      else if (outcome.isFailed) pending.reject(outcome.value);
      else pending.resolve(outcome.value);
    }
    if (reply !== undefined) link.publish(reply, nothing);
  }

  #checkDone(): void {
    if (this.#isDone) this.#whenDone?.();
  }

  get #isDone(): boolean {
    return this.#outbox.size === 0 && this.#pending.size === 0;
  }

  // ------------------------------------------------------------------------------------------------ the pool's

  /** Resolves to true once all tasks are stored, and those that somebody waits for answered; to false if that takes longer. */
  whenDone(ms: number): Promise<boolean> {
    this.#isClosed = true;
    if (this.#isDone) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#whenDone = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  /** Rejects what has not been sent. */
  rejectUnbegun(error: () => Error): void {
    this.#outbox.rejectWaiting(error);
  }

  async destroy(): Promise<void> {
    this.#isClosed = true;
    this.#outbox.close(destroyed);
    for (const pending of [...this.#pending.values()]) pending.reject(destroyed());
    await this.#context.link.close();
  }

  get closeTimeout(): number {
    return this.#context.settings.closeTimeout;
  }

  /** Without the broker, whose URL may hold a password. */
  get options(): Readonly<Record<string, unknown>> {
    const { broker, stream, priority, ...rest } = this.#context.settings;
    return { ...rest, stream: stream.name, priority: priorities[priority] };
  }

  get queueSize(): number {
    return this.#outbox.size;
  }

  get completed(): number {
    return this.#context.counts.completed;
  }

  get needsDrain(): boolean {
    return this.#outbox.isBusy;
  }

  meanMs(name: string): number | null {
    return this.#outbox.packer.meanMs(name);
  }

  stats(): PoolStats {
    const { counts, link, settings } = this.#context;
    return clientStats(counts, {
      sizes: this.#outbox.packer.sizes,
      unstored: this.#outbox.size,
      pending: this.#pending.size,
      maxQueue: settings.maxQueue,
      ...this.#outbox.stats(),
      link: link.stats(),
    });
  }
}
