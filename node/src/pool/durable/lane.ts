import type { Call } from './call.js';

/** The array is cut each time this many calls were taken: not for each one, which would cost the square of their number. */
const cutAfter = 1024;

/** Calls of one priority in their order. Those that were aborted stay in it, but never at its head. */
export class Lane {
  #calls: Call[] = [];
  #head = 0;

  add(call: Call): void {
    this.#calls.push(call);
  }

  get isEmpty(): boolean {
    while (this.#head < this.#calls.length && !isWaiting(this.#calls[this.#head]!)) this.#head++;
    return this.#head === this.#calls.length;
  }

  /** Those that wait. */
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

export const isWaiting = ({ state }: Call): boolean => state === 'waiting';
