/**
 * Gaps: each sender numbers what it sends to a subject, so that a receiver sees what it missed and what it has already.
 * A batch carries the number of its first message; where batches are counted instead, its own. What could not be sent uses
 * up a number all the same, which is how others see that they missed it. Both sides are bounded: a sender that forgets its
 * numbers goes on in the next epoch, so that no number of a subject comes again; a receiver forgets the sender that it has
 * known longest, whose next message then counts as its first.
 */
import type { Link } from './link.js';
import { decodeBatch, type WireBatch } from './wire.js';

/** Numbers of an epoch. */
const epochSize = 2 ** 20;
const mostSubjects = 100_000;
const mostSenders = 10_000;

const epochOf = (number: number) => Math.floor(number / epochSize);

/** The numbers that a sender gives. */
export class Numbers {
  readonly #next = new Map<string, number>();
  #epoch = 0;

  /** The number of the first of `count` messages that leave for a subject. O(1). */
  take(subject: string, count: number): number {
    let first = this.#next.get(subject);
    if (first === undefined) {
      if (this.#next.size >= mostSubjects) {
        // No subject may go back: what is below the expected number counts as received already.
        for (const next of this.#next.values()) this.#epoch = Math.max(this.#epoch, epochOf(next));
        this.#next.clear();
        this.#epoch++;
      }
      first = this.#epoch * epochSize;
    }
    this.#next.set(subject, first + count);
    return first;
  }
}

/** The numbers that are expected on one subject, from each sender. */
export class Expected {
  readonly #next = new Map<string, number>();

  /**
   * Of `count` messages from number `first` on: how many of the first ones came before. Negative: that many are missing before
   * them. What a sender had sent before it was heard first does not count as missing.
   */
  seen(sender: string, first: number, count: number): number {
    const next = this.#next.get(sender);
    if (next === undefined || first === next) return 0;
    if (first < next) return Math.min(count, next - first);
    return epochOf(first) === epochOf(next) ? next - first : 0 - (first % epochSize);
  }

  /** Marks all before `number` as received. */
  reached(sender: string, number: number): void {
    const next = this.#next.get(sender);
    if (next === undefined && this.#next.size >= mostSenders) {
      const [oldest] = this.#next.keys();
      this.#next.delete(oldest!);
    }
    if (next === undefined || next < number) this.#next.set(sender, number);
  }

  forget(sender: string): void {
    this.#next.delete(sender);
  }
}

/** A number for each record of a batch, or one for the whole. */
export type Unit = 'record' | 'batch';

export interface HeardCounts {
  malformed: number;
  missed: number;
  duplicates: number;
}

/** A subject that is heard: each batch of another node once, in the order of its sender, until `stop()`. */
export class Heard {
  readonly #expected = new Expected();
  readonly stop: () => void;

  /** `onBatch` is given how many of the first records have come before: all that matters are those after them. */
  constructor(
    link: Link,
    subject: string,
    unit: Unit,
    counts: HeardCounts,
    onBatch: (batch: WireBatch, seen: number) => void,
  ) {
    this.stop = link.subscribe(subject, (payload) => {
      const batch = decodeBatch(payload);
      if (batch === null) {
        counts.malformed++;
        return;
      }
      const { sender, sequence: first, records } = batch;
      const count = unit === 'record' ? records.length : 1;
      const seen = this.#expected.seen(sender, first, count);
      this.#expected.reached(sender, first + count);
      if (seen > 0) counts.duplicates += seen;
      else counts.missed -= seen;
      if (seen < count) onBatch(batch, Math.max(0, seen));
    });
  }

  /** A node is not going to be heard again. */
  forget(sender: string): void {
    this.#expected.forget(sender);
  }
}
