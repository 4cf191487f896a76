/**
 * What one room has for the stream. One batch is under way at a time, and what is published meanwhile makes the next one:
 * so the order survives whatever is sent again, and the busier the broker is, the larger the batches are.
 */
import type { WireRecord } from '../../../broker/wire.js';
import { clearTimeout } from '../../../core/timers.cjs';

interface BatchUnderWay {
  readonly payload: Uint8Array;
  /** By which the broker knows it when it comes again. */
  readonly id: string;
  readonly messages: number;
  /** As they were reserved. */
  readonly bytes: number;
}

interface Waiter {
  readonly upTo: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class Line {
  readonly subject: string;
  /** Published and not yet under way. */
  waiting: WireRecord[] = [];
  underWay: BatchUnderWay | null = null;
  /** Of `underWay`; an answer to an earlier one does not count as a failure of this one. */
  attempt = 0;
  retry: NodeJS.Timeout | null = null;
  /** Messages so far. */
  published = 0;
  stored = 0;
  #waiters: Waiter[] = [];

  constructor(subject: string) {
    this.subject = subject;
  }

  get isIdle(): boolean {
    return this.published === this.stored;
  }

  /** Resolves when everything that is published now is stored. */
  acknowledged(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    const upTo = this.published;
    return new Promise((resolve, reject) => this.#waiters.push({ upTo, resolve, reject }));
  }

  /** The batch that is under way has been stored. */
  done(messages: number): void {
    if (this.retry !== null) clearTimeout(this.retry);
    this.retry = null;
    this.underWay = null;
    this.attempt = 0;
    this.stored += messages;
    while (this.#waiters.length > 0 && this.#waiters[0]!.upTo <= this.stored) {
      this.#waiters.shift()!.resolve();
    }
  }

  giveUp(error: Error): void {
    if (this.retry !== null) clearTimeout(this.retry);
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }
}
