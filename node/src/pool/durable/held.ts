/** A message that a worker has: one task, or a pack of them. */
import type { MsgHdrs } from '../../broker/client-types.js';
import { encodeBatch, type WireBatch, type WireRecord } from '../../broker/wire.js';
import type { Priority } from '../../core/intake/priority.js';
import type { Delivery } from './delivery.js';
import { headerNames, type LaneName } from './names.js';

/** One task of a message. */
export interface Part {
  readonly held: Held;
  readonly record: WireRecord;
  /** Its place in the message. */
  readonly index: number;
}

export class Held {
  /** How often it was delivered before it was stored again, and how often its task has failed. */
  readonly earlier: number;
  readonly failures: number;
  /** For how long, in ms, its first receiver gives it back. */
  readonly delayMs: number;
  readonly priority: Priority;
  /** Tasks that are not settled; and those of them that keep others from being asked for. */
  left: number;
  counted: number;
  /** Tasks that have to be stored again, as this worker ends. */
  readonly returned: WireRecord[] = [];

  constructor(
    readonly lane: LaneName,
    readonly delivery: Delivery,
    readonly batch: WireBatch,
    /** The subject for acknowledging it; the last one if it was delivered here twice. */
    public reply: string,
    readonly bytes: number,
    headers: MsgHdrs | undefined,
  ) {
    this.earlier = numberOf(headers, headerNames.deliveries);
    this.failures = numberOf(headers, headerNames.failures);
    this.delayMs = numberOf(headers, headerNames.delay);
    const said = headers?.get(headerNames.priority) as Priority | undefined;
    this.priority = lane === 'alone' ? said || 'normal' : lane;
    this.left = batch.records.length;
    this.counted = this.left;
  }

  /** Deliveries of its tasks, this one included; one that was only to wait does not count. */
  get deliveries(): number {
    const { count } = this.delivery;
    return this.earlier + (this.delayMs > 0 && count > 1 ? count - 1 : count);
  }

  /** It was with a worker before, which has not said what became of it. */
  get isSuspect(): boolean {
    return this.delivery.count > (this.delayMs > 0 ? 2 : 1);
  }

  /** It has only come to be given back. */
  get hasToWait(): boolean {
    return this.delayMs > 0 && this.delivery.count === 1;
  }

  /** Its tasks, one by one. */
  parts(): Part[] {
    return this.batch.records.map((record, index) => ({ held: this, record, index }));
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
