/**
 * Path of a request. If it may share responses (key.ts), it joins the requests with the same key. One of them looks for a usable
 * copy, and runs the handler if there is none (recording.ts); the others get its result (exchange.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MillraceError, show } from '@millrace/base/errors';
import { isThenable } from '@millrace/base/realm';
import { announce } from '@millrace/base/sources';
import { performance } from '@millrace/base/timers';
import { guardOf } from '../http/exchange.js';
import type { StaleSource } from '../shedding.js';
import { type Answer, ageOf, type Copy } from './answer.js';
import { type Call, type Exchange, exchangeOf, isTaken, replay } from './exchange.js';
import { type Asked, type Bypass, bypassReasons, Keys, placeOf } from './key.js';
import { type CachedOptions, type CompleteOptions, completeOptions } from './options.js';
import { type Answered, Recording, type Run } from './recording.js';
import { type Unshared, unsharedReasons } from './shareable.js';
import { dedupe, Lru, openStore, type Store, type StoreCounts } from './store.js';

/** Request that waits among those with the same key. */
interface Ask {
  readonly exchange: Exchange;
  readonly id: string;
  readonly key: string;
  /** Number of times that it has joined others before. */
  readonly tries: number;
  /** Ends the caller's call of the handler. */
  readonly resolve: (result: unknown) => void;
  /** True for the request that the handler runs for. */
  leads: boolean;
}

/**
 * Result for all waiting requests. A response is for those with this key: it may vary by headers that were not known to
 * matter.
 */
type Outcome =
  | Exclude<Run, { kind: 'answer' | 'late' }>
  | { kind: 'answer'; answer: Answer; key: string }
  | { kind: 'late'; copy: Copy | undefined }
  | { kind: 'copy'; copy: Copy };

/** Most times that a request joins others whose run yields nothing for it; then it runs alone. */
const maxTries = 2;

class AnswerCache implements StaleSource {
  readonly #options: CompleteOptions;
  readonly #keys: Keys;
  readonly #store: Store;
  readonly #counts: Counts = newCounts();
  /** Keys whose responses were for one request alone, and the time in ms until which requests for them run alone. */
  readonly #unshared: Lru<number>;
  /** Paths of requests that have reached the handler: for a guard it answers only those. */
  readonly #places: Lru<true>;
  /** Passes the result of the first request to all with the same key. */
  readonly #joined: (ask: Ask) => Promise<Outcome>;

