/**
 * Runs waiting requests in slices of some milliseconds, so that between two slices the loop reads, writes, accepts, and answers health
 * checks. The only file of the guard that depends on the loop's phases.
 *
 * A slice runs in the check phase, one request an immediate: ticks and promise jobs of one come before the next, as if each had
 * come alone. Between two slices the loop makes turns with nothing to run. libuv accepts one connection a turn, so with slow
 * handlers and one turn a slice new clients would wait for as many slices as there are clients before them.
 */

import { performance, setImmediate } from '@millrace/base/timers';
import { throwLater } from '@millrace/base/turn';

/** Operations of the guard that slices call. */
interface Work {
  /** Number of waiting requests. */
  readonly size: number;
  /** True if a waiting request may run now. */
  readonly hasMore: boolean;
  /** Runs the next request. */
  runNext(): void;
  /** Called at the end of a slice. */
  sliceOver(): void;
  /** Called when no request is left to run, after the last slice or rest. */
  ended(): void;
}

/** Most unused time in ms that a later, longer rest may use, as when a crowd connects at once. */
const maxCreditMs = 100;

/** Most requests per slice. A slice that ends before its time costs one turn of the loop. */
const maxRuns = 512;

export class Slices {
  readonly #work: Work;
  readonly #sliceMs: number;
  readonly #restShare: number;
  #isActive = false;
  #count = 0;
  /** Start of the slice; NaN until its first request. */
  #begunMs = Number.NaN;
  /** Time left for rests, in ms: each slice adds its share, and rests that end early save theirs. */
  #restCreditMs = maxCreditMs;
  #restBegunMs = 0;
  #restTurns = 0;
  /** Requests and connections since the last turn of a rest. */
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
      // The waiting requests must still run.
      throwLater(error);
    }
    // After a long slice the loop turns even if no request waits: requests of the next turn run after the other work.
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

  /** True while slices run, rest or are scheduled: new requests wait for them. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Slices run since they last started. */
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

  /** Records loop time of a request that ran directly. A rest follows before the next queued request. */
  restAfter(tookMs: number): void {
    if (this.#isActive || tookMs < this.#sliceMs) return;
    this.#isActive = true;
    this.#count = 0;
    this.#rest(tookMs);
  }

  /** Records a new request or connection. */
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
