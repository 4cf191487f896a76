/**
 * Look-ups of names: `lookup` of `node:dns` and `node:dns/promises`, and so of every connection to a name. Each is a job of the
 * threadpool, and its four threads also read the files. Whoever calls another server for each request asks the same over and over: equal
 * questions that come together are one *flight* here, which begins with the first and ends with the answer. Who asks later than
 * `boardingMs` after the first begins another: a look-up may take many seconds, and the same question asked anew may have another answer.
 *
 * Nothing is kept. A program sees what it sees on Node.js: each caller gets an answer of its own, in the order of asking, in its own
 * async context and in a macrotask of its own, so that ticks and promise jobs run between two callbacks. Questions with callbacks and
 * those with promises have flights of their own, as their errors have other stacks. Wrong arguments go to Node.js, whose errors are thrown.
 *
 * With `ttl` answers are kept for that time. When no name server answers, the last answer counts for `staleIfError` longer; that a name does
 * not exist is an answer.
 */
import { Patch } from '@millrace/base/patch';
import { builtin, isError } from '@millrace/base/realm';
import { clearTimeout, performance, setTimeout } from '@millrace/base/timers';
import type { DnsSettings, Part } from './feature.cjs';
import {
  applyAll,
  checkModules,
  PendingCallback,
  pass,
  replacedBefore,
  undoAll,
} from './functions.cjs';

const dns = builtin('node:dns');
const { isIP } = builtin('node:net');
const { isProxy } = builtin('node:util').types;
/** Undefined in Node.js 20.0. */
const { getDefaultResultOrder } = dns as Partial<typeof dns>;
// Applications may replace the global one.
const { Promise: NodePromise } = globalThis;

/** Arguments of a callback: an error; or null, and an address and its family, or a list of both. */
type Answer = readonly unknown[];
type Callback = (this: unknown, ...answer: Answer) => void;
type Lookup = (this: unknown, ...args: unknown[]) => unknown;

/** A question that is under way. */
interface Flight {
  /** Ends the boarding; others join until then. */
  timer: NodeJS.Timeout | null;
  /** Callers but the first one. */
  readonly waiting: PendingCallback[];
}

/** Look-ups of this thread with which others can be shared: all, and those for which the system was not asked. */
const counters = { lookups: 0, shared: 0, kept: 0 };

/** Ms from the beginning of a flight in which others join it. */
const boardingMs = 50;
/** Length of the longest name; Node.js refuses some longer ones without a look-up. */
const longestName = 255;
/** Most answers that are kept; the oldest ones go. */
const mostKept = 1000;
/** Codes of errors that say that no name server has answered. */
const noAnswer: readonly unknown[] = ['EAI_AGAIN', 'EAI_FAIL'];
const orders: readonly unknown[] = [undefined, null, 'verbatim', 'ipv4first', 'ipv6first'];
const usualStaleMs = 60_000;

export class DnsPart implements Part {
  state: Part['state'] = 'waiting';
  why: string | null = null;
  readonly #patches: readonly Patch[];
  readonly #flights = new Map<string, Flight>();
  /** Answers by question, the oldest first. */
  readonly #kept = new Map<string, { readonly answer: Answer; readonly atMs: number }>();
  readonly #ttlMs: number;
  readonly #staleMs: number;
  #isOn = false;
  #isAnnounced = false;

