/** Lets so many through at a time; the others wait in line. */
export class Gate {
  #free: number;
  #first: Waiting | null = null;
  #last: Waiting | null = null;

  constructor(size: number) {
    this.#free = size;
  }

  /** Calls `start` when there is room, and wants a `leave()` for it. */
  enter(start: () => void): void {
    if (this.#free > 0) {
      this.#free--;
      start();
      return;
    }
    const waiting = { start, next: null };
    if (this.#last === null) this.#first = waiting;
    else this.#last.next = waiting;
    this.#last = waiting;
  }

  leave(): void {
    const first = this.#first;
    if (first === null) {
      this.#free++;
      return;
    }
    this.#first = first.next;
    if (first.next === null) this.#last = null;
    first.start();
  }
}

interface Waiting {
  readonly start: () => void;
  next: Waiting | null;
}
