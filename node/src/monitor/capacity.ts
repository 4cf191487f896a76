/**
 * The arithmetic of a loop that handles requests in two synchronous parts with a wait between them: the first reads the
 * request and asks for something, the second makes the answer of it. `syncMs` is the time of ONE part. What is waited for
 * (a database, a disk) goes on elsewhere, so it adds to the response time and takes nothing from the capacity.
 *
 * `capacity()` and `burst()` compute with times that are given, `Monitor.capacity()` with those that were measured. All throw
 * MILLRACE_E_INVALID_OPTION for names they do not know and values outside of the range.
 */
import { parse, parseValue } from '../core/options.js';
import * as is from '../core/schema.cjs';

/** One request, in ms. */
export interface RequestTimes {
  /** Time on the loop of one of the two synchronous parts: above 0, up to 3,600,000. */
  syncMs: number;
  /** Time between them, off the loop: 0 (default) to 3,600,000. */
  asyncMs?: number;
}

/** Requests of one kind, and what is asked about them. */
export interface CapacityRequest extends RequestTimes {
  /** Requests a second that arrive, for `utilization` and `processesNeeded`: 0 (default) to 1,000,000,000. */
  ratePerSecond?: number;
  /** Processes, each with a loop and a core of its own, that share them: 1 (default) to 1,000,000,000. */
  processes?: number;
  /** Busy share that a loop is to have at the most, for `processesNeeded`: above 0, up to 1; default 0.7, which leaves room for bursts. */
  utilization?: number;
  /** Ms in which each has to be answered, for `largestBurst`: above 0, up to 3,600,000. Default: none. */
  deadlineMs?: number;
}

/** What loops can do with requests of one kind. */
export interface Capacity {
  /** Ms from a request to its answer on an idle loop: two synchronous parts and the wait. */
  readonly responseMs: number;
  /** Requests a second that one loop can answer at the most, which is one core: both parts need it, the wait does not. */
  readonly perSecond: number;
  /** Busy share of each loop at the rate. 1 is full; above 1 the queue grows for as long as the rate lasts. */
  readonly utilization: number;
  /** Processes, each with a loop and a core of its own, that the rate needs; at least 1. */
  readonly processesNeeded: number;
  /**
   * Requests that may arrive together so that the last is answered within the deadline, by `oneByOne` of {@link burst}, which is on the
   * safe side. 0 if even one alone takes longer; null without a deadline.
   */
  readonly largestBurst: number | null;
}

/** Ms until the answer of each of the requests that arrive together. */
export interface Burst {
  /**
   * On a loop: first parts come first, one after the other, and the waits go on meanwhile; second parts follow in the same order. With
   * parts of 10 ms and a wait of 10 ms, three requests are answered after 40, 50 and 60 ms.
   */
  readonly loop: number[];
  /** Where each is handled to its end before the next one begins: 30, 50 and 70 ms. An upper bound for the last one, and so for all. */
  readonly oneByOne: number[];
}

/** What `Monitor.capacity()` is told about the requests since its last call. */
export interface MeasuredRequests extends Pick<CapacityRequest, 'utilization' | 'deadlineMs'> {
  /** Requests that were answered in the span: 1 to 2^53 - 1. */
  requests: number;
  /**
   * Time in ms on the loop that they took together, as a guard's `stats()` say for a route (`busyMs`): above 0. Default: all
   * that the loop was busy with since the last call of `capacity()`, or since the monitor was made.
   */
  busyMs?: number;
  /** Mean time in ms that a request waits off the loop: 0 (default) to 3,600,000. */
  asyncMs?: number;
}

