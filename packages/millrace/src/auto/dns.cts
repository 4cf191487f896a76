/**
 * Look-ups of names: `lookup` of `node:dns` and `node:dns/promises`, and so of every connection to a name. Each is a job of the
 * threadpool, and its four threads also read the files. Whoever calls another server for each request asks the same over and over: equal
 * questions that are under way at one time are one *flight* here, which begins with the first and ends with the answer.
 *
 * Nothing is kept after that, so nothing is staler than what the first of them was told. A program sees what it sees on Node.js: each
 * caller gets an answer of its own, in the order of asking, in its own async context and in a macrotask of its own, so that ticks and
 * promise jobs run between two callbacks. Wrong arguments go to Node.js, whose errors are thrown.
 *
 * With `ttl` answers are kept for that time. When a name server does not answer, the last answer counts for `staleIfError` longer; that
 * a name does not exist is an answer.
 */
import { Patch } from '@millrace/base/patch';
import { builtin, isError, otherRuntime } from '@millrace/base/realm';
import { performance } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import { type DnsSettings, type Part, sentence } from './feature.cjs';
import { hideUs, ownFrames } from './frames.cjs';

const dns = builtin('node:dns');
const { AsyncResource } = builtin('node:async_hooks');
const { syncBuiltinESMExports } = builtin('node:module');
const { isIP } = builtin('node:net');

/** Arguments of a callback: an error; or null, and an address and its family, or a list of both. */
type Answer = readonly unknown[];
type Callback = (this: unknown, ...answer: Answer) => void;
type Lookup = (this: unknown, ...args: unknown[]) => unknown;

/** A caller that waits for an answer. */
interface Waiting {
  readonly callback: Callback;
  readonly context: import('node:async_hooks').AsyncResource;
}

/** A question that is under way. */
interface Flight {
  /** What Node.js has returned to the first caller. */
  request: unknown;
  /** The others. */
  readonly waiting: Waiting[];
}

