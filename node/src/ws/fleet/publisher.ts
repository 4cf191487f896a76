/** Everything that a turn has for a subject leaves in one NATS message. */
import type { Link } from '../../broker/link.js';
import { encodeBatch, split, type WireRecord } from '../../broker/wire.js';
import { nextMicrotask, onceAt } from '../../core/turn.cjs';
import { Outgoing } from './numbers.js';
import type { Counts } from './stats.js';

export class Publisher {
  readonly #link: Link;
  readonly #counts: Counts;
  readonly #numbers = new Outgoing();
  #gathered = new Map<string, WireRecord[]>();

  constructor(link: Link, counts: Counts) {
    this.#link = link;
    this.#counts = counts;
  }

  /** Takes a message, which leaves after the promise jobs that are queued now. Its bytes must not change before. O(1). */
  add(subject: string, record: WireRecord): void {
    this.#flushSoon();
    const records = this.#gathered.get(subject);
    if (records === undefined) this.#gathered.set(subject, [record]);
    else records.push(record);
  }

  /** Sends what was taken, subjects in the order of their first messages. What cannot leave is counted. */
  flush(): void {
    const gathered = this.#gathered;
    if (gathered.size === 0) return;
    this.#gathered = new Map();
    for (const [subject, records] of gathered) {
      for (const batch of split(records, this.#link.maxPayload)) this.#send(subject, batch);
    }
  }

  readonly #flushSoon = onceAt(nextMicrotask, () => this.flush());

  #send(subject: string, records: readonly WireRecord[]): void {
    const counts = this.#counts;
    // Numbers of messages that do not leave are used up as well: that is how others see that they missed something.
    const first = this.#numbers.take(subject, records.length);
    if (this.#link.state === 'up' && this.#publish(subject, first, records)) {
      counts.sent += records.length;
      counts.sentBatches++;
    } else {
      counts.unsent += records.length;
    }
  }

  #publish(subject: string, first: number, records: readonly WireRecord[]): boolean {
    try {
      return this.#link.publish(subject, encodeBatch(this.#link.node, first, records));
    } catch {
      // Another broker has answered meanwhile, with a lower limit than the one that `publish()` was checked against.
      return false;
    }
  }
}
