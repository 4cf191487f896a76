/**
 * Limit on concurrent requests of async handlers. Work that a handler does after it has returned cannot be put into slices,
 * so the requests in progress are limited instead, to little more than keeps the loop busy: additive increase, multiplicative
 * decrease (Chiu and Jain 1989, as TCP does it). The signal is the loop's busy share, not latency: a slow database is no
 * reason to ask it less. Pure: the caller says what time it is and how busy the loop was.
 */
import { List } from './list.js';
import type { Ticket } from './ticket.js';

export interface Concurrency {
  /** Initial limit: 1 to 1,000,000, default 8. */
  initial: number;
  /** Least limit: 1 to 1,000,000, default 2, so that one can run while the other waits. */
  min: number;
  /** Highest limit, besides requests in progress for over two seconds: 1 to 1,000,000, or Infinity, the default. */
  max: number;
}

/** Above this busy share the loop has no time left, and below the next it could do more; below the last it has plenty. */
const full = 0.97;
const spare = 0.94;
const easy = 0.7;
/** Time between two steps of the limit in ms; to open a gate before a loop with plenty of time it takes less. */
const windowMs = 50;
const easyWindowMs = 5;
/** Least work in progress, in ms: less would leave the loop nothing to do while requests wait for others. */
const leastWorkMs = 75;
/** Time in ms after which a request is no longer counted: it waits for something, a slow client or an event to stream. */
const parkMs = 2000;

export class Gate {
  readonly #options: Concurrency;
  readonly #running = new List<Ticket>();
  #limit: number;
  #decidedMs = 0;
  /** Requests that were over since the last decision. */
  #completed = 0;
  /** True if a request had to wait since then because the gate was shut. */
  #wasShut = false;
  /** Last time at which the loop had plenty of time. */
  #easyMs = Number.NEGATIVE_INFINITY;

  constructor(options: Concurrency) {
    this.#options = options;
    this.#limit = options.initial;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Requests in progress that count. */
  get size(): number {
    return this.#running.size;
  }

  /** Reports whether another request may start. Remembers a refusal: only a gate that was shut to a request grows. */
  isOpen(): boolean {
    if (this.#running.size < this.#limit) return true;
    this.#wasShut = true;
    return false;
  }

  enter(ticket: Ticket): void {
    this.#running.push(ticket);
    ticket.inGate = true;
  }

  leave(ticket: Ticket): void {
    // A parked request has left already.
    if (ticket.inGate) {
      ticket.inGate = false;
      this.#running.remove(ticket);
    }
    this.#completed++;
  }

  /** Reports whether `decide` is due: asking the loop for its utilization costs more than this check. */
  isDue(nowMs: number): boolean {
    return nowMs - this.#decidedMs >= (this.#wasShut ? easyWindowMs : windowMs);
  }

  /**
   * Sets the limit anew. `utilization` is the loop's busy share since the last call, `workMs` what a request costs it.
   * False if it is too early for that.
   */
  decide(nowMs: number, utilization: number, workMs: number): boolean {
    this.#park(nowMs);
    const { min, max } = this.#options;
    if (utilization < easy) {
      this.#easyMs = nowMs;
      if (this.#wasShut) this.#limit = Math.min(max, this.#limit * 2);
    } else if (nowMs - this.#decidedMs < windowMs) {
      return false;
    } else if (utilization > full && workMs > 0) {
      const least = Math.min(max, Math.max(min, Math.ceil(leastWorkMs / workMs)));
      // Based on the requests in progress: a limit that is never reached restricts nothing.
      const from = Math.min(this.#limit, this.#running.size + this.#completed);
      if (this.#limit > least) this.#limit = Math.max(least, Math.floor(from * 0.9));
      else if (this.#wasShut) this.#limit = Math.min(least, this.#limit * 2);
    } else if (utilization < spare && this.#wasShut) {
      this.#limit = Math.min(max, this.#limit + Math.max(1, Math.floor(this.#limit * 0.05)));
    }
    this.#decidedMs = nowMs;
    this.#completed = 0;
    this.#wasShut = false;
    return true;
  }

  /** Reports whether the loop recently had plenty of time: a waiting request then waits for the gate to grow, and not long. */
  isEasy(nowMs: number): boolean {
    return this.#limit < this.#options.max && nowMs - this.#easyMs < 2 * windowMs;
  }

  #park(nowMs: number): void {
    for (;;) {
      const oldest = this.#running.first;
      if (oldest === null || nowMs - oldest.startedMs < parkMs) return;
      this.#running.remove(oldest);
      oldest.inGate = false;
    }
  }
}
