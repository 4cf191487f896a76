/**
 * Answers of requests that were turned away, held back a little. A client that is told at once asks again at once: fifty of them can take
 * a whole core with being refused. How long is measured: as short as keeps refusals below a small share of the loop's time.
 */
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import type { Rejection, Ticket } from './ticket.js';

export interface RejectDelay {
  /** Shortest delay in ms: 0 to 60,000, default 25. */
  min: number;
  /** Longest delay in ms: `min` to 60,000, default 1,000. */
  max: number;
}

/** Refusals may take this share of the loop's time; with less than a quarter of it the delay gets shorter again. */
const share = 0.02;
const windowMs = 250;
/** Time after which a longer delay, which did not help, is tried again. */
const retryMs = 10_000;
/** A refusal costs the loop three times what it takes to write it: the request is read, the timer runs, the answer is sent. */
const wholeCost = 3;
/** A longer delay is so much longer that its effect cannot be missed, beside the time that an answer takes anyway. */
const step = 4;
/** Refusals held back at once: beyond it the oldest is answered, whatever its time. */
const maxHeld = 10_000;

export class Rejections {
  readonly #options: RejectDelay;
  readonly #now: () => number;
  #delayMs: number;
  /** Waiting to be answered, oldest first; from `#next` on. Times are in order, for all are delayed alike or nearly. */
  #held: { ticket: Ticket; rejection: Rejection; dueMs: number }[] = [];
  #next = 0;
  #timer: NodeJS.Timeout | null = null;
  #timerDueMs = 0;
  #windowBegunMs = 0;
  #spentMs = 0;
  /** Share that was spent before the delay was made longer; NaN when it was not. */
  #spentBefore = Number.NaN;
  #retryMs = 0;

  /** `now`: what time it is, in ms. */
  constructor(options: RejectDelay, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
    this.#delayMs = options.min;
  }

  /** Delay in use, in ms. */
  get delayMs(): number {
    return this.#delayMs;
  }

  /** Refusals that wait to be answered. */
  get size(): number {
    return this.#held.length - this.#next;
  }

  add(ticket: Ticket, rejection: Rejection, nowMs: number): void {
    this.#adapt(nowMs);
    if (this.#delayMs === 0) {
      this.#answer(ticket, rejection);
      return;
    }
    this.#held.push({ ticket, rejection, dueMs: nowMs + this.#delayMs });
    if (this.size > maxHeld) this.#answerNext();
    if (this.#timer === null) this.#arm(nowMs);
  }

  /** Answers all that wait. */
  flush(): void {
    while (this.size > 0) this.#answerNext();
    this.#stop();
  }

  #arm(nowMs: number): void {
    const next = this.#held[this.#next];
    if (next === undefined) return;
    this.#timerDueMs = next.dueMs;
    this.#timer = setTimeout(() => this.#due(), Math.max(1, next.dueMs - nowMs));
  }

  #due(): void {
    this.#timer = null;
    const now = Math.max(this.#now(), this.#timerDueMs);
    try {
      while (this.size > 0 && this.#held[this.#next]!.dueMs <= now) this.#answerNext();
    } finally {
      if (this.#timer === null) this.#arm(now);
    }
  }

  #answerNext(): void {
    const { ticket, rejection } = this.#held[this.#next]!;
    this.#next++;
    if (this.#next === this.#held.length) {
      this.#held.length = 0;
      this.#next = 0;
    } else if (this.#next >= 1024 && this.#next * 2 >= this.#held.length) {
      this.#held = this.#held.slice(this.#next);
      this.#next = 0;
    }
    this.#answer(ticket, rejection);
  }

  #answer(ticket: Ticket, rejection: Rejection): void {
    if (ticket.stage !== 'shed') return;
    ticket.stage = 'over';
    if (ticket.gone()) return;
    const before = this.#now();
    try {
      if (ticket.context === null) ticket.shed(rejection);
      else ticket.context.runInAsyncScope(ticket.shed, ticket, rejection);
    } finally {
      if (before >= this.#windowBegunMs) this.#spentMs += wholeCost * (this.#now() - before);
    }
  }

  /**
   * A longer delay helps against clients that ask again when they are told. When it did not help, for those who ask come anyway, it goes
   * back, and is tried again later.
   */
  #adapt(nowMs: number): void {
    const elapsed = nowMs - this.#windowBegunMs;
    // Clients that were told in this window have to have had the time to ask again.
    if (elapsed < Math.max(windowMs, 2 * this.#delayMs)) return;
    const spent = this.#spentMs / elapsed;
    const { min, max } = this.#options;
    const before = this.#spentBefore;
    this.#spentBefore = Number.NaN;
    this.#windowBegunMs = nowMs;
    if (spent > 0.8 * before) {
      this.#delayMs = Math.max(min, this.#delayMs / step);
      this.#retryMs = nowMs + retryMs;
    } else if (spent > share && nowMs >= this.#retryMs && this.#delayMs < max) {
      this.#delayMs = Math.min(max, Math.max(1, this.#delayMs * step));
      this.#spentBefore = spent;
      // From when refusals that get the longer delay are answered: for a while before that there are few, which is not its merit.
      this.#windowBegunMs = nowMs + this.#delayMs;
    } else if (spent < share / 4) {
      this.#delayMs = Math.max(min, this.#delayMs / 2);
    }
    this.#spentMs = 0;
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
