/** What was missed, by the sequence that each sender gives its batches on a subject. */

/** Beyond this many senders, those that have been silent longest are forgotten. */
const mostSenders = 10_000;

/** The last batch of each sender on one subject. */
export class Sequences {
  readonly #last = new Map<string, number>();

  /** Takes note of a batch, and says how many of its sender did not come between the last one and this. 0 for the first of a sender. */
  missed(sender: string, sequence: number): number {
    const last = this.#last.get(sender);
    // Whoever speaks is moved to the end.
    this.#last.delete(sender);
    this.#last.set(sender, last === undefined ? sequence : Math.max(last, sequence));
    if (this.#last.size > mostSenders) this.#last.delete(this.#last.keys().next().value!);
    return last === undefined ? 0 : Math.max(0, sequence - last - 1);
  }
}
