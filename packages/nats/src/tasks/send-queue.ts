/**
 * Tasks of a client until the broker has stored them, or they are given up. {@link SendQueue} owns `Call.state`:
 *
 *     waiting ──► sent ──► stored
 *        └──► gone: aborted, overdue, or rejected at a close
 *
 * Tasks that wait leave at the end of the turn, as a pool sends to its threads, in packs. While 64 messages are not
 * acknowledged they wait on, and more of them go together. Short tasks share a message, up to 5 ms of work by the times that
 * workers tell, so that a pack does not keep one worker busy while others have nothing. A task whose time is not known, or
 * that has an id of its user, is a message of its own. The highest priority goes first, but for tasks that have aged (aging.ts).
 *
 * A task is given up at its deadline, `storeTimeout` after the call; at once if the broker refuses this client for a reason
 * that lasts, such as credentials, or has the stream set up otherwise.
 */
import { Aging } from '@millrace/base/aging';
import { MillraceError, show } from '@millrace/base/errors';
import { isMoved } from '@millrace/base/movable';
import { classOf, type PriorityClass, priorities } from '@millrace/base/priority';
import { isError } from '@millrace/base/realm';
import { clearInterval, performance, setInterval } from '@millrace/base/timers';
import { afterMicrotasks, onceAt } from '@millrace/base/turn';
import { failure, isLasting } from '../connect.js';
import { isLate } from '../jetstream.js';
import { encodeBatch, token, type WireRecord } from '../wire.js';
import type { ClientContext } from './context.js';
import type { TaskOptions } from './options.js';
import { Publisher, type Stored } from './publisher.js';
import { encodeTask, tooLarge } from './record.js';
import { headerNames, openStreams } from './streams.js';

/** A task of a client until the broker has stored it. */
export interface Call {
  readonly id: string;
  /** The user has chosen its id: it is a message of its own. */
  readonly hasOwnId: boolean;
  readonly name: string;
  readonly priority: PriorityClass;
  readonly record: WireRecord;
  readonly createdMs: number;
  readonly deadlineMs: number;
  /** Number of its message, once it has one, and that of the message in the stream. */
  message: number;
  sequence: number;
  /** Changed by the send queue alone. */
  state: 'waiting' | 'sent' | 'stored' | 'gone';
  onStored(stored: Stored): void;
  onFailed(error: unknown): void;
}

/** `isAnswered`: the caller waits for the result. Throws for a task that cannot be cloned, or does not fit into a message. */
export function newCall(
  { settings, link }: ClientContext,
  id: string,
  task: unknown,
  options: TaskOptions,
  isAnswered: boolean,
  listeners: Pick<Call, 'onStored' | 'onFailed'>,
): Call {
  const { signal = null, timeout: timeoutMs = settings.timeout } = options;
  const { attempts = settings.attempts } = options;
  const name = options.name ?? settings.name;
  const isAbortable = signal !== null;
  if (isMoved(task)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      'what is marked by move() cannot leave the process; give the task as it is, it is copied',
    );
  }
  let record: WireRecord;
  try {
    record = encodeTask({ id, name, timeoutMs, attempts, task, isAnswered, isAbortable });
  } catch (error) {
    const why = (isError(error) ? error.message : show(error)).replace(/\.$/, '');
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `the task cannot be sent to a worker: ${why}; give plain data`,
      { cause: error },
    );
  }
  const large = tooLarge('the task', record.data.length, link.maxPayload);
  if (large !== null) throw large;
  const createdMs = performance.now();
  return {
    id,
    hasOwnId: options.id !== undefined,
    name,
    priority: options.priority === undefined ? settings.priority : classOf(options.priority),
    record,
    createdMs,
    deadlineMs: createdMs + settings.storeTimeout,
    state: 'waiting',
    message: 0,
    sequence: 0,
    ...listeners,
  };
}

/** The most work and data of a message. */
const packMs = 5;
const packBytes = 64 * 1024;
/** Functions whose times are kept. */
const maxNames = 1000;
/** Aging in ms: a pool's default. */
const agingMs = 1000;

