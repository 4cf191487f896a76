/**
 * A pool of `pg` whose queries share connections: while the pool has a free client, `pool.query()` takes it, as ever; once all are taken, a
 * query is sent on a connection that already serves such queries, behind those in flight (pg's pipeline mode, one Sync per query).
 *
 * A client is checked out for queries by `pool.connect()` and is a lane until its last query has settled; then the pool has it back, and its
 * pipeline mode is as before. So what `connect()` gives to others is never a lane. Each query waits in one of two lines, is in flight in one
 * lane, or has settled; it is sent once. Statements that are quick reads share lanes. All others, and those not measured yet, have a lane to
 * themselves. Cursors and streams are left to the `query()` of the pool, and so is a query that asks alone and finds a free client: a pool
 * with enough clients costs as much as a plain one. The first run of a text that might share is no such query, as it has to be measured.
 *
 * Requests for clients stand in the pool's own line, with those of others, and serve queries that came before the request. When somebody
 * else waits there, one lane per waiter takes no further queries, so that it drains. A lane whose query fails drains too, and its client is
 * removed, as pool.query() does it; the queries behind the failed one are not affected.
 *
 * Lines, lanes and the rules by which a query gets one are one algorithm, and therefore one long file.
 */
import { captureContext, runInContext } from '@millrace/base/context';
import { MillraceError, show } from '@millrace/base/errors';
import { parse } from '@millrace/base/options';
import { type Method, patchMethod } from '@millrace/base/patch';
import { isDate, isUint8Array } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import { announce } from '@millrace/base/sources';
import { clearTimeout, nextTick, performance, setTimeout } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import { type Statement, Statements } from './statements.js';

/** Options of `pipelined()`. */
export interface PipelineOptions {
  /** Clients of the pool on which queries may share a connection: 1 to 10,000. Default: all. */
  maxPipelined?: number;
  /** Queries in flight on one connection: 1 to 10,000, default 64. Lower it if results are large. */
  maxDepth?: number;
  /**
   * Mean time in ms on the server from which a statement counts as slow and gets a connection of its own: 0 to 60,000,
   * default 10. Network delay is not part of it. With 0 no connection is shared.
   */
  slow?: number;
  /**
   * Lets INSERT, UPDATE, DELETE, MERGE and locking reads share connections too: default false, since a query that waits for a
   * lock delays the queries behind it.
   */
  writes?: boolean;
  /**
   * Prepares texts with parameters that share connections, under a name of their own, once per connection, so that the server
   * does not parse and plan them each time. Default false: a proxy may not keep prepared statements, and after a change of a
   * table its first query on each connection may fail with `cached plan must not change result type`.
   */
  prepare?: boolean;
  /** Queries that may wait for a connection: 1 to 100,000,000, default 65,536. Beyond it a query is refused. */
  maxQueue?: number;
}

/** Counters of a pipelined pool. They exclude cursors and streams. */
export interface PipelineStats {
  /**
   * Queries that found a free client and were left to the pool's own `query()`. The other counters exclude them, `errors`
   * too.
   */
  direct: number;
  /** Queries sent. */
  queries: number;
  /** Queries among them sent behind another one. */
  shared: number;
  /** Clients checked out for them. */
  checkouts: number;
  /** Queries that failed. */
  errors: number;
  /** Queries refused because `maxQueue` were waiting. */
  refused: number;
  /** Queries waiting for a connection, and the bound on them. */
  queued: number;
  maxQueue: number;
  /** Queries in flight, and the clients they are on. */
  inFlight: number;
  clients: number;
}

type AnyFunction = (...args: any[]) => any;

