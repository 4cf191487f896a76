/**
 * The arithmetic of a loop that handles requests in two synchronous parts with a wait between them: the first reads the
 * request and asks for something, the second makes the answer of it. `syncMs` is the time of ONE part. What is waited for
 * (a database, a disk) goes on elsewhere, so it adds to the response time and takes nothing from the capacity.
 *
 * All functions are pure and throw MILLRACE_E_INVALID_OPTION for names they do not know and values outside of the range.
 */
import { checkKeys, integer, number } from '../core/options.js';
import { above0, checked, or } from './options.js';

/** One request, in ms. */
export interface RequestTimes {
  /** Time on the loop of one of the two synchronous parts: above 0, up to 3,600,000. */
  syncMs: number;
  /** Time between them, off the loop: 0 (default) to 3,600,000. */
  asyncMs?: number;
}

const hourMs = 3_600_000;
const mostRequests = 1e9;
const times = ['syncMs', 'asyncMs'] as const;

function checkedTimes(
  what: string,
  given: RequestTimes,
  others: readonly string[] = [],
): { sync: number; wait: number } {
  checkKeys(`the values of ${what}()`, given, [...times, ...others]);
  return { sync: above0('syncMs', given.syncMs, hourMs), wait: waitOf(given) };
}

const count = (name: string, value: unknown): number =>
  checked(name, value, integer(1, mostRequests));

const rateOf = ({ ratePerSecond }: { ratePerSecond: number }): number =>
  checked('ratePerSecond', ratePerSecond, number(0, mostRequests));

export const waitOf = ({ asyncMs }: { asyncMs?: number }): number =>
  checked('asyncMs', or(asyncMs, 0), number(0, hourMs));

export const deadlineOf = ({ deadlineMs }: { deadlineMs?: number }): number =>
  above0('deadlineMs', deadlineMs, hourMs);

export const targetOf = ({ utilization }: { utilization?: number }): number =>
  above0('utilization', or(utilization, 0.7), 1);

/** The largest n for which n requests of `both` parts and one wait fit into the deadline. */
export function burstWithin(deadline: number, both: number, wait: number): number {
  // Rounded, since a quotient just below a whole number means that number; then checked.
  let requests = Math.max(0, Math.round((deadline - wait) / both));
  while (requests > 0 && requests * both + wait > deadline) requests--;
  return requests;
}

export function processesFor(rate: number, both: number, target: number): number {
  const needed = (rate * both) / 1000 / target;
  const whole = Math.round(needed);
  // The product may have rounded to just above a whole number.
  return Math.max(1, Math.abs(needed - whole) < 1e-9 * whole ? whole : Math.ceil(needed));
}

/** Ms from a request to its answer on an idle loop: two synchronous parts and the wait. */
export function responseTime(request: RequestTimes): number {
  const { sync, wait } = checkedTimes('responseTime', request);
  return 2 * sync + wait;
}

/** Requests a second that one loop can answer at the most, which is one core: both parts need it, the wait does not. */
export function capacityPerSecond(request: RequestTimes): number {
  const { sync } = checkedTimes('capacityPerSecond', request);
  return 1000 / (2 * sync);
}

/**
 * Ms until the answer of the `n`th of requests that arrive together, where each is handled to its end before the next one
 * begins: its own response time, and both parts of the n - 1 before it. With parts of 10 ms and a wait of 10 ms: 30, 50, 70.
 *
 * An upper bound for the last one, and so for all of them. {@link responseTimeInBurst} says what a loop really does.
 */
export function responseTimeOfNth(n: number, request: RequestTimes): number {
  const { sync, wait } = checkedTimes('responseTimeOfNth', request);
  return count('n', n) * 2 * sync + wait;
}

/**
 * Ms until the answer of the `n`th of `requests` that arrive together, on a loop: first parts come first, one after the
 * other, and the waits go on meanwhile; second parts follow in the same order. With parts of 10 ms and a wait of 10 ms, three
 * requests are answered after 40, 50 and 60 ms.
 */
export function responseTimeInBurst(n: number, requests: number, request: RequestTimes): number {
  const { sync, wait } = checkedTimes('responseTimeInBurst', request);
  const all = count('requests', requests);
  const place = checked('n', n, integer(1, all));
  return place * sync + Math.max(all * sync, sync + wait);
}

export interface DeadlineTimes extends RequestTimes {
  /** Ms in which each has to be answered: above 0, up to 3,600,000. */
  deadlineMs: number;
}

/**
 * Requests that may arrive together so that the last is answered within the deadline, by {@link responseTimeOfNth}, which
 * is on the safe side. 0 if even one alone takes longer.
 */
export function largestBurst(request: DeadlineTimes): number {
  const { sync, wait } = checkedTimes('largestBurst', request, ['deadlineMs']);
  return burstWithin(deadlineOf(request), 2 * sync, wait);
}

export interface LoadTimes extends RequestTimes {
  /** Requests a second that arrive: 0 to 1,000,000,000. */
  ratePerSecond: number;
  /** Processes, each with a loop and a core of its own, that share them: 1 (default) to 1,000,000,000. */
  processes?: number;
}

/** Busy share of each loop at a given rate. 1 is full; above 1 the queue grows for as long as the rate lasts. */
export function utilizationAt(load: LoadTimes): number {
  const { sync } = checkedTimes('utilizationAt', load, ['ratePerSecond', 'processes']);
  return (rateOf(load) * 2 * sync) / 1000 / count('processes', or(load.processes, 1));
}

export interface TargetTimes extends RequestTimes {
  /** Requests a second that arrive: 0 to 1,000,000,000. */
  ratePerSecond: number;
  /** Busy share of a loop that is not to be exceeded: above 0, up to 1; default 0.7, which leaves room for bursts. */
  utilization?: number;
}

/** Processes, each with a loop and a core of its own, that a rate needs; at least 1. */
export function processesNeeded(load: TargetTimes): number {
  const { sync } = checkedTimes('processesNeeded', load, ['ratePerSecond', 'utilization']);
  return processesFor(rateOf(load), 2 * sync, targetOf(load));
}