/** Tasks that are not sent yet, and how many of them go into one message. */
export class Packer {
  readonly #fifos = [new Fifo(), new Fifo(), new Fifo()] as const;
  readonly #aging = new Aging(agingMs);
  readonly #maxBatch: number;
  /** Mean times of functions in ms, as workers tell them. */
  readonly #times = new Map<string, number>();

  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch;
  }

  add(call: Call): void {
    this.#fifos[call.priority].push(call);
  }

  /** Waiting tasks by priority. */
  get sizes(): [number, number, number] {
    const [high, normal, low] = this.#fifos;
    return [high.size, normal.size, low.size];
  }

  get isEmpty(): boolean {
    return this.#fifos.every((fifo) => fifo.isEmpty);
  }

  meanMs(name: string): number | null {
    return this.#times.get(name) ?? null;
  }

  /** Takes in mean times of functions from a worker. */
  learn(times: unknown): void {
    for (const [name, ms] of Object.entries((times ?? {}) as Record<string, number>)) {
      if (!Number.isFinite(ms) || ms < 0) continue;
      const known = this.#times.get(name);
      if (known === undefined && this.#times.size >= maxNames) continue;
      this.#times.set(name, known === undefined ? ms : known + (ms - known) / 4);
    }
  }

  /** Takes out the tasks of the next message, of the highest priority or aged; null when there are none. */
  next(nowMs: number): Call[] | null {
    const priority = this.#aging.next(nowMs, this.#oldestMs);
    if (priority === null) return null;
    this.#aging.took(1, this.#fifos.findIndex((fifo) => !fifo.isEmpty) === priority);
    const fifo = this.#fifos[priority];
    return fifo.take(this.#count(fifo)).filter(isWaiting);
  }

  readonly #oldestMs = (priority: PriorityClass): number => {
    const fifo = this.#fifos[priority];
    return fifo.isEmpty ? Number.POSITIVE_INFINITY : fifo.at(0)!.createdMs;
  };

  /** Returns the number of the first ones that leave together. */
  #count(fifo: Fifo): number {
    let ms = 0;
    let bytes = 0;
    let count = 0;
    for (; count < this.#maxBatch; count++) {
      const call = fifo.at(count);
      if (call === undefined) break;
      const { hasOwnId, name, record } = call;
      ms += this.#times.get(name) ?? Number.POSITIVE_INFINITY;
      bytes += record.data.length;
      if (count > 0 && (hasOwnId || ms > packMs || bytes > packBytes)) break;
      if (hasOwnId) return 1;
    }
    return count;
  }

  /** Takes out calls whose time to be stored is over. */
  overdue(nowMs: number): Call[] {
    return this.#fifos.flatMap((fifo) => {
      let count = 0;
      while ((fifo.at(count)?.deadlineMs ?? Number.POSITIVE_INFINITY) <= nowMs) count++;
      return fifo.take(count).filter(isWaiting);
    });
  }

  takeAll(): Call[] {
    return this.#fifos.flatMap((fifo) => fifo.take(Number.POSITIVE_INFINITY)).filter(isWaiting);
  }
}

/** The array is cut each time this many calls were taken: not for each one, which would cost the square of their number. */
const cutAfter = 1024;

/** Calls of one priority in their order. Aborted ones stay in it, but never at its head. */
class Fifo {
  #calls: Call[] = [];
  #head = 0;

  push(call: Call): void {
    this.#calls.push(call);
  }

  get isEmpty(): boolean {
    while (this.#head < this.#calls.length && !isWaiting(this.#calls[this.#head]!)) this.#head++;
    return this.#head === this.#calls.length;
  }

  /** Number of calls without aborted ones. */
  get size(): number {
    return this.#calls.slice(this.#head).filter(isWaiting).length;
  }

  /** Counted from the head. */
  at(index: number): Call | undefined {
    return this.#calls[this.#head + index];
  }

  take(count: number): Call[] {
    const taken = this.#calls.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    if (this.#head >= cutAfter || this.#head === this.#calls.length) {
      if (this.#head * 2 >= this.#calls.length) {
        this.#calls = this.#calls.slice(this.#head);
        this.#head = 0;
      }
    }
    return taken;
  }
}

const isWaiting = ({ state }: Call): boolean => state === 'waiting';

const sweepMs = 250;

export class SendQueue {
  readonly #context: ClientContext;
  readonly #publisher: Publisher;
  readonly packer: Packer;
  /** Tasks that the broker has not acknowledged. */
  size = 0;
  #timer: NodeJS.Timeout | null = null;
  #opening: Promise<void> | null = null;
  #isOpen = false;
  #failure: MillraceError | null = null;
  /** Called when some tasks are stored, or given up. */
  onLess: () => void = () => {};