/** What the loop can do with requests like those that were measured. */
export interface MeasuredCapacity extends Capacity {
  /** Time in ms on the loop that one request takes: both synchronous parts. */
  readonly requestMs: number;
  /** Half of that, as the functions of the arithmetic take it. */
  readonly syncMs: number;
  /** Requests a second that were answered in the span. */
  readonly ratePerSecond: number;
  /** Length in ms of the span. */
  readonly spanMs: number;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const mostRequests = 1e9;

const timeFields = {
  syncMs: is.required(is.above0(hourMs, 'ms')),
  asyncMs: is.ms(0, hourMs, 0),
} satisfies is.FieldsOf<RequestTimes>;
const askedFields = {
  utilization: is.or(is.above0(1), 0.7),
  deadlineMs: is.or(is.above0(hourMs, 'ms'), null),
};

export const timesSchema = is.schema(timeFields);
export const requestSchema = is.schema({
  ...timeFields,
  ratePerSecond: is.number(0, mostRequests, 0),
  processes: is.integer(1, mostRequests, 1),
  ...askedFields,
} satisfies is.FieldsOf<CapacityRequest>);
export const measuredSchema = is.schema({
  requests: is.required(is.integer(1, Number.MAX_SAFE_INTEGER)),
  busyMs: is.above0(365 * dayMs, 'ms'),
  asyncMs: timeFields.asyncMs,
  ...askedFields,
} satisfies is.FieldsOf<MeasuredRequests>);
const countField = is.integer(1, 1_000_000);

/**
 * What loops can do with requests of one kind. Pure.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a name it does not know or a value out of range
 */
export function capacity(request: CapacityRequest): Capacity {
  const { syncMs, ratePerSecond, processes, ...asked } = parse(
    'capacity()',
    request,
    requestSchema,
  );
  return capacityOf(2 * syncMs, ratePerSecond, processes, asked);
}

/**
 * When each of `requests` that arrive together is answered: 1 to 1,000,000 of them. Pure.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a name it does not know or a value out of range
 */
export function burst(requests: number, request: RequestTimes): Burst {
  const { syncMs, asyncMs } = parse('burst()', request, timesSchema);
  const length = parseValue('burst()', 'requests', requests, countField);
  const secondParts = Math.max(length * syncMs, syncMs + asyncMs);
  return {
    loop: Array.from({ length }, (_, i) => (i + 1) * syncMs + secondParts),
    oneByOne: Array.from({ length }, (_, i) => (i + 1) * 2 * syncMs + asyncMs),
  };
}

/** `loop`: what the loop did in the span. */
export function measuredCapacity(
  given: MeasuredRequests,
  loop: { spanMs: number; busyMs: number },
): MeasuredCapacity {
  const { requests, busyMs, ...asked } = parse('Monitor.capacity()', given, measuredSchema);
  // The clock is finer than any busy time of a loop; still, nothing may be divided by 0.
  const tookMs = busyMs ?? Math.max(loop.busyMs, Number.MIN_VALUE);
  // From here on unchecked: what was measured may be beyond what a caller may give.
  const requestMs = Math.max(tookMs / requests, 1e-9);
  const ratePerSecond = (requests * 1000) / Math.max(loop.spanMs, 1e-3);
  return {
    requestMs,
    syncMs: requestMs / 2,
    ...capacityOf(requestMs, ratePerSecond, 1, asked),
    ratePerSecond,
    spanMs: loop.spanMs,
  };
}

function capacityOf(
  both: number,
  rate: number,
  processes: number,
  { asyncMs, utilization, deadlineMs }: Asked,
): Capacity {
  return {
    responseMs: both + asyncMs,
    perSecond: 1000 / both,
    utilization: (rate * both) / 1000 / processes,
    processesNeeded: processesFor(rate, both, utilization),
    largestBurst: deadlineMs === null ? null : burstWithin(deadlineMs, both, asyncMs),
  };
}

type Asked = Pick<is.Parsed<typeof requestSchema.fields>, 'asyncMs' | keyof typeof askedFields>;

/** The largest n for which n requests of `both` parts and one wait fit into the deadline. */
function burstWithin(deadline: number, both: number, wait: number): number {
  // Rounded, since a quotient just below a whole number means that number; then checked.
  let requests = Math.max(0, Math.round((deadline - wait) / both));
  while (requests > 0 && requests * both + wait > deadline) requests--;
  return requests;
}

function processesFor(rate: number, both: number, target: number): number {
  const needed = (rate * both) / 1000 / target;
  const whole = Math.round(needed);
  // The product may have rounded to just above a whole number.
  return Math.max(1, Math.abs(needed - whole) < 1e-9 * whole ? whole : Math.ceil(needed));
}
