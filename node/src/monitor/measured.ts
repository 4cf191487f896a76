/** The arithmetic of capacity.ts, fed with what was measured, so that it can be compared with what was seen. */
import { checkKeys, integer } from '../core/options.js';
import { burstWithin, deadlineOf, processesFor, targetOf, waitOf } from './capacity.js';
import { above0, checked } from './options.js';

/** What `Monitor.capacity()` is told about the requests since its last call. */
export interface MeasuredRequests {
  /** Requests that were answered in the span: 1 to 2^53 - 1. */
  requests: number;
  /**
   * Time in ms on the loop that they took together, as a guard's `stats()` say for a route (`busyMs`): above 0. Default: all
   * that the loop was busy with since the last call of `capacity()`, or since the monitor was made.
   */
  busyMs?: number;
  /** Mean time in ms that a request waits off the loop: 0 (default) to 3,600,000. */
  asyncMs?: number;
  /** Ms in which each has to be answered, for `largestBurst`: above 0, up to 3,600,000. Default: none. */
  deadlineMs?: number;
  /** Busy share that a loop is to have at the most, for `processesNeeded`: above 0, up to 1; default 0.7. */
  utilization?: number;
}

/** What the loop can do with requests like those that were measured. */
export interface Capacity {
  /** Time in ms on the loop that one request takes: both synchronous parts. */
  readonly requestMs: number;
  /** Half of that, as the functions of the arithmetic take it. */
  readonly syncMs: number;
  /** Ms from a request to its answer on an idle loop. */
  readonly responseMs: number;
  /** Requests a second that one loop can answer at the most. */
  readonly perSecond: number;
  /** Requests a second that were answered in the span. */
  readonly ratePerSecond: number;
  /** Busy share of the loop that this rate comes to. */
  readonly utilization: number;
  /** Processes that this rate needs. */
  readonly processesNeeded: number;
  /** Requests that may arrive together so that each is answered within the deadline; null without one. */
  readonly largestBurst: number | null;
  /** Length in ms of the span. */
  readonly spanMs: number;
}

const names = ['requests', 'busyMs', 'asyncMs', 'deadlineMs', 'utilization'] as const;
const dayMs = 86_400_000;

/** `loop`: what the loop did in the span. Throws MILLRACE_E_INVALID_OPTION. */
export function measuredCapacity(
  given: MeasuredRequests,
  loop: { spanMs: number; busyMs: number },
): Capacity {
  checkKeys('the values of capacity()', given, names);
  const requests = checked('requests', given.requests, integer(1, Number.MAX_SAFE_INTEGER));
  // The clock is finer than any busy time of a loop; still, nothing may be divided by 0.
  const busyMs =
    given.busyMs === undefined
      ? Math.max(loop.busyMs, Number.MIN_VALUE)
      : above0('busyMs', given.busyMs, 365 * dayMs);
  const wait = waitOf(given);
  const target = targetOf(given);
  const deadline = given.deadlineMs === undefined ? null : deadlineOf(given);
  // From here on unchecked: what was measured may be beyond what a caller may give to the functions of the arithmetic.
  const requestMs = Math.max(busyMs / requests, 1e-9);
  const ratePerSecond = (requests * 1000) / Math.max(loop.spanMs, 1e-3);
  return {
    requestMs,
    syncMs: requestMs / 2,
    responseMs: requestMs + wait,
    perSecond: 1000 / requestMs,
    ratePerSecond,
    utilization: (ratePerSecond * requestMs) / 1000,
    processesNeeded: processesFor(ratePerSecond, requestMs, target),
    largestBurst: deadline === null ? null : burstWithin(deadline, requestMs, wait),
    spanMs: loop.spanMs,
  };
}