/** The parts of a pool that `pipelined()` uses: `Pool` of `pg`, with `Client` of `pg` 8.23 or later. */
export interface PgPool {
  query: AnyFunction;
  connect: AnyFunction;
  end: AnyFunction;
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** The given pool, with counters. */
export type PipelinedPool<Pool extends PgPool> = Pool & {
  /** A snapshot. */
  pipelineStats(): PipelineStats;
};

export const pipelineSchema = is.schema({
  maxPipelined: is.integer(1, 10_000, 10_000),
  maxDepth: is.integer(1, 10_000, 64),
  slow: is.ms(0, 60_000, 10),
  writes: is.boolean(false),
  prepare: is.boolean(false),
  maxQueue: is.integer(1, 100_000_000, 65_536),
} satisfies is.FieldsOf<PipelineOptions>);

/** The pool as it is inside; pg documents all of it but `Client` and `options`, which subclasses and tools rely on. */
interface Pool extends PgPool {
  readonly Client: new (options: object) => Client;
  readonly options: {
    readonly max: number;
    readonly connectionTimeoutMillis?: number;
    readonly Promise?: PromiseConstructor;
  };
}

interface Client {
  pipeline: boolean;
  readonly native?: unknown;
  readonly connection?: { readonly stream?: Corkable };
  readonly connectionParameters?: { readonly query_timeout?: number | string | false };
  query(config: unknown, values: unknown, callback: Callback): unknown;
  getTransactionStatus(): string | null;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

interface Corkable {
  cork?(): void;
  uncork?(): void;
}

/** The part of an object that pg takes in place of a text which is looked at. */
interface QueryConfig {
  readonly text: string;
  readonly values?: unknown;
  readonly name?: unknown;
  readonly query_timeout?: unknown;
}

type Callback = (error: Error | null | undefined, result?: unknown) => void;
type Release = (error?: unknown) => void;

const known = new WeakSet<PgPool>();

/**
 * Makes the queries of a `pg` pool share its connections once all of them are taken. Returns the same pool with `query` and
 * `end` replaced; `connect()` and transactions are as before.
 *
 * A query that finds a free client uses it as before. If there is none, a quick read goes out at the end of the turn behind others on a connection that serves only
 * `pool.query`. Errors and timeouts concern the query they belong to; if the connection is lost, each query in flight on it fails with that
 * error, and none is sent again. Rejects a query with MILLRACE_E_OVERLOADED when `maxQueue` queries wait. `end()` first sends the queries
 * that wait.
 *
 * Throws MILLRACE_E_INVALID_ARGUMENT for anything but a pool of `pg` 8.23 or later, for the native client, and for a pool that is pipelined
 * already; MILLRACE_E_INVALID_OPTION for an unknown option or a bad value. Costs a small part of a microsecond for a query that finds a
 * free client, and about a microsecond for any other.
 */
export function pipelined<Given extends PgPool>(
  pool: Given,
  options: PipelineOptions = {},
): PipelinedPool<Given> {
  const settings = parse('pipelined()', options, pipelineSchema);
  checkPool(pool);
  known.add(pool);
  const pipeline = new Pipeline(pool as unknown as Pool, settings);
  return Object.assign(pool, { pipelineStats: () => pipeline.stats() });
}

function checkPool(pool: PgPool): void {
  const wrong = wrongWith(pool);
  if (wrong === null) return;
  throw new MillraceError('MILLRACE_E_INVALID_ARGUMENT', `pipelined(): ${wrong}`);
}

function wrongWith(given: unknown): string | null {
  const pool = given as Partial<Pool> | null | undefined;
  const isPool =
    typeof pool?.query === 'function' &&
    typeof pool.connect === 'function' &&
    typeof pool.Client === 'function' &&
    typeof pool.options?.max === 'number';
  if (!isPool) return `the pool is ${show(given)}; it must be a Pool of the package pg`;
  if (known.has(pool as Pool)) return 'the pool is pipelined already; call it once per pool';
  let client: Client;
  try {
    // It opens nothing before connect().
    client = new pool.Client!(pool.options!);
    if (client.native !== undefined)
      return 'the pool has native clients; it must have those of pg in JavaScript';
    if (typeof client.pipeline === 'boolean') {
      client.pipeline = true;
      if (client.pipeline && typeof client.getTransactionStatus === 'function') return null;
    }
  } catch (error) {
    return `the client of the pool cannot be made: ${(error as Error).message}`;
  }
  return 'the pool is of a pg without pipeline mode; install pg 8.23 or later';
}

/** Query, from its call until it has settled. */
class Query {
  readonly config: unknown;
  readonly values: unknown;
  readonly statement: Statement | null;
  readonly name: string | undefined;
  /** The name is not in `config`. */
  readonly isNamedHere: boolean;
  /** True if it has a timeout of its own, which pg enforces. */
  readonly hasTimeout: boolean;
  /** True if it may share a connection. */
  readonly shares: boolean;
  /** Position among all queries. */
  readonly seq: number;
  /** The call's AsyncLocalStorage context; null if there is none. */
  readonly context = captureContext('auto');
  readonly #callback: Callback;
  isSettled = false;
  sentMs = 0;
  timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    plan: Plan,
    name: string | undefined,
    shares: boolean,
    seq: number,
    callback: Callback,
  ) {
    this.config = plan.config;
    this.values = plan.values;
    this.statement = plan.statement;
    this.name = plan.name ?? name;
    this.isNamedHere = name !== undefined;
    this.hasTimeout = plan.hasTimeout;
    this.shares = shares;
    this.seq = seq;
    this.#callback = callback;
  }

