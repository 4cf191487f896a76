/** Lets a number of callers through at a time; the others wait in line. */
export class Gate {
  #free: number;
  #first: Waiting | null = null;
  #last: Waiting | null = null;
  #draining = false;

  constructor(size: number) {
    this.#free = size;
  }

  /** Calls `start` when there is room, and expects a `leave()` for it. */
  enter(start: () => void): void {
    if (this.#free > 0 && this.#first === null) {
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
    this.#free++;
    // If one leaves as soon as it is started, the loop below starts the next, not another loop inside it.
    if (this.#draining) return;
    this.#draining = true;
    try {
      this.#startWaiting();
    } finally {
      this.#draining = false;
    }
  }

  #startWaiting(): void {
    while (this.#free > 0 && this.#first !== null) {
      const { start, next } = this.#first;
      this.#first = next;
      if (next === null) this.#last = null;
      this.#free--;
      start();
    }
  }
}

interface Waiting {
  readonly start: () => void;
  next: Waiting | null;
}
