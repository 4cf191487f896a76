/** What holding brought: over the last 16 holds, how many more events the batch had than when the hold began. Pure. */
export const holdsOnRecord = 16;

export class Gain {
  readonly #extra: number[] = [];

  /** Records one hold: events in the batch that left, minus events queued when the hold began. */
  record(extra: number): void {
    this.#extra.push(extra);
    if (this.#extra.length > holdsOnRecord) this.#extra.shift();
  }

  clear(): void {
    this.#extra.length = 0;
  }

  /** Number of holds on record, 0 to 16. */
  get holds(): number {
    return this.#extra.length;
  }

  /** Mean extra events a batch; 0 without a record. */
  get value(): number {
    if (this.#extra.length === 0) return 0;
    return this.#extra.reduce((sum, extra) => sum + extra, 0) / this.#extra.length;
  }
}