  /** Settles the query. Only the first call counts. */
  settle(error: Error | null | undefined, result?: unknown): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.timer);
    const callback = this.#callback;
    if (error) runInContext(this.context, callback, error);
    else runInContext(this.context, (value) => callback(undefined, value), result);
  }
}

/** Queries in order of arrival. One that has settled in line is skipped. */
class Line {
  readonly #queries: Query[] = [];
  #at = 0;

  /** The first that waits. */
  get first(): Query | undefined {
    while (this.#queries[this.#at]?.isSettled) this.#at++;
    const first = this.#queries[this.#at];
    if (first === undefined) this.#queries.length = 0;
    else if (this.#at > 1024) this.#queries.splice(0, this.#at);
    else return first;
    this.#at = 0;
    return first;
  }

  push(query: Query): void {
    this.#queries.push(query);
  }

  shift(): void {
    this.#at++;
  }
}

/** A client that is checked out for queries. */
class Lane {
  readonly client: Client;
  readonly release: Release;
  readonly onError: (error: Error) => void;
  /** Queries in the order in which they were sent; one that has timed out stays until its result comes. */
  readonly inFlight: Query[] = [];
  /** Limit in ms on the time of a query, as the client has it; 0: none. */
  readonly timeoutMs: number;
  readonly sinceMs = performance.now();
  readonly #before: boolean;
  /** True while it drains: it takes no further queries. */
  isClosing = false;
  isGone = false;
  /** First error of the client, for which it is removed. */
  failed: unknown;
  /** Time of its last result. */
  doneMs = 0;
  /** Queries have been sent behind others. */
  isPipelined = false;
  #isCorked = false;

  constructor(client: Client, release: Release, onError: (lane: Lane, error: Error) => void) {
    this.client = client;
    this.release = release;
    this.#before = client.pipeline;
    this.onError = (error) => onError(this, error);
    this.timeoutMs = Number(client.connectionParameters?.query_timeout ?? 0) || 0;
    client.on('error', this.onError);
  }

  /** The time since when the server works on the first query in flight, as far as results tell. */
  get headMs(): number {
    return Math.max(this.doneMs, this.inFlight[0]?.sentMs ?? 0);
  }

  /** Queries behind the one in flight go to the socket together, at the end of the turn: the server has something to do meanwhile. */
  holdWrites(): void {
    const stream = this.client.connection?.stream;
    if (this.#isCorked || stream?.cork === undefined) return;
    this.#isCorked = true;
    stream.cork();
    atTurnEnd(() => {
      this.#isCorked = false;
      stream.uncork?.();
    });
  }

  share(): void {
    this.isPipelined = true;
    this.client.pipeline = true;
  }

  /** Gives the client back, once. */
  leave(error: unknown): void {
    this.isGone = true;
    this.client.removeListener('error', this.onError);
    this.client.pipeline = this.#before;
    this.release(error);
  }
}

/** pg's own timer of a query; ours is in its place. */
const never = 2 ** 31 - 1;
/** A lane drains after this time at the latest, so that the pool's limits on the life and the uses of a client have effect. */
const laneMs = 1000;
/** Share of its distance by which the network delay follows slower results. */
const drift = 1 / 64;

const poolTimeout = 'timeout exceeded when trying to connect';

class Pipeline {
  readonly #pool: Pool;
  readonly #settings: is.Parsed<typeof pipelineSchema.fields>;
  readonly #statements = new Statements();
  readonly #lanes = new Set<Lane>();
  /** Lanes among them on which queries have been sent behind others. */
  #pipelined = 0;
  /** Queries that wait: those that may share a lane, and those that need one to themselves. */
  readonly #sharing = new Line();
  readonly #alone = new Line();
  #queued = 0;
  #queuedAlone = 0;
  #seq = 0;
  /** Requests for a client that the pool has not answered. */
  #asked = 0;
  /** Network delay in ms: the least that a query took which was alone. */
  #delayMs = Number.POSITIVE_INFINITY;
  /** The call of `end()`, while queries wait. */
  #end: (() => void) | null = null;
  readonly #counts = { direct: 0, queries: 0, shared: 0, checkouts: 0, errors: 0, refused: 0 };

  constructor(pool: Pool, settings: is.Parsed<typeof pipelineSchema.fields>) {
    this.#pool = pool;
    this.#settings = settings;
    const pipeline = this;
    patchMethod(pool, 'query', (original) => {
      return function (this: unknown, ...args: any[]): unknown {
        return pipeline.#query(original, args);
      };
    });
    patchMethod(pool, 'end', (original) => {
      return function (this: unknown, ...args: any[]): unknown {
        return pipeline.#endWith(original, args);
      };
    });
    announce('pipelined', this as Pipeline, (each) => each.stats());
  }

  stats(): PipelineStats {
    let inFlight = 0;
    for (const lane of this.#lanes) inFlight += lane.inFlight.length;
    return {
      ...this.#counts,
      queued: this.#queued,
      maxQueue: this.#settings.maxQueue,
      inFlight,
      clients: this.#lanes.size,
    };
  }

  // ---- what users call

  #query(original: Method, args: any[]): unknown {
    const plan = planOf(args, this.#statements);
    if (this.#isForPool(plan)) return Reflect.apply(original, this.#pool, args);
    const callback = args.slice(1, 3).find((each) => typeof each === 'function');
    if (callback === undefined) {
      return this.#promise((done) => this.#push(plan, done));
    }
    this.#push(plan, callback);
    return undefined;
  }

  /**
   * Reports whether a query is left to the pool: it is the only one to ask for a client, and there is a free one, so no
   * connection needs to be shared. Several queries of one tick are not left to it, as the later ones can follow the first at
   * once on a lane.
   */
  #isForPool(plan: Plan | null): boolean {
    if (this.#end !== null) return false;
    if (plan === null) return true;
    const { idleCount, waitingCount } = this.#pool;
    if (idleCount === 0 || waitingCount > 0 || this.#queued > 0 || this.#pipelined > 0)
      return false;
    if (this.#isHarmless(plan) && !this.#mayShare(plan)) return false;
    this.#counts.direct++;
    return true;
  }

  /** Returns a promise whose errors have the stack of the call, as those of pool.query(). */
  #promise(start: (done: Callback) => void): Promise<unknown> {
    const PromiseClass = this.#pool.options.Promise ?? Promise;
    return new PromiseClass((resolve, reject) => {
      start((error, result) => (error ? reject(error) : resolve(result)));
    }).catch((error: Error) => {
      Error.captureStackTrace(error);
      throw error;
    });
  }

  #push(plan: Plan | null, callback: Callback): void {
    if (plan === null || this.#end !== null || (this.#pool as { ending?: boolean }).ending) {
      callback(new Error('Cannot use a pool after calling end on the pool'));
      return;
    }
    const { maxQueue, prepare } = this.#settings;
    const shares = this.#mayShare(plan);
    const name = prepare && shares ? this.#nameOf(plan) : undefined;
    const query = new Query(plan, name, shares, ++this.#seq, callback);
    if (this.#queued >= maxQueue) {
      this.#counts.refused++;
      const sentence = `${this.#queued} queries wait for a connection, and maxQueue is ${maxQueue}; retry later, query less, or raise the bound`;
      nextTick(() => query.settle(new MillraceError('MILLRACE_E_OVERLOADED', sentence)));
      return;
    }
    (query.shares ? this.#sharing : this.#alone).push(query);
    this.#queued++;
    if (!query.shares) this.#queuedAlone++;
    this.#pump();
    if (query.sentMs === 0) this.#limitWait(query);
  }

  /** Reports whether it is harmless, and has been measured as quick. */
  #mayShare(plan: Plan): boolean {
    const ms = plan.statement?.ms;
    return typeof ms === 'number' && ms < this.#settings.slow && this.#isHarmless(plan);
  }

  /** Reports whether a query behind it does not notice it, if it is quick. */
  #isHarmless({ statement, isSafe }: Plan): boolean {
    const { writes } = this.#settings;
    if (!isSafe || statement === null) return false;
    return statement.effect === 'read' || (writes && statement.effect === 'write');
  }

  /** A name to prepare a statement under; undefined for one that has a name, or no values: pg sends the latter by another protocol. */
  #nameOf({ config, values, statement, name }: Plan): string | undefined {
    const given = values || (config as QueryConfig).values;
    const hasValues = Array.isArray(given) && given.length > 0;
    return name === undefined && hasValues ? this.#statements.prepare(statement!) : undefined;
  }

  /** The pool limits the wait for a client; a query that waits here has the same limit. */
  #limitWait(query: Query): void {
    const { connectionTimeoutMillis } = this.#pool.options;
    if (!connectionTimeoutMillis) return;
    query.timer = setTimeout(() => {
      this.#dequeued(query);
      query.settle(new Error(poolTimeout));
      this.#checkEnd();
    }, connectionTimeoutMillis);
    query.timer.unref();
  }

  #endWith(original: Method, args: any[]): unknown {
    if (this.#queued === 0 && this.#end === null) return Reflect.apply(original, this.#pool, args);
    const again = this.#end !== null;
    const start = (done: Callback) => {
      if (again) done(new Error('Called end on pool more than once'));
      else this.#end = () => void Reflect.apply(original, this.#pool, [done]);
    };
    if (typeof args[0] !== 'function') return this.#promise(start);
    start(args[0] as Callback);
    return undefined;
  }

  #checkEnd(): void {
    if (this.#queued > 0 || this.#end === null) return;
    const end = this.#end;
    // Queries are still refused by the pool itself.
    this.#end = null;
    end();
  }

  // ---- who gets which client

  /** True if no client is free, and none can be added. */
  get #isExhausted(): boolean {
    const { idleCount, totalCount, options } = this.#pool;
    return idleCount === 0 && totalCount >= options.max;
  }

  /** Requests of others for a client. */
  get #others(): number {
    return Math.max(0, this.#pool.waitingCount - this.#asked);
  }

  /** The query that has waited longest. */
  get #first(): Query | undefined {
    const sharing = this.#sharing.first;
    const alone = this.#alone.first;
    if (sharing === undefined || alone === undefined) return sharing ?? alone;
    return sharing.seq < alone.seq ? sharing : alone;
  }

  #dequeued(query: Query): void {
    this.#queued--;
    if (!query.shares) this.#queuedAlone--;
  }

