/**
 * Does a forecast of the rate hold better than the rate itself? A simulation on a virtual clock: events of one destination come at random
 * times of a rate that changes, the square-root law holds each batch, and the total that the law minimises is added up: CPU per ms, and the
 * mean delay at its price. It is exact, so that rounds differ by their random numbers alone.
 *
 * - the plain rate: an exponentially weighted mean with a half-life of 100 ms, as the engines have it
 * - Holt's linear trend: a level with the same half-life and a trend of it, read in the middle of the coming hold (C. C. Holt, 1957)
 */
import { randomFrom } from '@millrace/lab/stats';

const costs = { batch: 0.5, hold: 0.05 };
/** Price of a ms of delay, at half of the loop's utilization. */
const price = 0.005 * 0.25;
const halfLifeMs = 100;

/** Events per ms at a time in ms. */
export const patterns = {
  steady: { seconds: 20, rate: () => 1 },
  spikes: { seconds: 25, rate: (t) => (t % 5000 >= 2000 && t % 5000 < 3000 ? 2.5 : 0.5) },
  ramp: { seconds: 20, rate: (t) => 0.1 + (4.9 * t) / 20_000 },
  bursts: { seconds: 20, rate: (t) => (t % 500 < 50 ? 5 : 0.05) },
};

class PlainRate {
  #value = 0;
  #at = 0;

  fold(events, now) {
    this.#value = this.read(now) + (events * Math.LN2) / halfLifeMs;
    this.#at = now;
  }

  read(now) {
    return this.#value * 2 ** (-(now - this.#at) / halfLifeMs);
  }

  forecast(now) {
    return this.read(now);
  }
}

class HoltRate {
  #level = 0;
  /** Change of the level in a ms. */
  #trend = 0;
  #at = 0;

  fold(events, now) {
    const span = Math.max(now - this.#at, 1);
    const weight = 1 - 2 ** (-span / halfLifeMs);
    const level = weight * (events / span) + (1 - weight) * (this.#level + this.#trend * span);
    // Of the weights that were tried (a half to a sixteenth of the level's) a larger one loses more after a burst.
    const slow = weight / 4;
    this.#trend = slow * ((level - this.#level) / span) + (1 - slow) * this.#trend;
    this.#level = Math.max(0, level);
    this.#at = now;
  }

  /** Forecasts the rate. The time since the last fold, in which nothing came, counts, as it does for the plain rate. */
  forecast(now, ahead) {
    const span = now - this.#at;
    const kept = 2 ** (-span / halfLifeMs);
    return Math.max(0, kept * (this.#level + this.#trend * span) + this.#trend * ahead);
  }
}

export const estimators = { 'plain rate': PlainRate, "Holt's trend": HoltRate };

/** The hold in ms for a rate: the square-root law for one destination. */
function lawOf(rate, maxDelay) {
  if (!(rate > 0)) return 0;
  const best = (Math.sqrt((rate * rate * (costs.batch + costs.hold)) / price) - 1) / rate;
  const hold = Math.min(best, maxDelay);
  if (!(hold > 0)) return 0;
  const held = (rate * (costs.batch + costs.hold)) / (1 + rate * hold) + price * hold;
  return held < rate * costs.batch ? hold : 0;
}

/**
 * @param {{ seconds: number, rate: (t: number) => number }} pattern
 * @param {typeof PlainRate | typeof HoltRate} Estimator
 * @param {number} maxDelay in ms
 * @param {number} seed
 * @returns {number} cores in use plus the mean delay at its price
 */
export function simulate({ seconds, rate }, Estimator, maxDelay, seed) {
  const random = randomFrom(seed);
  const estimator = new Estimator();
  const end = seconds * 1000;
  let cpu = 0;
  let delays = 0;
  let events = 0;
  let now = nextArrival(0, rate, random);
  while (now < end) {
    // The middle of a hold depends on its length, which depends on the forecast: one step is near enough.
    const first = lawOf(estimator.forecast(now, 0), maxDelay);
    const hold = first === 0 ? 0 : lawOf(estimator.forecast(now, first / 2), maxDelay);
    const leaves = now + hold;
    let inBatch = 0;
    for (; now <= leaves; now = nextArrival(now, rate, random)) {
      inBatch++;
      delays += leaves - now;
    }
    estimator.fold(inBatch, leaves);
    events += inBatch;
    cpu += costs.batch + (hold > 0 ? costs.hold : 0);
  }
  return cpu / end + (price * delays) / events;
}

/** A Poisson process whose rate changes, by thinning. */
function nextArrival(from, rate, random) {
  const most = 5;
  for (let t = from; ; ) {
    t += -Math.log(1 - random()) / most;
    if (random() * most <= rate(t)) return t;
  }
}