/** More answers than this are not kept; the oldest ones go. */
const mostKept = 1000;
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

  constructor({ ttl = 0, staleIfError = usualStaleMs }: DnsSettings) {
    this.#ttlMs = ttl;
    this.#staleMs = staleIfError;
    this.#patches = [
      new Patch(dns, 'lookup', (original) => this.#calling(original)),
      new Patch(dns.promises, 'lookup', (original) => this.#promising(original)),
    ];
  }

  on(): undefined {
    const isForeign = [dns, dns.promises].some(
      ({ lookup }, i) => !this.#patches[i]!.isApplied && !isOfNode(lookup),
    );
    if (isForeign) {
      // Whoever has replaced it wants to see each call.
      this.why =
        otherRuntime === null
          ? 'dns.lookup was replaced before millrace/auto was loaded'
          : `${otherRuntime} has functions of its own in the place of those of Node.js`;
      return;
    }
    try {
      for (const patch of this.#patches) patch.apply();
    } catch (error) {
      this.why = sentence(error);
      return this.off() as undefined;
    }
    this.#isOn = true;
    syncBuiltinESMExports();
  }

  off(): void {
    this.#isOn = false;
    this.#kept.clear();
    for (const patch of this.#patches) patch.undo();
    syncBuiltinESMExports();
  }

  #calling(original: Lookup): Lookup {
    const part = this;
    return function lookup(this: unknown, ...args: unknown[]): unknown {
      const hasOptions = typeof args[1] !== 'function';
      const callback = args[hasOptions ? 2 : 1] as Callback;
      const key = part.#keyOf(args[0], hasOptions ? args[1] : undefined);
      if (key === null || typeof callback !== 'function') {
        return pass(original, this, args);
      }
      const known = part.#join(key, callback);
      if (known !== null) return known.request;
      const flight: Flight = { request: {}, waiting: [] };
      const land: Callback = function (...answer) {
        Reflect.apply(callback, this, part.#land(key, flight, answer));
      };
      flight.request = pass(original, this, [
        ...(hasOptions ? args.slice(0, 2) : args.slice(0, 1)),
        land,
      ]);
      part.#flights.set(key, flight);
      return flight.request;
    };
  }

  #promising(original: Lookup): Lookup {
    const part = this;
    return function lookup(this: unknown, ...args: unknown[]): unknown {
      const key = part.#keyOf(args[0], args[1]);
      if (key === null) return pass(original, this, args);
      const isList = (args[1] as { all?: unknown } | null | undefined)?.all === true;
      /** The promise's value, or its rejection. */
      const settle = ([error, address, family]: Answer) => {
        if (error !== null) throw error;
        return isList ? address : { address, family };
      };
      let tell!: Callback;
      const told = new Promise<Answer>((resolve) => {
        tell = (...answer) => resolve(answer);
      });
      if (part.#join(key, tell) !== null) return told.then(settle);
      const flight: Flight = { request: {}, waiting: [] };
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
  #keyOf(hostname: unknown, given: unknown): string | null {
    if (!this.#isOn || typeof hostname !== 'string' || hostname === '' || isIP(hostname) !== 0) {
      return null;
    }
    const options = typeof given === 'number' ? { family: given } : (given ?? {});
    if (typeof options !== 'object') return null;
    const { family, hints, all, verbatim, order } = options as Record<string, unknown>;
    const isUsual =
      [undefined, null, 0, 4, 6].includes(family as number) &&
      isAbsentOr('number', hints) &&
      isAbsentOr('boolean', all) &&
      isAbsentOr('boolean', verbatim) &&
      isAbsentOr('string', order);
    if (!isUsual) return null;
    const question = [family || 0, hints || 0, all ?? false, verbatim ?? '', order ?? ''];
    return [hostname, ...question, dns.getDefaultResultOrder()].join('\n');
  }

  /** The flight that will tell `callback`; null if there is none. */
  #join(key: string, callback: Callback): Flight | null {
    const kept = this.#kept.get(key);
    const isFresh = kept !== undefined && performance.now() - kept.atMs < this.#ttlMs;
    const flight = isFresh ? { request: {}, waiting: [] } : this.#flights.get(key);
    if (flight === undefined) return null;
    this.state = 'active';
    // Of the type that Node.js gives each look-up.
    const waiting = { callback, context: new AsyncResource('GETADDRINFOREQWRAP') };
    if (isFresh) tell(waiting, flight.request, copyOf(kept.answer));
    else flight.waiting.push(waiting);
    return flight;
  }

  /** The flight is over: tells those that wait, and returns what the first is told. */
  #land(key: string, flight: Flight, answer: Answer): Answer {
    this.#flights.delete(key);
    const valid = this.#ttlMs === 0 ? answer : this.#keep(key, answer);
    for (const each of flight.waiting) tell(each, flight.request, copyOf(valid));
    return valid;
  }

  /** Keeps an answer; returns the one that counts. */
  #keep(key: string, answer: Answer): Answer {
    const now = performance.now();
    const [error] = answer as [NodeJS.ErrnoException | null];
    if (error === null) {
      this.#kept.delete(key);
      this.#kept.set(key, { answer: copyOf(answer), atMs: now });
      if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value!);
      return answer;
    }
    const last = this.#kept.get(key);
    const counts = last !== undefined && now - last.atMs < this.#ttlMs + this.#staleMs;
    return counts && error.code !== 'ENOTFOUND' ? copyOf(last.answer) : answer;
  }
}

/** Calls Node.js, whose errors about wrong arguments have stacks without us. */
function pass(original: Lookup, caller: unknown, args: readonly unknown[]): unknown {
  const { stackTraceLimit: limit } = Error;
  if (typeof limit !== 'number') return Reflect.apply(original, caller, args);
  Reflect.set(Error, 'stackTraceLimit', limit + ownFrames);
  try {
    return Reflect.apply(original, caller, args);
  } catch (error) {
    hideUs(error, limit);
    throw error;
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit);
  }
}

/** In a macrotask of its own. */
function tell({ callback, context }: Waiting, request: unknown, answer: Answer): void {
  atTurnEnd(() => context.runInAsyncScope(callback, request, ...answer));
}

/** For one caller alone, who may change it. */
function copyOf([error, addresses, ...others]: Answer): Answer {
  if (error !== null) return [isError(error) ? copyOfError(error) : error];
  const isList = Array.isArray(addresses);
  return [null, isList ? addresses.map((each) => ({ ...each })) : addresses, ...others];
}

function copyOfError(error: Error): Error {
  const copy = Object.assign(new Error(error.message), error);
  copy.stack = error.stack!;
  return copy;
}

const isAbsentOr = (type: string, value: unknown): boolean =>
  value === undefined || value === null || typeof value === type;

/** Both begin alike, in Node.js 20 to 24. Of an unknown release they are left alone. */
function isOfNode(method: unknown): boolean {
  return /^function lookup\(hostname, options(, callback)?\) \{\s+let hints = 0;/.test(
    String(method),
  );
}
