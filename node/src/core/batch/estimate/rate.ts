/**
 * How many events a type gets per ms: an exponentially weighted mean with a half-life of 100 ms. Pure: it owns no clock.
 * An event adds ln 2 / 100 and loses half of that every 100 ms, so a steady stream of r events per ms settles at r.
 */
const halfLifeMs = 100;
const weight = Math.LN2 / halfLifeMs;

export interface Rate {
  /** Events per ms at `at`. */
  value: number;
  /** Time of the last update in ms. */
  at: number;
}

/** The rate decayed to `now`. */
export function readRate(rate: Rate, now: number): number {
  return rate.value === 0 ? 0 : rate.value * 2 ** (-(now - rate.at) / halfLifeMs);
}

/** Folds in `events` that were pushed since the last update. */
export function foldRate(rate: Rate, events: number, now: number): void {
  rate.value = readRate(rate, now) + events * weight;
  rate.at = now;
}
