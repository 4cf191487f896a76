/**
 * The messages that a worker has, from when it takes them until it acknowledges them or gives them back. A lease is one of them: a
 * task, or a pack of tasks, and how often it was delivered. Each of its tasks is settled once: it has run and its result is
 * confirmed or given up, or it is stored again elsewhere. Then the message is acknowledged. Until then the broker is told every
 * third of `ackWait` that it is worked on; a worker that falls silent loses it.
 *
 * A task also counts against the number that the worker wants at hand (`room()`), until it is settled or freed: a result
 * that waits for an absent client keeps no other task away. Acknowledged messages are remembered for a while, since an
 * acknowledgement may be lost and its message come again.
 *
 * {@link Requeue} stores tasks again: to be tried later, to run alone, for another worker, or as dead letters. The message that they
 * came in is acknowledged after that, so that a task is always in a stream. The id of a message that is stored comes from the one
 * that it is taken from: two workers that have the same message store its tasks once. Storing is tried until it works, or this
 * worker begins to end: then the message is delivered again.
 */
import type { MillraceError } from '@millrace/base/errors';
import type { Priority } from '@millrace/base/priority';
import { clearTimeout, setTimeout, sleep, within } from '@millrace/base/timers';
import type { MsgHdrs } from '../client-types.js';
import type { Delivery } from '../jetstream.js';
import type { Link } from '../link.js';
import { encodeBatch, type WireBatch, type WireRecord } from '../wire.js';
import type { WorkerContext } from './context.js';
import { headerRoom, Publisher, type Stored } from './publisher.js';
import { headerNames, type QueueName, queueNames } from './streams.js';

/** Task of a lease. */
export interface LeasedTask {
  readonly lease: Lease;
  readonly record: WireRecord;
  /** Index in the message. */
  readonly index: number;
}

export class Lease {
  /** Deliveries before it was stored again, and failures of its task. */
  readonly earlier: number;
  readonly failures: number;
  /** Time in ms for which its first receiver gives it back. */
  readonly delayMs: number;
  readonly priority: Priority;
  /** Tasks that are not settled; those of them that keep others from being asked for. Changed by {@link Leases}. */
  left: number;
  counted: number;
  /** Tasks that have to be stored again, as this worker ends. */
  readonly returned: WireRecord[] = [];

  constructor(
    readonly queue: QueueName,
    readonly delivery: Delivery,
    readonly batch: WireBatch,
    /** The subject for acknowledging it; the last one if it was delivered here twice. Empty if its stream is gone. */
    public reply: string,
    readonly bytes: number,
    headers: MsgHdrs | undefined,
  ) {
    this.earlier = numberOf(headers, headerNames.deliveries);
    this.failures = numberOf(headers, headerNames.failures);
    this.delayMs = numberOf(headers, headerNames.delay);
    const said = headers?.get(headerNames.priority) as Priority | undefined;
    this.priority = queue === 'alone' ? said || 'normal' : queue;
    this.left = batch.records.length;
    this.counted = this.left;
  }

  /** Deliveries of its tasks, this one included; one that was only to wait does not count. */
  get deliveries(): number {
    const { count } = this.delivery;
    return this.earlier + (this.delayMs > 0 && count > 1 ? count - 1 : count);
  }

  /** True if it was with a worker before, which has fallen silent. */
  get isSuspect(): boolean {
    return this.delivery.count > (this.delayMs > 0 ? 2 : 1);
  }

  /** True if it has only come to be returned. */
  get hasToWait(): boolean {
    return this.delayMs > 0 && this.delivery.count === 1;
  }

  /** Returns its tasks, one by one. */
  tasks(): LeasedTask[] {
    return this.batch.records.map((record, index) => ({ lease: this, record, index }));
  }

  /** Packs some of its tasks as a message of their own, from the same client. */
  packOf(records: readonly WireRecord[]): Buffer {
    return encodeBatch(this.batch.sender, this.batch.sequence, records);
  }
}