  constructor({ ttl = 0, staleIfError = usualStaleMs }: DnsSettings) {
    this.#ttlMs = ttl;
    this.#staleMs = staleIfError;
    this.#patches = [
      new Patch(dns, 'lookup', (original) => this.#calling(original)),
      new Patch(dns.promises, 'lookup', (original) => this.#promising(original)),
    ];
  }

  on(): undefined {
    if (getDefaultResultOrder === undefined) {
      this.why = `Node.js ${process.version} does not tell in which order it returns addresses; use a later one`;
      return;
    }
    const isForeign = [dns, dns.promises].some(
      ({ lookup }, i) => !this.#patches[i]!.isApplied && !isOfNode(lookup),
    );
    this.why = isForeign ? replacedBefore('dns.lookup') : applyAll(this.#patches);
    this.#isOn = this.why === null;
  }

  off(): void {
    this.#isOn = false;
    this.#kept.clear();
    undoAll(this.#patches);
  }

  #calling(original: Lookup): Lookup {
    const part = this;
    return function lookup(this: unknown, ...args: unknown[]): unknown {
      const hasOptions = typeof args[1] !== 'function';
      const callback = args[hasOptions ? 2 : 1] as Callback;
      const key = part.#keyOf('callback', args[0], hasOptions ? args[1] : undefined);
      if (key === null || typeof callback !== 'function') {
        return pass(original, this, args);
      }
      // Node.js returns such an object where it makes no request.
      const request = {};
      if (part.#joins(key, request, callback)) return request;
      const flight = newFlight();
      const land: Callback = function (...answer) {
        Reflect.apply(callback, this, part.#land(key, flight, answer));
      };
      const asked = pass(original, this, [
        ...(hasOptions ? args.slice(0, 2) : args.slice(0, 1)),
        land,
      ]);
      part.#flights.set(key, flight);
      return asked;
    };
  }

  #promising(original: Lookup): Lookup {
    const part = this;
    return function lookup(this: unknown, ...args: unknown[]): unknown {
      const key = part.#keyOf('promise', args[0], args[1]);
      if (key === null) return pass(original, this, args);
      const isList = (args[1] as { all?: unknown } | null | undefined)?.all === true;
      /** The promise's value, or its rejection. */
      const settle = ([error, address, family]: Answer) => {
        if (error !== null) throw error;
        return isList ? address : { address, family };
      };
      let tell!: Callback;
      const told = new NodePromise<Answer>((resolve) => {
        tell = (...answer) => resolve(answer);
      });
      if (part.#joins(key, undefined, tell)) return told.then(settle);
      const flight = newFlight();
      const answered = pass(original, this, args) as Promise<any>;
      part.#flights.set(key, flight);
      return answered.then(
        (value) => {
          part.#land(key, flight, isList ? [null, value] : [null, value.address, value.family]);
          return value;
        },
        (error) => settle(part.#land(key, flight, [error])),
      );
    };
  }

  /**
   * Questions with the same key have the same answer. Null where Node.js is to be called: it answers at once, or refuses. What is
   * checked no further here was checked by Node.js for the first of a flight.
   */
  #keyOf(kind: string, hostname: unknown, given: unknown): string | null {
    if (!this.#isOn || typeof hostname !== 'string') return null;
    if (hostname === '' || hostname.length > longestName || isIP(hostname) !== 0) return null;
    const options = typeof given === 'number' ? { family: given } : (given ?? {});
    if (typeof options !== 'object' || !isReadable(options)) return null;
    const { family, hints, all, verbatim, order } = options as Record<string, unknown>;
    const isUsual =
      [undefined, null, 0, 4, 6].includes(family as number) &&
      isAbsentOr('number', hints) &&
      isAbsentOr('boolean', all) &&
      isAbsentOr('boolean', verbatim) &&
      orders.includes(order);
    if (!isUsual) return null;
    const question = [family || 0, hints || 0, all ?? false, verbatim ?? '', order ?? ''];
    return [kind, hostname, ...question, getDefaultResultOrder!()].join('\n');
  }

  /** Reports whether `callback` will be told by a flight that has begun, or an answer that is kept. `request` is its `this`. */
  #joins(key: string, request: unknown, callback: Callback): boolean {
    const now = performance.now();
    const kept = this.#kept.get(key);
    const isFresh = kept !== undefined && now - kept.atMs < this.#ttlMs;
    const flight = this.#flights.get(key);
    counters.lookups++;
    if (!isFresh && !flight?.timer) return false;
    if (isFresh) counters.kept++;
    else counters.shared++;
    this.#act();
    // Node.js gives each look-up a resource of this type.
    const waiting = new PendingCallback('GETADDRINFOREQWRAP', callback, request);
    if (isFresh) waiting.call(copyOf(kept.answer));
    else flight!.waiting.push(waiting);
    return true;
  }

  #act(): void {
    this.state = 'active';
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    announceCounters();
  }

  /** The flight is over: tells those that wait, and returns what the first is told. */
  #land(key: string, flight: Flight, answer: Answer): Answer {
    if (flight.timer !== null) clearTimeout(flight.timer);
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    const valid = this.#ttlMs > 0 && this.#isOn ? this.#keep(key, answer) : answer;
    for (const each of flight.waiting) each.call(copyOf(valid));
    return valid;
  }

  /** Keeps an answer; returns the one that counts. */
  #keep(key: string, answer: Answer): Answer {
    const now = performance.now();
    const [error] = answer as [NodeJS.ErrnoException | null];
    const last = this.#kept.get(key);
    if (error !== null && noAnswer.includes(error.code)) {
      const counts = last !== undefined && now - last.atMs < this.#ttlMs + this.#staleMs;
      return counts ? copyOf(last.answer) : answer;
    }
    this.#kept.delete(key);
    if (error !== null) return answer;
    this.#kept.set(key, { answer: copyOf(answer), atMs: now });
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value!);
    return answer;
  }
}

/** Announces the counters, for metrics. Without them look-ups are still shared. */
async function announceCounters(): Promise<void> {
  try {
    checkModules();
    const { announce } = await import('@millrace/base/sources');
    announce('dns', counters, (each) => ({ ...each }));
  } catch {}
}

/** A timer, so that all that a turn asks is one flight, however long the turn takes. */
function newFlight(): Flight {
  const flight: Flight = { timer: null, waiting: [] };
  flight.timer = setTimeout(() => {
    flight.timer = null;
  }, boardingMs);
  flight.timer.unref();
  return flight;
}

/** A copy for one caller alone, who may change it. */
function copyOf([error, addresses, ...others]: Answer): Answer {
  if (error !== null) return [isError(error) ? copyOfError(error) : error];
  const isList = Array.isArray(addresses);
  return [null, isList ? addresses.map((each) => ({ ...each })) : addresses, ...others];
}

function copyOfError(error: Error): Error {
  const copy = Object.assign(new Error(error.message), error);
  try {
    copy.stack = error.stack!;
  } catch {
    // The application formats stacks, and has failed to.
  }
  return copy;
}

/** Options that can be read once more than Node.js does, and nobody sees it. */
const isReadable = (options: object): boolean =>
  !isProxy(options) &&
  ['family', 'hints', 'all', 'verbatim', 'order'].every(
    (name) => Object.getOwnPropertyDescriptor(options, name)?.get === undefined,
  );

const isAbsentOr = (type: string, value: unknown): boolean =>
  value === undefined || value === null || typeof value === type;

/** Reports whether a function is that of Node.js 20 to 24, where both begin alike. Of an unknown release they are left alone. */
function isOfNode(method: unknown): boolean {
  return /^function lookup\(hostname, options(, callback)?\) \{\s+let hints = 0;/.test(
    String(method),
  );
}
