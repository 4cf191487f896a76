/**
 * The busy share of the loop over the last window, out of a few marks of its idle time. Not the estimator of the batch
 * policies, whose 250 ms suit decisions in a burst and whose even spread hides what came after a long sleep. Pure: the
 * caller gives time and idle time, which must not go back.
 */

/** The window moves in steps of a twentieth, and marks are that far apart at least. */
const steps = 20;

interface Mark {
  readonly at: number;
  readonly idle: number;
}

export class SlidingUtilization {
  /** Oldest first. The first one is at or before the beginning of the window, once there has been one. */
  readonly #marks: Mark[];
  readonly #windowMs: number;

  constructor(windowMs: number, at: number, idle: number) {
    this.#windowMs = windowMs;
    this.#marks = [{ at, idle }];
  }

  mark(at: number, idle: number): void {
    if (at - this.#marks.at(-1)!.at < this.#windowMs / steps) return;
    this.#marks.push({ at, idle });
    this.#forget(at - this.#windowMs);
  }

  /** 0 to 1: of the window, or of the time since the beginning while that is shorter. */
  read(at: number, idle: number): number {
    const begin = at - this.#windowMs;
    this.#forget(begin);
    const [first, second = { at, idle }] = this.#marks as [Mark, Mark?];
    const from = Math.max(begin, first.at);
    if (at <= from) return 0;
    // Between two marks the loop slept first: a mark is made soon after work and before a sleep that is long.
    const idleAtFrom = Math.min(first.idle + (from - first.at), second.idle);
    return Math.min(1, Math.max(0, 1 - (idle - idleAtFrom) / (at - from)));
  }

  #forget(before: number): void {
    while (this.#marks.length > 1 && this.#marks[1]!.at <= before) this.#marks.shift();
  }
}
