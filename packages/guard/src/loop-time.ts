/** Times of the loop for the guard: its busy time without a pause, its utilization, and its work beside handlers. */
import { performance } from '@millrace/base/timers';

const { nodeTiming } = performance;

/** Node.js 20.18 and 22.8 have it. */
interface LoopCounts {
  readonly uvMetricsInfo?: { readonly loopCount: number };
}

/** Weight of the newest window. */
const newest = 0.3;
const windowMs = 100;
const maxWindowMs = 500;

/** A loop that waited for so long was idle, in ms. */
const pauseMs = 1;

export class LoopTime {
  /** Time in which the loop had waited for events when it was last found to have done so. */
  #idleMs = Number.NEGATIVE_INFINITY;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #busySinceMs = 0;

  #askedMs = 0;
  #askedActiveMs = 0;

  #windowBegunMs = 0;
  #windowActiveMs = 0;
  #handlersMs = 0;
  #handled = 0;
  #asyncHandled = 0;
  #asyncTookMs = 0;
  /** Cost of a request beside its handler: reading, parsing, writing, collecting garbage. In ms. */
  extraMs = 0;
  /** Cost of an async handler's request after the handler has returned, in ms. */
  asyncMs = 0;

  constructor() {
    const now = performance.now();
    const { active } = performance.eventLoopUtilization();
    this.#busySinceMs = now;
    this.#askedMs = now;
    this.#askedActiveMs = active;
    this.#windowBegunMs = now;
    this.#windowActiveMs = active;
  }

  /** Returns the time for which the loop has been busy without a pause, in ms. */
  busyFor(nowMs: number): number {
    // There was no pause in less time than it takes, and asking costs as much as reading the clock.
    if (nowMs - this.#lookedMs <= pauseMs) return nowMs - this.#busySinceMs;
    this.#lookedMs = nowMs;
    const idle = nodeTiming.idleTime;
    // A poll that finds events ready takes some µs as well.
    if (idle - this.#idleMs > pauseMs) {
      this.#idleMs = idle;
      this.#busySinceMs = nowMs;
    }
    return nowMs - this.#busySinceMs;
  }

  /** Turns of the loop so far; 0 where Node.js does not count them. */
  get turns(): number {
    return (nodeTiming as LoopCounts).uvMetricsInfo?.loopCount ?? 0;
  }

  /** The loop has had its pause: others were given their turn. */
  paused(nowMs: number): void {
    this.#idleMs = nodeTiming.idleTime;
    this.#busySinceMs = nowMs;
  }

  /** Busy share of the loop, 0 to 1, since the last time at which `used` said that it was good for something. */
  utilization(nowMs: number, used: (share: number) => boolean): void {
    const { active } = performance.eventLoopUtilization();
    const elapsed = nowMs - this.#askedMs;
    const share = elapsed > 0 ? (active - this.#askedActiveMs) / elapsed : 0;
    if (!used(Math.min(1, Math.max(0, share)))) return;
    this.#askedMs = nowMs;
    this.#askedActiveMs = active;
  }

  /** A handler was called at `startedMs` and returned after so long. */
  handled(startedMs: number, tookMs: number): void {
    // A window begins with work, so that what the process did before is not held against it.
    if (this.#handled + this.#asyncHandled === 0) this.#begin(startedMs, tookMs);
    this.#handlersMs += tookMs;
    this.#handled++;
  }

  /** A request was answered so long after its handler was called, which had returned before. */
  answered(tookMs: number): void {
    this.#asyncHandled++;
    this.#asyncTookMs += tookMs;
  }

  /** Sets the costs anew when there is enough to go by. Cheap when there is not. */
  account(nowMs: number): void {
    if (nowMs - this.#windowBegunMs < windowMs || this.#handled + this.#asyncHandled === 0) return;
    const { active } = performance.eventLoopUtilization();
    // Of a longer one, most was not about requests: what else the process did meanwhile is no cost of theirs.
    if (nowMs - this.#windowBegunMs <= maxWindowMs) this.#learn(active);
    this.#handlersMs = 0;
    this.#handled = 0;
    this.#asyncHandled = 0;
    this.#asyncTookMs = 0;
    this.#windowBegunMs = nowMs;
    this.#windowActiveMs = active;
  }

  #learn(active: number): void {
    const otherMs = Math.max(0, active - this.#windowActiveMs - this.#handlersMs);
    if (this.#asyncHandled * 20 > this.#handled) {
      // Nobody can tell whose the work of promises and timers is. It is said to be that of requests that were under way; and
      // none of them did more than it took.
      const each = Math.min(otherMs, this.#asyncTookMs) / Math.max(1, this.#asyncHandled);
      this.asyncMs += newest * (each - this.asyncMs);
    } else {
      this.extraMs += newest * (otherMs / this.#handled - this.extraMs);
    }
  }

  #begin(startedMs: number, tookMs: number): void {
    this.#windowBegunMs = startedMs;
    this.#windowActiveMs = performance.eventLoopUtilization().active - tookMs;
  }
}