function numberOf(headers: MsgHdrs | undefined, name: string): number {
  const value = Number(headers?.get(name) ?? 0);
  return Number.isFinite(value) && value > 0 ? value : 0;
}

const ACK = Buffer.from('+ACK');
const WORKING = Buffer.from('+WPI');
/** Interval in ms at which it is checked that the broker has them. */
const flushMs = 1000;

/**
 * Acknowledgements of messages. The broker confirms none, so one may be lost with the connection; then its message would
 * come again although its task is done. Acknowledgements are kept until a flush has shown that the broker has them, and sent
 * again after a reconnect. The subject '' stands for a message whose stream is gone.
 */
export class Acks {
  readonly #link: Link;
  /** Subjects of acknowledgements that the broker may not have got. */
  #unproven: string[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(link: Link) {
    this.#link = link;
    link.on('up', this.#up);
  }

  /** The message is done with. The acknowledgements of a turn leave in one write. */
  ack(subject: string): void {
    if (subject === '' || this.#isClosed) return;
    this.#link.publish(subject, ACK);
    this.#unproven.push(subject);
    this.#timer ??= setTimeout(() => void this.#prove(), flushMs);
  }

  /** Asks for another delivery, after this many ms. If this is lost, the message comes again after the time for acknowledgement. */
  nak(subject: string, delayMs: number): void {
    if (subject === '') return;
    const delay = Math.round(delayMs * 1_000_000);
    this.#link.publish(
      subject,
      Buffer.from(delay === 0 ? '-NAK' : `-NAK ${JSON.stringify({ delay })}`),
    );
  }

  /** The message is still being worked on: the time for acknowledgement begins anew. */
  working(subject: string): void {
    if (subject !== '') this.#link.publish(subject, WORKING);
  }

  /** The stream was created anew: an acknowledgement of the old one would count for another message of this one. */
  forget(): void {
    this.#unproven.length = 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#link.off('up', this.#up);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  readonly #up = () => {
    for (const subject of this.#unproven) this.#link.publish(subject, ACK);
  };

  async #prove(): Promise<void> {
    const count = this.#unproven.length;
    try {
      await this.#link.flush();
      this.#unproven.splice(0, count);
    } catch {
      // The connection is away; they are sent again when it is back.
    }
    if (this.#isClosed) return;
    this.#timer = this.#unproven.length > 0 ? setTimeout(() => void this.#prove(), flushMs) : null;
  }
}

/** A set of the last texts, up to a number, so that nothing that others send makes it grow. A text longer than `mostLength` is not added. */
export class Recent {
  readonly #texts = new Set<string>();
  readonly #most: number;
  readonly #mostLength: number;

  constructor(most: number, mostLength = Number.POSITIVE_INFINITY) {
    this.#most = most;
    this.#mostLength = mostLength;
  }

