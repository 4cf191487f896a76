/**
 * The arithmetic of a loop that handles requests in two synchronous parts with a wait between them: the first reads the
 * request and asks for something, the second makes the response of it. `syncMs` is the time of ONE part. What is waited for
 * (a database, a disk) goes on elsewhere, so it adds to the response time and takes nothing from the capacity.
 */
import { parse, parseValue } from '@millrace/base/options';
import * as is from '@millrace/base/schema';

/** Times of one request, in ms. */
export interface RequestTimes {
  /** Time on the loop of one of the two synchronous parts: above 0, up to 3,600,000. */
  syncMs: number;
  /** Time between the synchronous parts, off the loop: 0 (default) to 3,600,000. */
  asyncMs?: number;
}

/** Requests of one kind, and parameters of the question. */
export interface CapacityRequest extends RequestTimes {
  /** Arriving requests per second, for `processesNeeded`: 0 (default) to 1,000,000,000. */
  ratePerSecond?: number;
  /**
   * Highest utilization that a loop should have, for `processesNeeded`: above 0, up to 1; default 0.7, which leaves room for
   * bursts.
   */
  utilization?: number;
}

/** Capacity of loops for requests of one kind. */
export interface Capacity {
  /** Ms from a request to its response on an idle loop: two synchronous parts and the wait. */
  readonly responseMs: number;
  /** Most requests per second that one loop, on one core, can answer: both parts need it, the wait does not. */
  readonly perSecond: number;
  /** Processes, each with a loop and a core of its own, for the rate; at least 1. */
  readonly processesNeeded: number;
}

/** Ms until the response to each of several simultaneous requests. */
export interface Burst {
  /**
   * Times on a loop: first parts come first, one after the other, and the waits go on meanwhile; second parts follow in the
   * same order. With parts of 10 ms and a wait of 10 ms, three requests are answered after 40, 50 and 60 ms.
   */
  readonly loop: number[];
  /**
   * Times if each is handled to its end before the next one begins: 30, 50 and 70 ms. An upper bound for the last one, and so
   * for all.
   */
  readonly oneByOne: number[];
}

const hourMs = 3_600_000;

const timeFields = {
  syncMs: is.required(is.above0(hourMs, 'ms')),
  asyncMs: is.ms(0, hourMs, 0),
} satisfies is.FieldsOf<RequestTimes>;

export const timesSchema = is.schema(timeFields);
export const requestSchema = is.schema({
  ...timeFields,
  ratePerSecond: is.number(0, 1e9, 0),
  utilization: is.or(is.above0(1), 0.7),
} satisfies is.FieldsOf<CapacityRequest>);
const countField = is.integer(1, 1_000_000);

/**
 * Returns the capacity of loops for requests of one kind. Pure.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for an unknown name or a value out of range
 */
export function capacity(request: CapacityRequest): Capacity {
  const { syncMs, asyncMs, ratePerSecond, utilization } = parse(
    'capacity()',
    request,
    requestSchema,
  );
  const perSecond = 1000 / (2 * syncMs);
  const needed = ratePerSecond / perSecond / utilization;
  // The quotient may have been rounded to just above a whole number.
  const processesNeeded = Math.max(1, Math.ceil(needed * (1 - 1e-9)));
  return { responseMs: 2 * syncMs + asyncMs, perSecond, processesNeeded };
}

/**
 * Returns the response times of `requests` simultaneous requests: 1 to 1,000,000. Pure.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for an unknown name or a value out of range
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
