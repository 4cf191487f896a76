/**
 * Runs what waits in slices of some milliseconds, so that between two of them the loop reads, writes, accepts, and answers health
 * checks. The only file of the guard that knows the loop's phases.
 *
 * A slice runs in the check phase, one request an immediate: ticks and promise jobs of one come before the next, as if each had
 * come alone. Between two slices the loop makes turns with nothing to run. libuv accepts one connection a turn, so with slow
 * handlers and one turn a slice new clients would wait for as many slices as there are clients before them.
 */

import { performance, setImmediate } from '@millrace/base/timers';
import { throwLater } from '@millrace/base/turn';

/** Work that the guard does for its slices. */
interface Work {
  /** Requests that wait. */
  readonly size: number;
  /** One of them may run now. */
  readonly hasMore: boolean;
  /** Runs the next. */
  runNext(): void;
  /** A slice is over. */
  sliceOver(): void;
  /** The loop has had its turns, and there is nobody left to run. */
  ended(): void;
}

/** Rests that ended early make up for one that has more to do, a crowd that connects at once, up to so many ms. */
const maxCreditMs = 100;

/** Requests of one slice at most. A slice that ends before its time costs one turn of the loop. */
const maxRuns = 512;

export class Slices {
  readonly #work: Work;
  readonly #sliceMs: number;
  readonly #restShare: number;
  #isActive = false;
  #count = 0;
  /** Start of the slice; NaN until its first request. */
  #begunMs = Number.NaN;
  /** Time that rests may still take, in ms: each slice adds its share, and rests that end early save theirs. */
  #restCreditMs = maxCreditMs;
  #restBegunMs = 0;
  #restTurns = 0;
  /** Requests and connections that came since the last turn of a rest. */
  #noticed = 0;

  readonly #one = (): void => {
    const now = performance.now();
    if (Number.isNaN(this.#begunMs)) this.#begunMs = now;
    else if (now - this.#begunMs >= this.#sliceMs) return;
    this.#work.runNext();
  };

  readonly #end = (): void => {
    const now = performance.now();
    const tookMs = Number.isNaN(this.#begunMs) ? 0 : now - this.#begunMs;
    this.#count++;
    try {
      this.#work.sliceOver();
    } catch (error) {
      // Those who wait have to go on.
      throwLater(error);
    }
    // After a long slice others are given their turn even if nobody waits: what the next turn brings comes after them.
    if (tookMs < this.#sliceMs && !this.#work.hasMore) {
      this.#isActive = false;
      this.#work.ended();
      return;
    }
    this.#rest(tookMs);
  };

  readonly #turn = (): void => {
    this.#restTurns++;
    const tookMs = performance.now() - this.#restBegunMs;
    const isQuiet = this.#noticed === 0 && this.#restTurns > 1;
    this.#noticed = 0;
    if (!isQuiet && tookMs < this.#restCreditMs) {
      setImmediate(this.#turn);
      return;
    }
    this.#restCreditMs = Math.max(0, this.#restCreditMs - tookMs);
    if (this.#work.hasMore) {
      this.#begin();
      return;
    }
    this.#isActive = false;
    this.#work.ended();
  };

  constructor(work: Work, sliceMs: number, restShare: number) {
    this.#work = work;
    this.#sliceMs = sliceMs;
    this.#restShare = restShare;
    if (restShare === 0) this.#restCreditMs = 0;
  }

  /** A slice is under way or will be: what comes now has to wait for it. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Slices since there was nothing to run. */
  get count(): number {
    return this.#count;
  }

  /** Schedules a slice. From the poll phase, it runs in the check phase of the same turn. */
  start(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    this.#count = 0;
    this.#begin();
  }

  /** A request that did not wait has held the loop for so long: others are given their turn before the next is run. */
  restAfter(tookMs: number): void {
    if (this.#isActive || tookMs < this.#sliceMs) return;
    this.#isActive = true;
    this.#count = 0;
    this.#rest(tookMs);
  }

  /** A request or a connection came in. */
  notice(): void {
    this.#noticed++;
  }

  /** Rests after `tookMs` of work. */
  #rest(tookMs: number): void {
    if (this.#restShare > 0) {
      const credit = this.#restCreditMs + tookMs * this.#restShare;
      this.#restCreditMs = Math.min(maxCreditMs, credit);
    }
    this.#restBegunMs = performance.now();
    this.#restTurns = 0;
    this.#noticed = 0;
    setImmediate(this.#turn);
  }

  #begin(): void {
    this.#begunMs = Number.NaN;
    for (let runs = Math.min(this.#work.size, maxRuns); runs > 0; runs--) setImmediate(this.#one);
    setImmediate(this.#end);
  }
}
