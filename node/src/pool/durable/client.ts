/** A pool's other half where tasks go to a broker: stores them, and hears their results. */
import { serialize } from 'node:v8';
import { failure, isLasting } from '../../broker/failure.js';
import { type Arrival, Link } from '../../broker/link.js';
import { token } from '../../broker/subject.js';
import { decodeBatch, encodeBatch } from '../../broker/wire.js';
import { classOf, priorities } from '../../core/intake/priority.js';
import { announce } from '../../core/sources.js';
import { MillraceError, show } from '../../errors.js';
import { closed, destroyed, full, taskNotClonable } from '../failure.js';
import { isMoved } from '../movable.js';
import type { PoolOptions } from '../options.js';
import type { PoolStats } from '../stats.js';
import type { Call } from './call.js';
import {
  type ClientSettings,
  checkCall,
  clientSettings,
  type DurableCall,
} from './client-options.js';
import { ClientCounts, clientStats } from './client-stats.js';
import { headerNames, TaskNames } from './names.js';
import { Packer } from './packer.js';
import { Pending } from './pending.js';
import { Publisher, type Stored } from './publisher.js';
import { cancelKey, decodeOutcome, encodeTask, read } from './record.js';
import { openStreams } from './streams.js';
import { tooLarge } from './too-large.js';

/** What `Pool.enqueue()` resolves to. */
export interface Enqueued {
  /** The task's, for logs; of a task without one it was made up. */
  readonly id: string;
  /** A task of the same id had been stored within the stream's `duplicateWindow`: this one was not. */
  readonly duplicate: boolean;
}

const sweepMs = 250;
const nothing = Buffer.alloc(0);

export class DurableClient {
  readonly #settings: ClientSettings;
  readonly #link: Link;
  readonly #names: TaskNames;
  readonly #packer: Packer;
  readonly #publisher: Publisher;
  readonly #pending = new Map<string, Pending>();
  readonly #cancels: string[] = [];
  readonly #counts = new ClientCounts();
  /** Tasks that the broker has not taken. */
  #unstored = 0;
  #nextId = 0;
  #flushScheduled = false;
  #timer: NodeJS.Timeout | null = null;
  #opening: Promise<void> | null = null;
  #isOpen = false;
  #isClosed = false;
  #failure: MillraceError | null = null;
  #whenDone: (() => void) | null = null;