  constructor(options: CompleteOptions) {
    this.#options = options;
    this.#keys = new Keys(options);
    this.#store = openStore(options);
    this.#unshared = new Lru(options.size);
    this.#places = new Lru(options.size);
    this.#joined = dedupe(
      (ask) => ask.key,
      (ask) => this.#find(ask),
    );
    options.guard?.caches.add(this);
    announce('cached', this as AnswerCache, (each) => each.stats());
  }

  stats(): CachedStats {
    return structuredClone({ ...this.#counts, ...this.#store.counts() });
  }

  /** Answers from a copy, or by running the handler; returns the value for its caller. */
  handle(exchange: Exchange, direct: () => unknown): unknown {
    if (exchange.res.headersSent) {
      this.#counts.bypassed.sent++;
      return direct();
    }
    let identity: ReturnType<Keys['identify']>;
    try {
      identity = this.#keys.identify(exchange.req);
    } catch (error) {
      this.#counts.failed++;
      return exchange.fail(error, true);
    }
    if ('bypass' in identity) {
      this.#counts.bypassed[identity.bypass]++;
      return direct();
    }
    if (this.#options.guard !== null) this.#places.set(placeOf(exchange.req), true);
    const { id } = identity;
    return new Promise((resolve) => this.#join(exchange, id, 0, resolve));
  }

  /** Answers with a copy, even a stale one, in place of a refusal by a guard. */
  answer(req: IncomingMessage, res: ServerResponse): boolean | Promise<boolean> {
    if (this.#places.get(placeOf(req)) === undefined) return false;
    const id = this.#idOf(req);
    if (id === undefined) return false;
    return after(this.#look(req, id, this.#keys.of(req, id)), (copy) => {
      if (copy === undefined || !this.#isUsable(copy, true) || isTaken(req, res)) return false;
      this.#counts.shed++;
      this.#replay(req, res, copy);
      return true;
    });
  }

  /** Returns the identity of a request. If `key` needs more than the bare request and throws, the guard refuses as without a cache. */
  #idOf(req: IncomingMessage): string | undefined {
    try {
      const identity = this.#keys.identify(req);
      return 'id' in identity ? identity.id : undefined;
    } catch {
      return undefined;
    }
  }

  #join(exchange: Exchange, id: string, tries: number, resolve: Ask['resolve']): void {
    const key = this.#keys.of(exchange.req, id);
    if (tries > maxTries || performance.now() < (this.#unshared.get(key) ?? 0)) {
      this.#goAlone(exchange, resolve);
      return;
    }
    const ask: Ask = { exchange, id, key, tries, resolve, leads: false };
    void this.#joined(ask)
      .then((outcome) => {
        if (!ask.leads) this.#serve(ask, outcome);
      })
      // Middleware has its own methods on a response, and they may throw.
      .catch((error) => resolve(exchange.fail(error, true)));
  }

  #goAlone(exchange: Exchange, resolve: Ask['resolve']): void {
    this.#counts.bypassed.unshared++;
    resolve(exchange.run());
  }

  /** Finds the outcome for a key. Never fails: a failure is an outcome. */
  #find(ask: Ask): Outcome | Promise<Outcome> {
    const { exchange, id, key } = ask;
    return after(this.#look(exchange.req, id, key), (copy) => {
      try {
        if (copy !== undefined) {
          if (this.#isUsable(copy, false)) return { kind: 'copy', copy };
          if (this.#isUsable(copy, true) && this.#isUnderPressure(exchange)) {
            return { kind: 'copy', copy };
          }
        }
      } catch (error) {
        return { kind: 'error', error };
      }
      // The handler does not run for a client who has left; another waiting request is next.
      if (exchange.isTaken) return { kind: 'cut' };
      return this.#lead(ask, copy);
    });
  }

  async #lead(ask: Ask, copy: Copy | undefined): Promise<Outcome> {
    const { exchange, id, key, resolve } = ask;
    ask.leads = true;
    this.#counts.misses++;
    const { req, res } = exchange;
    // As they are now: the handler may change them.
    const asked = { method: req.method, headers: { ...req.headers } };
    const recording = new Recording(req, res, exchange.headers(), this.#options);
    resolve(exchange.run(recording));
    const run = await recording.done;
    switch (run.kind) {
      case 'answer':
        if (!this.#keys.learn(id, run.vary)) return this.#alone(key, 'vary');
        return { ...run, key: this.#keep(asked, id, run) };
      case 'alone':
        return this.#alone(key, run.reason);
      case 'late':
        return { ...run, copy };
      case 'cut':
        this.#counts.cut++;
        return run;
      default:
        return run;
    }
  }

  #alone(key: string, reason: Unshared): Outcome {
    this.#counts.notKept[reason]++;
    this.#unshared.set(key, performance.now() + 1000 * Math.max(1, this.#options.ttl));
    return { kind: 'alone', reason };
  }

  /** Keeps a response if it may be kept. Returns the key of its requests. */
  #keep(asked: Asked, id: string, { answer, mayBeStale }: Answered): string {
    const key = this.#keys.of(asked, id);
    const { ttl, stale, statuses } = this.#options;
    const copy = { ...answer, at: this.#store.now(), mayBeStale };
    const seconds = mayBeStale ? ttl + stale : ttl;
    if (!statuses.has(answer.status)) this.#counts.notKept.status++;
    else if (seconds > 0) this.#store.set(key, copy, seconds);
    return key;
  }

  #serve(ask: Ask, outcome: Outcome): void {
    const { exchange, id, tries, resolve } = ask;
    if (exchange.isTaken) {
      this.#counts.gone++;
      resolve(undefined);
      return;
    }
    switch (outcome.kind) {
      case 'copy':
        this.#give(ask, outcome.copy);
        return;
      case 'answer':
        if (this.#keys.of(exchange.req, id) === outcome.key) this.#give(ask, outcome.answer);
        else this.#join(exchange, id, tries + 1, resolve);
        return;
      case 'cut':
        this.#join(exchange, id, tries + 1, resolve);
        return;
      case 'alone':
        this.#goAlone(exchange, resolve);
        return;
      case 'error':
        this.#counts.failed++;
        resolve(exchange.fail(outcome.error, false));
        return;
      case 'late':
        if (outcome.copy !== undefined && this.#isUsable(outcome.copy, true)) {
          this.#give(ask, outcome.copy);
          return;
        }
        this.#counts.timedOut++;
        resolve(exchange.fail(timeoutError(exchange.req, this.#options.timeout), false));
    }
  }

  #give({ exchange, resolve }: Ask, answer: Answer | Copy): void {
    exchange.takeOver();
    const { req, res } = exchange;
    if (!('at' in answer)) this.#counts.deduplicated++;
    else if (this.#isUsable(answer, false)) this.#counts.hits++;
    else this.#counts.stale++;
    this.#replay(req, res, answer);
    resolve(undefined);
  }

  #replay(req: IncomingMessage, res: ServerResponse, answer: Answer | Copy): void {
    const age =
      'at' in answer
        ? { seconds: this.#ageOf(answer) / 1000, isStale: !this.#isUsable(answer, false) }
        : null;
    if (replay(req, res, answer, age)) this.#counts.notModified++;
  }

  /** Looks for a copy. The response to a GET also answers a HEAD. */
  #look(req: IncomingMessage, id: string, key: string): ReturnType<Store['get']> {
    if (req.method !== 'HEAD') return this.#store.get(key);
    return after(
      this.#store.get(this.#keys.of(req, id, 'GET')),
      (copy) => copy ?? this.#store.get(key),
    );
  }

  #isUsable(copy: Copy, orStale: boolean): boolean {
    const { ttl, stale } = this.#options;
    return this.#ageOf(copy) < 1000 * (orStale && copy.mayBeStale ? ttl + stale : ttl);
  }

  #ageOf(copy: Copy): number {
    return ageOf(copy, this.#store.now());
  }

  #isUnderPressure(exchange: Exchange): boolean {
    const { underPressure, guard } = this.#options;
    if (underPressure !== null) return underPressure();
    const source = guard ?? guardOf(exchange.req);
    return source?.underPressure ?? exchange.underPressure;
  }
}

/**
 * Uses an immediate value immediately: with copies in this process a handler runs before its caller goes on, as without a
 * cache.
 */
function after<In, Out>(
  value: In | Promise<In>,
  fn: (value: In) => Out | Promise<Out>,
): Out | Promise<Out> {
  return isThenable(value) ? value.then(fn) : fn(value);
}

function timeoutError(req: IncomingMessage, timeout: number): MillraceError {
  const error = new MillraceError(
    'MILLRACE_E_TIMEOUT',
    `the handler has not answered an identical ${req.method} within ${timeout} ms (option 'timeout' of cached())`,
  );
  // Names that Express and Fastify look up.
  return Object.assign(error, { status: 503, statusCode: 503 });
}

/** Handler that shares its responses. */
export type CachedHandler<Handler> = Handler & {
  /** Counters since the handler was made. */
  stats(): CachedStats;
};

/**
 * Returns a handler of the same shape that answers identical requests with one run of `handler`, if they come while it runs
 * or within `ttl` seconds after it. Under pressure its responses serve `stale` seconds longer.
 *
 * Takes handlers of node:http, Express and Connect (also routers and middleware: then the response of a later handler is
 * recorded), and of Fastify. Costs about as much as a small response: use it for handlers that take a millisecond or more.
 *
 * @throws MILLRACE_E_INVALID_OPTION, MILLRACE_E_INVALID_ARGUMENT
 */
export function cached<Handler extends (...args: any[]) => unknown>(
  handler: Handler,
  options: CachedOptions,
): CachedHandler<Handler> {
  if (typeof handler !== 'function') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `cached() takes a function that answers requests, not ${show(handler)}`,
    );
  }
  const cache = new AnswerCache(completeOptions(options));
  // Express counts parameters: one with four would be for errors.
  function cachedHandler(this: unknown, ...args: unknown[]): unknown {
    const call: Call = [handler, this, args];
    return cache.handle(exchangeOf(call), () => handler.apply(this, args));
  }
  return Object.assign(cachedHandler, {
    stats: () => cache.stats(),
  }) as unknown as CachedHandler<Handler>;
}

