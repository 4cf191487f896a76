/** When a process that died is replaced, and when that has to stop. Pure: the caller gives the time. */

export interface BackoffOptions {
  /** Delay in ms before the second start in a row; the first is at once. It doubles from there. */
  readonly respawnDelay: number;
  readonly maxRespawnDelay: number;
  /** Ms of running after which a death is the first one again. */
  readonly healthyAfter: number;
}

/** Whether it ran for long enough (0 ms: it was never ready). */
export const isHealthy = (ranMs: number, { healthyAfter }: BackoffOptions): boolean =>
  ranMs > 0 && ranMs >= healthyAfter;

/** Deaths in a row, with this one, of a process that was ready for `ranMs` (0 if it never was). */
export function deathsInRow(before: number, ranMs: number, options: BackoffOptions): number {
  return isHealthy(ranMs, options) ? 1 : before + 1;
}

/** Ms until the next start, after this many deaths in a row. */
export function delayAfter(deaths: number, options: BackoffOptions): number {
  if (deaths <= 1) return 0;
  return Math.min(options.maxRespawnDelay, options.respawnDelay * 2 ** (deaths - 2));
}

/** Deaths of all processes within a window of time. */
export class CrashWindow {
  readonly #windowMs: number;
  #times: number[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  record(at: number): void {
    this.#times.push(at);
  }

  count(at: number): number {
    this.#times = this.#times.filter((time) => at - time < this.#windowMs);
    return this.#times.length;
  }

  clear(): void {
    this.#times = [];
  }
}