  constructor(context: ClientContext) {
    const { link, settings } = context;
    this.#context = context;
    this.packer = new Packer(settings.maxBatch);
    this.#publisher = new Publisher(link, settings.storeTimeout);
    this.#publisher.onRoom = () => this.#flush();
    this.#publisher.onMissing = () => void this.#open();
    link.on('up', () => void this.#open()).on('down', (error) => this.#down(error));
  }

  /** Throws MILLRACE_E_OVERLOADED when there is no room for another task. */
  checkRoom(): void {
    const { counts, settings } = this.#context;
    if (this.size < settings.maxQueue) return;
    counts.refused++;
    throw new MillraceError(
      'MILLRACE_E_OVERLOADED',
      `${settings.maxQueue} tasks wait to be stored (maxQueue); send fewer, or raise it`,
    );
  }

  add(call: Call): void {
    this.size++;
    this.packer.add(call);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    this.#flushSoon();
  }

  /** Flushes as a pool sends to its threads: so calls of a chain of microtasks are all in time. */
  readonly #flushSoon = onceAt(afterMicrotasks, () => this.#flush());

  /** Takes out one that waits. */
  remove(call: Call): void {
    call.state = 'gone';
    this.size--;
  }

  /** Rejects the tasks that have not been sent. */
  rejectWaiting(error: () => Error): void {
    for (const call of this.packer.takeAll()) this.#giveUp(call, error());
  }

  /** Rejects all. */
  close(error: () => Error): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.rejectWaiting(error);
    this.#publisher.close(error);
  }

  /** Messages that the broker has stored, and those that were sent again. */
  get stored(): { stored: number; resent: number } {
    const { stored, resent } = this.#publisher;
    return { stored, resent };
  }

  #flush(): void {
    if (!this.#isOpen && this.#context.link.state === 'up') void this.#open();
    while (!this.#publisher.isBusy) {
      const calls = this.packer.next(performance.now());
      if (calls === null) return;
      void this.#store(calls);
    }
  }

  async #store(calls: readonly Call[]): Promise<void> {
    const { counts, link, names } = this.#context;
    const [{ id, hasOwnId, priority, deadlineMs }] = calls as [Call];
    const message = ++counts.messages;
    for (const call of calls) Object.assign(call, { state: 'sent', message });
    counts.packed += calls.length;
    const records = calls.map(({ record }) => record);
    const subject = names.subject(priorities[priority]!);
    // Ids of users and others never meet.
    const headers = { [headerNames.id]: hasOwnId ? `id:${token(id)}` : `pack:${id}` };
    try {
      const payload = encodeBatch(link.node, message, records);
      const stored = await this.#publisher.store(subject, payload, headers, deadlineMs);
      this.size -= calls.length;
      for (const call of calls) {
        call.state = 'stored';
        call.sequence = stored.sequence;
        call.onStored(stored);
      }
    } catch (error) {
      this.size -= calls.length;
      if ((error as MillraceError).code === 'MILLRACE_E_OVERLOADED') counts.refused += calls.length;
      for (const call of calls) call.onFailed(error);
    }
    this.onLess();
  }

  #giveUp(call: Call, error: Error): void {
    this.remove(call);
    call.onFailed(error);
    this.onLess();
  }

  #sweep(): void {
    for (const call of this.packer.overdue(performance.now())) {
      const why = this.#failure?.message ?? 'the broker does not take it';
      const { storeTimeout } = this.#context.settings;
      const text = `not stored within ${storeTimeout} ms, it was not sent: ${why}`;
      this.#giveUp(call, failure(text, this.#failure ?? undefined));
    }
    if (!this.packer.isEmpty) {
      this.#flush();
      return;
    }
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  // ------------------------------------------------------------------------------------------------ the stream

  #open(): Promise<void> {
    this.#opening ??= this.#openOnce().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #openOnce(): Promise<void> {
    const { link, names, settings } = this.#context;
    const { stream, storeTimeout } = settings;
    try {
      const { duplicateWindowMs } = await openStreams(link, names, stream);
      if (storeTimeout > duplicateWindowMs) {
        throw failure(
          `the stream ${names.stream} has a duplicateWindow of ${duplicateWindowMs} ms, which is less than the storeTimeout of ${storeTimeout} ms; lower that, or change the stream by nats stream edit`,
        );
      }
      await this.#publisher.open();
      this.#isOpen = true;
      this.#failure = null;
      this.#flush();
    } catch (error) {
      // A connection that went away meanwhile is tried again; a broker that has just started may need a moment.
      if (link.state !== 'up' || this.#isOpen) return;
      this.#failure = error as MillraceError;
      // A broker that is only late is asked again by the sweep, for as long as tasks may wait to be stored.
      if (!isLate(error)) this.rejectWaiting(() => error as Error);
    }
  }

  #down(error: MillraceError): void {
    this.#failure = error;
    if (isLasting(error)) this.rejectWaiting(() => error);
  }
}
