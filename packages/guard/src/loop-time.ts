/** Loop times for the guard: busy time without a pause, utilization, and work beside handlers. */
import { performance } from '@millrace/base/timers';

const { nodeTiming } = performance;

/** Counts turns of the loop; in Node.js since 20.18 and 22.8. */
interface LoopCounts {
  readonly uvMetricsInfo?: { readonly loopCount: number };
}

/** Weight of the newest window. */
const newest = 0.3;
const windowMs = 100;
const maxWindowMs = 500;

/** Shortest wait for events that counts as idle, in ms. */
const pauseMs = 1;

export class LoopTime {
  /** Total idle time of the loop at the last wait that counted, in ms. */
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

  /** Records that the loop has paused, so that other work has run. */
  paused(nowMs: number): void {
    this.#idleMs = nodeTiming.idleTime;
    this.#busySinceMs = nowMs;
  }

  /** Passes the loop's busy share, 0 to 1, since the last share for which `used` returned true. */
  utilization(nowMs: number, used: (share: number) => boolean): void {
    const { active } = performance.eventLoopUtilization();
    const elapsed = nowMs - this.#askedMs;
    const share = elapsed > 0 ? (active - this.#askedActiveMs) / elapsed : 0;
    if (!used(Math.min(1, Math.max(0, share)))) return;
    this.#askedMs = nowMs;
    this.#askedActiveMs = active;
  }

  /** Records a handler that was called at `startedMs` and returned after `tookMs`. */
  handled(startedMs: number, tookMs: number): void {
    // A window begins with work, so that earlier activity of the process does not count.
    if (this.#handled + this.#asyncHandled === 0) this.#begin(startedMs, tookMs);
    this.#handlersMs += tookMs;
    this.#handled++;
  }

  /** Records a response sent `tookMs` after the call of a handler that had returned before. */
  answered(tookMs: number): void {
    this.#asyncHandled++;
    this.#asyncTookMs += tookMs;
  }

  /** Updates the costs if there is enough data. Cheap if there is not. */
  account(nowMs: number): void {
    if (nowMs - this.#windowBegunMs < windowMs || this.#handled + this.#asyncHandled === 0) return;
    const { active } = performance.eventLoopUtilization();
    // In a longer window most work was not for requests, so it is not part of their cost.
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
      // Work of promises and timers has no known owner. It is charged to the requests in progress, and to none of them more than the
      // time it took.
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
