import { isLocalPath } from '../../load/loopback.js';
import { among, mistake } from './keys.js';

/** In a cycle of this many seconds, one has five times the rate of the others; the mean is the rate. */
const CYCLE_S = 5;
const SPIKE = { fromS: 2, toS: 3, times: 5 };
const BASE = CYCLE_S / (CYCLE_S - 1 + SPIKE.times);

/** A ramp begins with this share of the rate and climbs to all of it. */
const RAMP_FROM = 0.1;

/** How many requests of a rate of 1/s are due until a time, for each pattern. */
const due = {
  steady: (s) => s,
  spikes(s) {
    const into = s % CYCLE_S;
    const inSpike = Math.min(Math.max(into - SPIKE.fromS, 0), SPIKE.toS - SPIKE.fromS);
    return Math.floor(s / CYCLE_S) * CYCLE_S + BASE * (into + (SPIKE.times - 1) * inSpike);
  },
  ramp: (s, seconds) => RAMP_FROM * s + ((1 - RAMP_FROM) * s * s) / (2 * seconds),
};

/** The names of the patterns, as a key of a load. */
export const pattern = among(...Object.keys(due));

/**
 * One request for each time at which it is due.
 *
 * @param {import('./requests.js').Request} request
 * @param {'steady' | 'spikes' | 'ramp'} usual its pattern, when it has none of its own
 * @returns {{ request: import('./requests.js').Request, dueMs: number }[]} in the order of time
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT`
 */
export function times(request, usual = 'steady') {
  const { name, path, at = 0, rate, seconds } = request;
  if (typeof name !== 'string' || !isLocalPath(path)) {
    throw mistake(
      `a request must have a name, and a path that begins with one '/'; this has ${name} and ${path}`,
    );
  }
  if ((rate === undefined) !== (seconds === undefined)) {
    throw mistake(`${name} must have both rate and seconds, or neither`);
  }
  if (![at, rate ?? 1, seconds ?? 1].every((value) => Number.isFinite(value) && value >= 0)) {
    throw mistake(`${name} has at ${at}, rate ${rate}, seconds ${seconds}; they must be numbers`);
  }
  if (request.pattern !== undefined && !pattern[1](request.pattern)) {
    throw mistake(`${name} has pattern ${request.pattern}; it must be ${pattern[0]}`);
  }
  if (rate === undefined) return [{ request, dueMs: at }];
  const count = countOf(request, usual);
  if (count === 0) {
    throw mistake(
      `${name} has rate ${rate} and seconds ${seconds}, which is less than one request`,
    );
  }
  const until = untilOf(request, usual);
  return Array.from({ length: count }, (_, i) => ({
    request,
    dueMs: at + 1000 * timeOf(i, until, seconds),
  }));
}

/**
 * How many there are of a request.
 *
 * @param {import('./requests.js').Request} request
 * @param {'steady' | 'spikes' | 'ramp'} [usual]
 */
export function countOf(request, usual) {
  return request.rate === undefined ? 1 : Math.round(untilOf(request, usual)(request.seconds));
}

/** How many are due until a time, s after the first. */
function untilOf({ pattern: own, rate, seconds }, usual = 'steady') {
  const form = Object.hasOwn(due, own ?? usual) ? due[own ?? usual] : due.steady;
  return (s) => rate * form(s, seconds);
}

/** The time at which this many are due, s; by halving, to a microsecond. */
function timeOf(count, until, seconds) {
  let [low, high] = [0, seconds];
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (until(middle) > count) high = middle;
    else low = middle;
  }
  return Math.round(low * 1e6) / 1e6;
}
