/** A message that a worker has taken from the stream: one task, or a pack of them, and how often it was delivered. */
import type { Priority } from '../../core/priority.js';
import type { MsgHdrs } from '../client-types.js';
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
