/**
 * The arithmetic of a loop that handles requests in two synchronous parts with a wait between them: the first reads the
 * request and asks for something, the second makes the response of it. `syncMs` is the time of ONE part. What is waited for
 * (a database, a disk) goes on elsewhere, so it adds to the response time and takes nothing from the capacity.
 */
import { parse, parseValue } from '@millrace/base/options';
import * as is from '@millrace/base/schema';

/** One request, in ms. */
export interface RequestTimes {
  /** Time on the loop of one of the two synchronous parts: above 0, up to 3,600,000. */
  syncMs: number;
  /** Time between them, off the loop: 0 (default) to 3,600,000. */
  asyncMs?: number;
}

/** Requests of one kind, and what is asked about them. */
export interface CapacityRequest extends RequestTimes {
  /** Requests a second that arrive, for `processesNeeded`: 0 (default) to 1,000,000,000. */
  ratePerSecond?: number;
  /** Busy share that a loop is to have at the most, for `processesNeeded`: above 0, up to 1; default 0.7, which leaves room for bursts. */
  utilization?: number;
}

/** What loops can do with requests of one kind. */
export interface Capacity {
  /** Ms from a request to its response on an idle loop: two synchronous parts and the wait. */
  readonly responseMs: number;
  /** Requests a second that one loop can answer at the most, which is one core: both parts need it, the wait does not. */
  readonly perSecond: number;
  /** Processes, each with a loop and a core of its own, that the rate needs; at least 1. */
  readonly processesNeeded: number;
}

/** Ms until the response of each of the requests that arrive together. */
export interface Burst {
  /**
   * On a loop: first parts come first, one after the other, and the waits go on meanwhile; second parts follow in the same order. With
   * parts of 10 ms and a wait of 10 ms, three requests are answered after 40, 50 and 60 ms.
   */
  readonly loop: number[];
  /** Where each is handled to its end before the next one begins: 30, 50 and 70 ms. An upper bound for the last one, and so for all. */
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
 * What loops can do with requests of one kind. Pure.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a name it does not know or a value out of range
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
