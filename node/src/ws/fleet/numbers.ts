/**
 * Messages are numbered for each sender and subject, so that a receiver sees what it missed and what it has already. A
 * batch carries the number of its first message.
 */

/** A sender may forget its numbers, so that names made up as it runs do not pile up: it goes on in the next epoch. */
const epochSize = 2 ** 20;
const mostSubjects = 100_000;
const mostSenders = 4096;

const epochOf = (number: number) => Math.floor(number / epochSize);

/** The numbers that a sender gives. */
export class Outgoing {
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

  /** All before `number` have come. */
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