  #take(query: Query): Query {
    (query.shares ? this.#sharing : this.#alone).shift();
    this.#dequeued(query);
    return query;
  }

  /** Sends what can be sent, and asks for clients for the rest. */
  #pump(): void {
    if (this.#lanes.size > 0) {
      for (let query = this.#sharing.first; query !== undefined; query = this.#sharing.first) {
        this.#closeFor(query);
        const lane = this.#laneFor(query);
        if (lane === null) break;
        this.#send(lane, this.#take(query));
      }
    }
    const most = Math.min(this.#queued, this.#pool.options.max);
    for (let asks = most - this.#asked; asks > 0; asks--) this.#ask();
    this.#checkEnd();
  }

  /**
   * Lets one lane drain for each request of others and, if a query that needs a lane to itself came before this one, for each of those:
   * the lanes with the least in flight.
   */
  #closeFor(query: Query): void {
    let owed = this.#others;
    const alone = this.#alone.first;
    if (alone !== undefined && alone.seq < query.seq) owed += this.#queuedAlone;
    if (owed === 0) return;
    for (const { isClosing } of this.#lanes) if (isClosing) owed--;
    for (; owed > 0; owed--) {
      let least: Lane | null = null;
      for (const lane of this.#lanes) {
        if (lane.isClosing) continue;
        if (least === null || lane.inFlight.length < least.inFlight.length) least = lane;
      }
      if (least === null) return;
      least.isClosing = true;
    }
  }

  #laneFor(query: Query): Lane | null {
    if (!this.#isExhausted) return null;
    let best: Lane | null = null;
    const now = performance.now();
    for (const lane of this.#lanes) {
      if (best !== null && lane.inFlight.length >= best.inFlight.length) continue;
      if (this.#takes(lane, query, now)) best = lane;
    }
    return best;
  }

  /** Reports whether a query may be sent behind those in flight. */
  #takes(lane: Lane, query: Query, now: number): boolean {
    const { maxDepth, slow } = this.#settings;
    const { inFlight } = lane;
    if (lane.isClosing || lane.failed !== undefined) return false;
    // Somebody may have left a transaction open.
    if (lane.client.getTransactionStatus() !== 'I') return false;
    if (inFlight.length === 0 || inFlight.length >= maxDepth || !inFlight[0]!.shares) return false;
    // The first may take longer than it ever did, or wait for a lock.
    if (now - lane.headMs > slow + this.#delayMs) return false;
    if (!lane.isPipelined && this.#pipelined >= this.#settings.maxPipelined) return false;
    if (now - lane.sinceMs > laneMs) {
      lane.isClosing = true;
      return false;
    }
    return query.name === undefined || this.#isPrepared(lane, query);
  }

  /**
   * Reports whether a name has been used successfully. If its first use fails to be parsed, later uses fail with it. So one
   * use has to succeed first.
   */
  #isPrepared(lane: Lane, query: Query): boolean {
    if (preparedOn(lane.client).get(query.name!) === query.statement) return true;
    return lane.inFlight.every(({ name }) => name !== query.name);
  }

  #ask(): void {
    const upTo = this.#seq;
    this.#asked++;
    this.#pool.connect((error: Error | undefined, client: Client, release: Release) => {
      this.#asked--;
      if (error) this.#notGranted(error, upTo);
      else this.#granted(client, release, upTo);
    });
  }

  #notGranted(error: Error, upTo: number): void {
    const query = this.#first;
    // The request may have been older than the queries that wait, which have their own limit.
    const isLate = error.message === poolTimeout && this.#pool.options.connectionTimeoutMillis;
    if (query !== undefined && query.seq <= upTo && !isLate) {
      this.#take(query);
      this.#counts.errors++;
      query.settle(error);
    }
    this.#pump();
  }

  #granted(client: Client, release: Release, upTo: number): void {
    const first = this.#first;
    if (first === undefined || first.seq > upTo) {
      // Others may stand behind this request, and before the queries that wait now.
      release();
      this.#pump();
      return;
    }
    const lane = new Lane(client, release, (...of) => this.#lost(...of));
    this.#lanes.add(lane);
    this.#counts.checkouts++;
    this.#send(lane, this.#take(first));
    const now = performance.now();
    for (let next = this.#first; next?.shares; next = this.#first) {
      if (next.seq > upTo || !this.#isExhausted || !this.#takes(lane, next, now)) break;
      this.#send(lane, this.#take(next));
    }
    this.#pump();
  }

  // ---- a query in flight

  #send(lane: Lane, query: Query): void {
    clearTimeout(query.timer);
    if (lane.inFlight.length > 0) {
      if (!lane.isPipelined) this.#pipelined++;
      lane.share();
      lane.holdWrites();
      this.#counts.shared++;
    }
    this.#counts.queries++;
    query.sentMs = performance.now();
    lane.inFlight.push(query);
    runInContext(query.context, () => this.#submit(lane, query), undefined);
  }

  #submit(lane: Lane, query: Query): void {
    let { config } = query;
    const isLimited = lane.timeoutMs > 0 && !query.hasTimeout;
    if (isLimited || query.isNamedHere) {
      const given = typeof config === 'string' ? { text: config } : (config as QueryConfig);
      config = {
        ...given,
        name: query.isNamedHere ? query.name : given.name,
        query_timeout: isLimited ? never : given.query_timeout,
      };
    }
    if (isLimited) query.timer = setTimeout(() => this.#timedOut(lane, query), lane.timeoutMs);
    const callback: Callback = (error, result) => this.#returned(lane, query, error, result);
    try {
      lane.client.query(config, query.values, callback);
    } catch (error) {
      this.#returned(lane, query, error as Error);
    }
  }

  #returned(lane: Lane, query: Query, error: Error | null | undefined, result?: unknown): void {
    const at = lane.inFlight.indexOf(query);
    // pg may call back again, after an error in the values.
    if (at < 0) return;
    this.#measure(lane, query);
    lane.inFlight.splice(at, 1);
    if (error) {
      lane.failed ??= error;
      if (!query.isSettled) this.#counts.errors++;
    } else if (query.name !== undefined && query.statement !== null) {
      preparedOn(lane.client).set(query.name, query.statement);
    }
    this.#next(lane);
    query.settle(error, result);
  }

  /** Attributes the time since the last result, which is the server's. Without a result before it there is the network's as well. */
  #measure(lane: Lane, query: Query): void {
    const now = performance.now();
    const tookMs = now - Math.max(lane.doneMs, query.sentMs);
    const wasFirst = query.sentMs >= lane.doneMs;
    lane.doneMs = now;
    if (wasFirst) {
      const delayMs = this.#delayMs;
      this.#delayMs = tookMs < delayMs ? tookMs : delayMs + (tookMs - delayMs) * drift;
    }
    query.statement?.took(Math.max(0, wasFirst ? tookMs - this.#delayMs : tookMs));
  }

  /** Queries for a lane that has got a result; if it is empty and somebody else waits, or nobody, it goes back to the pool. */
  #next(lane: Lane): void {
    this.#pump();
    if (lane.isGone || lane.inFlight.length > 0) return;
    const mayStay = lane.failed === undefined && performance.now() - lane.sinceMs <= laneMs;
    const first = mayStay && this.#others === 0 ? this.#first : undefined;
    if (first === undefined) {
      this.#leave(lane, lane.failed);
      this.#pump();
      return;
    }
    lane.isClosing = false;
    this.#send(lane, this.#take(first));
    this.#pump();
  }

  #leave(lane: Lane, error: unknown): void {
    if (lane.isGone) return;
    this.#lanes.delete(lane);
    if (lane.isPipelined) this.#pipelined--;
    lane.leave(error);
  }

  /** The queries behind it have the same limit: each gets its result or its own timeout. Then the connection is of no use. */
  #timedOut(lane: Lane, query: Query): void {
    const error = new Error('Query read timeout');
    lane.failed ??= error;
    this.#counts.errors++;
    const isLast = lane.inFlight.every((each) => each === query || each.isSettled);
    if (isLast) this.#leave(lane, error);
    this.#pump();
    query.settle(error);
  }

  /** The connection is gone, and with it what is in flight. */
  #lost(lane: Lane, error: Error): void {
    if (lane.isGone) return;
    const queries = lane.inFlight.splice(0);
    this.#leave(lane, error);
    this.#pump();
    for (const [at, query] of queries.entries()) {
      if (query.isSettled) continue;
      this.#counts.errors++;
      query.settle(at === 0 ? error : another(error));
    }
  }
}