  add(text: string): void {
    if (text.length > this.#mostLength) return;
    this.#texts.add(text);
    if (this.#texts.size <= this.#most) return;
    for (const oldest of this.#texts) {
      this.#texts.delete(oldest);
      return;
    }
  }

  has(text: string): boolean {
    return this.#texts.has(text);
  }
}

/** Bytes of messages at hand; beyond it nothing is asked for. */
const maxBytes = 64 * 1024 * 1024;

export class Leases {
  readonly #context: WorkerContext;
  readonly #acks: Acks;
  readonly #requeue: Requeue;
  readonly #leases = new Map<string, Lease>();
  /** Messages that were acknowledged of late. */
  readonly #done = new Recent(10_000);
  readonly #backlogs = new Map<QueueName, Backlog>(queueNames.map((name) => [name, new Backlog()]));
  #bytes = 0;
  #whenEmpty: (() => void) | null = null;
  /** Called when there is room for another task. */
  onRoom: () => void = () => {};

  constructor(context: WorkerContext, acks: Acks, requeue: Requeue) {
    this.#context = context;
    this.#acks = acks;
    this.#requeue = requeue;
  }

  /** Reports whether a message is being done, or was done, here: then it is dealt with. */
  isRepeated({ key }: Delivery, reply: string): boolean {
    const lease = this.#leases.get(key);
    if (lease !== undefined) lease.reply = reply;
    else if (this.#done.has(key)) this.#acks.ack(reply);
    else return false;
    this.#context.counts.repeated++;
    return true;
  }

  add(lease: Lease): void {
    const { counts } = this.#context;
    const tasks = lease.batch.records.length;
    this.#leases.set(lease.delivery.key, lease);
    this.#backlogs.get(lease.queue)!.arrived(tasks);
    this.#bytes += lease.bytes;
    counts.messages++;
    counts.tasks += tasks;
    if (tasks === 0) this.#release(lease);
  }

  /** Notes that one of its tasks is done with: it has run, or is stored elsewhere. */
  settle(lease: Lease): void {
    this.free(lease);
    this.settleFreed(lease);
  }

  /** Notes that one of its tasks no longer keeps others from being asked for. */
  free(lease: Lease): void {
    lease.counted--;
    this.#backlogs.get(lease.queue)!.tasks--;
    this.onRoom();
  }

  /** Notes that one of its tasks, which was freed, is done with. */
  settleFreed(lease: Lease): void {
    lease.left--;
    if (lease.left > lease.returned.length) return;
    if (lease.left > 0) void this.#storeBack(lease);
    else this.#release(lease);
  }

  /** Gives back tasks that have not begun as this worker ends, when the others have ended. */
  giveBack(lease: Lease, records: readonly WireRecord[]): void {
    this.#context.counts.returned += records.length;
    lease.returned.push(...records);
    if (lease.left === lease.returned.length) void this.#storeBack(lease);
  }

  /** Stored again, they do not look like tasks that made a worker die; if that fails, they are delivered again. */
  async #storeBack(lease: Lease): Promise<void> {
    try {
      await this.#requeue.back(lease);
      this.#release(lease);
    } catch {
      this.#acks.nak(lease.reply, 0);
      this.#drop(lease);
    }
  }

  #release(lease: Lease): void {
    this.#acks.ack(lease.reply);
    this.#done.add(lease.delivery.key);
    this.#drop(lease);
  }

  #drop(lease: Lease): void {
    this.#leases.delete(lease.delivery.key);
    this.#backlogs.get(lease.queue)!.tasks -= lease.counted;
    this.#bytes -= lease.bytes;
    if (this.#leases.size === 0) this.#whenEmpty?.();
  }

  // ------------------------------------------------------------------------------------------------ all of them

  /** Tasks of a queue that keep others from being asked for. */
  tasks(queue: QueueName): number {
    return this.#backlogs.get(queue)!.tasks;
  }

  /** Returns the number of messages of a queue that fit, if it may have `most` tasks. */
  room(queue: QueueName, most: number): number {
    return this.#bytes >= maxBytes ? 0 : this.#backlogs.get(queue)!.room(most);
  }

  /** Begins their time for acknowledgement anew. */
  working(): void {
    for (const { reply } of this.#leases.values()) this.#acks.working(reply);
  }

  /** Another stream has taken the place of theirs: none of their acknowledgements must reach a message of the new one. */
  forget(): void {
    for (const lease of this.#leases.values()) lease.reply = '';
    this.#acks.forget();
  }

  /** Resolves when there are none, or after `ms`. */
  async empty(ms: number): Promise<void> {
    if (this.#leases.size === 0) return;
    await within(ms, new Promise<void>((resolve) => (this.#whenEmpty = resolve)));
  }

  /** Has the remaining ones delivered to another worker at once. */
  abandon(): void {
    for (const { reply } of this.#leases.values()) this.#acks.nak(reply, 0);
  }
}

/** Tasks of one queue. */
class Backlog {
  tasks = 0;
  /** Tasks in a message, on average of late. */
  #perMessage = 1;

  arrived(tasks: number): void {
    this.tasks += tasks;
    // A message without tasks must not make it look as if any number of them were welcome.
    this.#perMessage += (Math.max(tasks, 1) - this.#perMessage) / 8;
  }

  room(most: number): number {
    if (this.tasks >= most) return 0;
    return Math.max(1, Math.floor((most - this.tasks) / this.#perMessage));
  }
}

const timeoutMs = 30_000;
const retryMs = 1000;

export class Requeue {
  readonly #context: WorkerContext;
  readonly #publisher: Publisher;

  constructor(context: WorkerContext) {
    this.#context = context;
    this.#publisher = new Publisher(context.link, timeoutMs);
  }

  set onMissing(onMissing: () => void) {
    this.#publisher.onMissing = onMissing;
  }

  open(): Promise<void> {
    return this.#publisher.open();
  }

  close(): void {
    this.#publisher.close();
  }

  /** A task that has failed, to be tried again after this many ms. False if this worker began to end before it was stored, here and below. */
  again({ lease, record, index }: LeasedTask, failures: number, delayMs: number): Promise<boolean> {
    const subject = this.#context.names.subject(lease.priority);
    const { deliveries } = lease;
    const headers = { id: idOf(lease, index), deliveries, failures, delay: delayMs };
    return this.#insist(subject, () => lease.packOf([record]), headers);
  }

  /** A task that was with a worker which has ended. */
  alone({ lease, record, index }: LeasedTask): Promise<boolean> {
    const subject = this.#context.names.subject('alone');
    const { failures, priority } = lease;
    const headers = {
      id: idOf(lease, index),
      deliveries: lease.deliveries - 1,
      failures,
      priority,
    };
    return this.#insist(subject, () => lease.packOf([record]), headers);
  }

  /** Tasks that an ending worker has not begun. This is tried once: it rejects as {@link Publisher.store} does. */
  back(lease: Lease): Promise<Stored> {
    const crashes = lease.delivery.count - 1;
    const subject = this.#context.names.subject(lease.queue);
    const headers = headersOf({
      id: idOf(lease, 'back'),
      deliveries: lease.deliveries - 1,
      // When a task runs alone, each earlier delivery has ended its worker.
      failures: lease.failures + (lease.queue === 'alone' ? crashes : 0),
      priority: lease.priority,
    });
    return this.#publisher.store(subject, lease.packOf(lease.returned), headers);
  }

  /** A dead letter. */
  dead({ lease, record, index }: LeasedTask, reason: string, error: string): Promise<boolean> {
    const subject = this.#context.names.dead(lease.priority);
    const { deliveries } = lease;
    const failures = lease.failures + 1;
    const headers = { id: idOf(lease, index), deliveries, failures, reason, error };
    return this.#insist(subject, () => lease.packOf([record]), headers);
  }

  /** A message that is not a batch of tasks, as a dead letter; if it leaves no room for the headers, its beginning. */
  unreadable(queue: QueueName, payload: Uint8Array, { key, count }: Delivery): Promise<boolean> {
    const { link, names } = this.#context;
    // The broker may come back with a lower limit.
    const part = () => payload.subarray(0, link.maxPayload - headerRoom);
    const said = { reason: 'unreadable', error: 'it is not a message of durable tasks' };
    return this.#insist(names.dead(queue), part, {
      id: `again:${key}.0`,
      deliveries: count,
      ...said,
    });
  }

  async #insist(subject: string, payload: () => Uint8Array, headers: Said): Promise<boolean> {
    for (;;) {
      try {
        await this.#publisher.store(subject, payload(), headersOf(headers));
        return true;
      } catch (error) {
        if (this.#context.isClosing) return false;
        this.#context.emit('down', error as MillraceError);
        await sleep(retryMs);
      }
    }
  }
}

type Said = Partial<Record<keyof typeof headerNames, string | number>>;

const headersOf = (said: Said): Record<string, string> =>
  Object.fromEntries(
    Object.entries(said).map(([name, it]) => [headerNames[name as keyof Said], String(it)]),
  );

const idOf = ({ delivery }: Lease, what: number | string) => `again:${delivery.key}.${what}`;