  /** Throws MILLRACE_E_INVALID_OPTION. */
  constructor(options: PoolOptions) {
    this.#settings = clientSettings(options);
    this.#link = new Link(this.#settings.broker, 'tasks');
    this.#names = new TaskNames(this.#link, this.#settings.stream.name);
    this.#packer = new Packer(this.#settings.maxBatch);
    this.#publisher = new Publisher(this.#link, this.#settings.storeTimeout);
    this.#publisher.onRoom = () => this.#flush();
    this.#publisher.onMissing = () => void this.#open();
    const { node } = this.#link;
    this.#link.subscribe(this.#names.results(node), (payload, arrival) =>
      this.#results(payload, arrival),
    );
    this.#link.subscribe(this.#names.times, (payload) => this.#packer.learn(read(payload)));
    this.#link.on('up', () => void this.#open()).on('down', (error) => this.#down(error));
    announce('pool', this as DurableClient, (client) => client.stats());
  }

  run(task: unknown, options: DurableCall): Promise<unknown> {
    checkCall(options);
    const { id, signal = null } = options;
    const same = id === undefined ? undefined : this.#pending.get(id);
    if (same !== undefined) return same.wait(signal);
    const pending = new Pending((ended, isFailed) => {
      if (this.#pending.get(call.id) === ended) this.#pending.delete(call.id);
      this.#counts.completed++;
      if (isFailed) this.#counts.failed++;
      this.#checkDone();
    });
    const call = this.#callOf(task, options, true, {
      stored: (stored) => void this.#checkDuplicate(call.id, pending, stored),
      reject: (error) => pending.reject(error),
    });
    pending.onAbandoned = () => this.#abort(call);
    this.#pending.set(call.id, pending);
    this.#add(call);
    return pending.wait(signal);
  }

  enqueue(task: unknown, options: DurableCall): Promise<Enqueued> {
    checkCall(options);
    return new Promise((resolve, reject) => {
      const call = this.#callOf(task, options, false, {
        // Of one that was sent again nobody can tell whose the first one was; mostly it is its own.
        stored: ({ isDuplicate, tries }) =>
          resolve({ id: call.id, duplicate: call.hasOwnId && isDuplicate && tries === 1 }),
        reject,
      });
      this.#add(call);
    });
  }

  /** Throws for what cannot be taken. */
  #callOf(
    task: unknown,
    options: DurableCall,
    isAnswered: boolean,
    settle: Pick<Call, 'stored' | 'reject'>,
  ): Call {
    if (this.#isClosed) throw closed('queue is being terminated');
    if (isMoved(task)) {
      throw new MillraceError(
        'MILLRACE_E_INVALID_ARGUMENT',
        'what is marked by move() cannot leave the process; give the task as it is, it is copied',
      );
    }
    const { timeout: usualMs, attempts: usual, maxQueue, storeTimeout } = this.#settings;
    const { signal = null, timeout: timeoutMs = usualMs, attempts = usual } = options;
    if (this.#unstored >= maxQueue) {
      this.#counts.refused++;
      throw full(maxQueue);
    }
    const id = options.id ?? `${this.#link.node}.${(this.#nextId++).toString(36)}`;
    const name = options.name ?? this.#settings.name;
    const isAbortable = signal !== null;
    const about = { id, name, timeoutMs, attempts, task, isAnswered, isAbortable };
    let record: Call['record'];
    try {
      record = encodeTask(about);
    } catch (error) {
      throw taskNotClonable(error);
    }
    const large = tooLarge('the task', record.data.length, this.#link.maxPayload);
    if (large !== null) throw large;
    const priority =
      options.priority === undefined ? this.#settings.priority : classOf(options.priority);
    const deadlineMs = performance.now() + storeTimeout;
    const hasOwnId = options.id !== undefined;
    const state = 'waiting';
    return { id, hasOwnId, name, priority, record, deadlineMs, state, message: 0, ...settle };
  }

  #add(call: Call): void {
    this.#unstored++;
    this.#packer.add(call);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    // At the end of the turn, as a pool sends to its threads: whoever calls in a row of microtasks is in time.
    queueMicrotask(() => process.nextTick(() => this.#flush()));
  }

  /** Sends what waits, while the broker keeps up; else more of it will go together. */
  #flush(): void {
    this.#flushScheduled = false;
    if (!this.#isOpen && this.#link.state === 'up') void this.#open();
    while (!this.#publisher.isBusy) {
      const calls = this.#packer.next();
      if (calls === null) return;
      void this.#store(calls);
    }
  }

  async #store(calls: readonly Call[]): Promise<void> {
    const [{ id, hasOwnId, priority, deadlineMs }] = calls as [Call];
    const message = ++this.#counts.messages;
    for (const call of calls) Object.assign(call, { state: 'sent', message });
    this.#counts.packed += calls.length;
    const records = calls.map(({ record }) => record);
    const { node } = this.#link;
    const subject = this.#names.subject(priorities[priority]!);
    // Ids of users and others never meet.
    const headers = { [headerNames.id]: hasOwnId ? `id:${token(id)}` : `pack:${id}` };
    try {
      const payload = encodeBatch(node, message, records);
      const stored = await this.#publisher.store(subject, payload, headers, deadlineMs);
      this.#unstored -= calls.length;
      for (const call of calls) {
        if (call.state === 'sent') call.state = 'stored';
        call.stored(stored);
      }
    } catch (error) {
      this.#unstored -= calls.length;
      if ((error as MillraceError).code === 'MILLRACE_E_OVERLOADED') {
        this.#counts.refused += calls.length;
      }
      for (const call of calls) call.reject(error);
    }
    this.#checkDone();
  }

  /** A task of the same id was stored before. Its result goes to whoever stored it. */
  async #checkDuplicate(
    id: string,
    pending: Pending,
    { isDuplicate, sequence, tries }: Stored,
  ): Promise<void> {
    if (!isDuplicate) return;
    // It was this one, as far as can be told: it was sent again because the first answer did not come.
    if (tries > 1 && (await this.#isOwn(sequence))) return;
    this.#counts.duplicates++;
    pending.reject(
      new MillraceError(
        'MILLRACE_E_DUPLICATE',
        `a task of the id ${show(id)} was stored before, within the duplicateWindow of the stream; its result goes to who stored it`,
      ),
    );
  }

  /** Whether a message is of this client, or is done with, which then is likely. */
  async #isOwn(sequence: number): Promise<boolean> {
    try {
      const { jsm } = await this.#link.jetstream();
      const message = await jsm.streams.getMessage(this.#names.stream, { seq: sequence });
      const batch = message === null ? null : decodeBatch(message.data);
      return batch === null || batch.sender === this.#link.node;
    } catch {
      return true;
    }
  }

  #abort(call: Call): void {
    if (call.state === 'waiting') {
      call.state = 'gone';
      this.#unstored--;
      return;
    }
    if (this.#cancels.length === 0) setImmediate(() => this.#cancel());
    this.#cancels.push(cancelKey(this.#link.node, call.message, call.id));
  }

  #cancel(): void {
    this.#link.publish(this.#names.cancels, serialize(this.#cancels.splice(0)));
  }

  #results(payload: Uint8Array, { reply }: Arrival): void {
    const batch = decodeBatch(payload);
    if (batch === null) return;
    for (const record of batch.records) {
      const outcome = decodeOutcome(record);
      const pending = outcome === null ? undefined : this.#pending.get(outcome.id);
      if (outcome === null || pending === undefined) this.#counts.repeated++;
      else if (outcome.isFailed) pending.reject(outcome.value);
      else pending.resolve(outcome.value);
    }
    if (reply !== undefined) this.#link.publish(reply, nothing);
  }

  #open(): Promise<void> {
    this.#opening ??= this.#set().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #set(): Promise<void> {
    const { stream, storeTimeout } = this.#settings;
    try {
      const { duplicateWindowMs } = await openStreams(this.#link, this.#names, stream);
      if (storeTimeout > duplicateWindowMs) {
        throw failure(
          `the stream ${this.#names.stream} has a duplicateWindow of ${duplicateWindowMs} ms, which is less than the storeTimeout of ${storeTimeout} ms; lower that, or change the stream by nats stream edit`,
        );
      }
      await this.#publisher.open();
      this.#isOpen = true;
      this.#failure = null;
      this.#flush();
    } catch (error) {
      // A connection that went away meanwhile is tried again; a broker that has just started may need a moment.
      if (this.#link.state !== 'up' || this.#isOpen) return;
      this.#failure = error as MillraceError;
      this.#rejectWaiting(() => error as Error);
    }
  }

  #down(error: MillraceError): void {
    this.#failure = error;
    if (isLasting(error)) this.#rejectWaiting(() => error);
  }

  #rejectWaiting(error: () => Error): void {
    for (const call of this.#packer.takeAll()) this.#giveUp(call, error());
  }

  #giveUp(call: Call, error: Error): void {
    call.state = 'gone';
    this.#unstored--;
    call.reject(error);
    this.#checkDone();
  }

  #sweep(): void {
    for (const call of this.#packer.overdue(performance.now())) {
      const why = this.#failure?.message ?? 'the broker does not take it';
      const text = `not stored within ${this.#settings.storeTimeout} ms, it was not sent: ${why}`;
      this.#giveUp(call, failure(text, this.#failure ?? undefined));
    }
    if (!this.#packer.isEmpty) {
      this.#flush();
      return;
    }
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #checkDone(): void {
    if (this.#unstored === 0 && this.#pending.size === 0) this.#whenDone?.();
  }

  // ------------------------------------------------------------------------------------------------ the pool's

  /** Resolves to true once all tasks are stored, and those that are waited for answered; to false if that takes longer. */
  whenDone(ms: number): Promise<boolean> {
    this.#isClosed = true;
    if (this.#unstored === 0 && this.#pending.size === 0) return Promise.resolve(true);
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
    this.#rejectWaiting(error);
  }

  async destroy(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#rejectWaiting(destroyed);
    this.#publisher.close(destroyed);
    for (const pending of [...this.#pending.values()]) pending.reject(destroyed());
    await this.#link.close();
  }

  get closeTimeout(): number {
    return this.#settings.closeTimeout;
  }

  /** Without the broker, which may have a password. */
  get options(): Readonly<Record<string, unknown>> {
    const { broker, stream, priority, ...rest } = this.#settings;
    return { ...rest, stream: stream.name, priority: priorities[priority] };
  }

  get queueSize(): number {
    return this.#unstored;
  }

  get completed(): number {
    return this.#counts.completed;
  }

  get needsDrain(): boolean {
    return this.#publisher.isBusy;
  }

  meanMs(name: string): number | null {
    return this.#packer.meanMs(name);
  }

  stats(): PoolStats {
    const { stored, resent } = this.#publisher;
    return clientStats(this.#counts, {
      sizes: this.#packer.sizes,
      unstored: this.#unstored,
      pending: this.#pending.size,
      maxQueue: this.#settings.maxQueue,
      stored,
      resent,
      link: this.#link.stats(),
    });
  }
}