/** Names that have been prepared on a client, each with its statement. */
const prepared = new WeakMap<Client, Map<string, Statement>>();

function preparedOn(client: Client): Map<string, Statement> {
  let names = prepared.get(client);
  if (names === undefined) {
    names = new Map();
    prepared.set(client, names);
  }
  return names;
}

/** A copy of an error, so that each caller has its own, with a stack of its own. */
function another(error: Error): Error {
  const copy = Object.assign(new Error(error.message), error);
  return Object.setPrototypeOf(copy, Object.getPrototypeOf(error)) as Error;
}

/** A call of `query()` with a text. */
interface Plan {
  readonly config: unknown;
  /** The values given beside the text; undefined: there are none, or `config` has them. */
  readonly values: unknown;
  /** Null where it is not known and shares nothing. */
  readonly statement: Statement | null;
  readonly name: string | undefined;
  readonly hasTimeout: boolean;
  /** True if only its text and the server decide its result. */
  readonly isSafe: boolean;
}

/** Null for a call that is left to the pool. */
function planOf([config, second]: any[], statements: Statements): Plan | null {
  const values: unknown = typeof second === 'function' ? undefined : second;
  if (typeof config === 'string') {
    const statement = statements.of(config);
    const isSafe = areSafe(values);
    return { config, values, statement, name: undefined, hasTimeout: false, isSafe };
  }
  if (typeof config !== 'object' || config === null || typeof config.submit === 'function') {
    return null;
  }
  const { text, name, rows, portal, query_timeout: timeout } = config;
  const isNamed = typeof name === 'string' && name !== '';
  return {
    config,
    values,
    statement: typeof text === 'string' ? statements.of(text) : null,
    name: isNamed ? name : undefined,
    hasTimeout: Boolean(timeout),
    // A portal stays open for several results.
    isSafe: (isNamed || !name) && !rows && !portal && !timeout && areSafe(values || config.values),
  };
}

function areSafe(values: unknown): boolean {
  return !values || (Array.isArray(values) && values.every(isSafeValue));
}

function isSafeValue(value: unknown): boolean {
  return isScalar(value) || (Array.isArray(value) && value.every(isScalar));
}

/** pg makes no call to write it: neither `toPostgres()` nor `toJSON()`. */
function isScalar(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  return isUint8Array(value) || isDate(value);
}