/** Counters of `cached()`. */

/** Reason why a shareable response was not kept: the reasons for those that may not, or its status. */
type NotKept = Unshared | 'status';

/**
 * Counters of a cached handler. Each request is counted once, in one of the first seven or in `bypassed`, when its outcome is
 * known.
 */
export interface CachedStats extends StoreCounts {
  /** Requests served from a copy within its `ttl`. */
  hits: number;
  /** Requests served from a copy after its `ttl`. */
  stale: number;
  /** Requests that ran the handler, for themselves and for those that came meanwhile. */
  misses: number;
  /** Requests served with the response to another one. */
  deduplicated: number;
  /** Requests that waited for a run of the handler that failed, and got its error. */
  failed: number;
  /** Requests that waited longer than `timeout`, without a copy. */
  timedOut: number;
  /** Requests whose client left, or that other code answered, while they waited. */
  gone: number;
  /** Requests that ran the handler as without a cache, by reason. */
  bypassed: Record<Bypass, number>;
  /** Responses to `misses` that were not kept, by reason. */
  notKept: Record<NotKept, number>;
  /** Runs that ended because their client left, and began again for the waiting requests. */
  cut: number;
  /** Requests among `hits`, `stale`, `shed` and `deduplicated` that were answered with a 304. */
  notModified: number;
  /** Requests shed by the guard and served from a copy instead. Not counted above. */
  shed: number;
}

type Counts = Omit<CachedStats, keyof StoreCounts>;

function newCounts(): Counts {
  return {
    hits: 0,
    stale: 0,
    misses: 0,
    deduplicated: 0,
    failed: 0,
    timedOut: 0,
    gone: 0,
    bypassed: zeros(bypassReasons),
    notKept: zeros([...unsharedReasons, 'status']),
    cut: 0,
    notModified: 0,
    shed: 0,
  };
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}
