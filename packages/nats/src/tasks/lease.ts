/**
 * A message that a worker has taken from the stream: one task, or a pack of them, and how often it was delivered; and its
 * acknowledgement, which is kept until the broker is known to have it.
 */
import type { Priority } from '@millrace/base/priority';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { MsgHdrs } from '../client-types.js';
import type { Link } from '../link.js';
import { encodeBatch, type WireBatch, type WireRecord } from '../wire.js';
import { headerNames, type QueueName } from './streams.js';

/** What the broker says of a message that it delivers, in the subject to which it is acknowledged. */
export interface Delivery {
  /** Tells the message from all others of its stream, also from those of an earlier stream of that name. */
  readonly key: string;
  /** How often it was delivered, this time included. */
  readonly count: number;
}

/** `$JS.ACK.STREAM.CONSUMER.count.sequence.….time.pending`, or with the domain and account before the stream. Null for anything else. */
export function deliveryOf(reply: string | undefined): Delivery | null {
  const tokens = reply?.split('.') ?? [];
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return null;
  const at = tokens.length === 9 ? 4 : 6;
  const count = Number(tokens[at]);
  if (!Number.isInteger(count)) return null;
  return { key: `${tokens[at + 1]}.${tokens[at + 3]}`, count };
}

/** One task of a lease. */
export interface LeasedTask {
  readonly lease: Lease;
  readonly record: WireRecord;
  /** Its place in the message. */
  readonly index: number;
}

export class Lease {
  /** How often it was delivered before it was stored again, and how often its task has failed. */
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

  /** It was with a worker before, which has fallen silent. */
  get isSuspect(): boolean {
    return this.delivery.count > (this.delayMs > 0 ? 2 : 1);
  }

  /** It has only come to be given back. */
  get hasToWait(): boolean {
    return this.delayMs > 0 && this.delivery.count === 1;
  }

  /** Its tasks, one by one. */
  tasks(): LeasedTask[] {
    return this.batch.records.map((record, index) => ({ lease: this, record, index }));
  }

  /** Some of its tasks as a message of their own, from the same client. */
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
/** How often it is checked that the broker has them. */
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
