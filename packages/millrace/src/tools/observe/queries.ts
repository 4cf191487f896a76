/**
 * Equal queries: the same statement several times in one tick, with other values, which is one statement for all of them. A tick ends where
 * `batch()` sends, when the microtask queue is empty, so that no query that waited for the one before it is taken for an equal one. A
 * query of a pool is counted when the application asks for it, not when the pool has a connection for it; a query that a pool runs on a
 * connection is not counted again. Values are never kept, and of a statement only its first places.
 */
import { now } from '@millrace/base/loop-clock';
import { type Method, type Patch, patchMethod } from '@millrace/base/patch';
import { afterMicrotasks, onceAt } from '@millrace/base/turn';
import { callerPlace, type Place } from './callers.js';
import { type DriverClass, DriverWatch } from './drivers.js';
import { type Driver, manyAtOnce, redacted } from './statements.js';

/** A statement and its counts. */
export interface StatementReport {
  driver: Driver;
  /** Text without values and comments: `…` stands for a value. */
  text: string;
  queries: number;
  /** Ticks with such queries: the most statements that remain, if those of a tick become one. */
  ticks: number;
  mostInTick: number;
  /** Time in ms that the calls blocked the loop; 0 for an asynchronous database. */
  busyMs: number;
  /** Lines that issued it, most often in a tick in which it came again; three at most. */
  places: Place[];
  /** Code that runs many at once; null: it has to be written by hand. */
  instead: string | null;
}

/** Queries of `pg`, `mysql2` and `better-sqlite3`. */
export interface QueriesReport {
  queries: number;
  /** Drivers in use. */
  drivers: Driver[];
  /** Databases connected by a driver that cannot be observed: bundled, or another one. */
  unseen: string[];
  /** Calls of `query` of a pool of `pg`, and those among them that found no free connection and no room for another. */
  poolQueries: number;
  poolWaits: number;
  /** Statements repeated most often within a tick: ten at most. */
  statements: StatementReport[];
  /** Queries with other statements than the 200 that are counted apart. */
  others: number;
}

interface Statement {
  readonly driver: Driver;
  readonly text: string;
  queries: number;
  ticks: number;
  mostInTick: number;
  busyMs: number;
  inTick: number;
  readonly places: Map<string, Place>;
  repeatsLooked: number;
}

/** A pool of `pg`, as far as it is public. */
interface Pool {
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  readonly options?: { readonly max?: number };
}

const mostStatements = 200;
/** Texts of statements that differ in their blanks only are few. */
const mostPlain = 2 * mostStatements;
const mostReported = 10;
const mostPlaces = 3;
/** Queries of a statement whose places are looked for. */
const mostLooks = 10;

export class QueriesObserver {
  readonly #watch = new DriverWatch((found) => this.#patch(found));
  readonly #statements = new Map<string, Statement>();
  /** Texts with no value in them, word for word: they need not be redacted again. */
  readonly #plain: Record<Driver, Map<string, Statement>> = {
    pg: new Map(),
    mysql2: new Map(),
    'better-sqlite3': new Map(),
  };
  readonly #inTick = new Set<Statement>();
  readonly #statementClasses = new WeakSet<object>();
  #queries = 0;
  #poolQueries = 0;
  #poolWaits = 0;
  #others = 0;
  /** A pool is being asked; it runs a query that it was asked for. */
  #isAsking = false;
  #isInner = false;
  #patches: Patch[] = [];
  #isOn = false;

  start(): void {
    this.#isOn = true;
    this.#watch.start();
  }

  stop(): void {
    this.#isOn = false;
    this.#watch.stop();
    for (const patch of this.#patches.splice(0).reverse()) patch.undo();
    this.#endTick();
  }

  get count(): number {
    return this.#queries;
  }

  read(): QueriesReport {
    const statements = [...this.#statements.values()]
      .sort((a, b) => repeatsOf(b) - repeatsOf(a))
      .slice(0, mostReported)
      .map(({ driver, text, queries, ticks, mostInTick, busyMs, places }) => {
        const instead = manyAtOnce(driver, text);
        const copies = [...places.values()].map((each) => ({ ...each }));
        return { driver, text, queries, ticks, mostInTick, busyMs, places: copies, instead };
      });
    return {
      queries: this.#queries,
      drivers: this.#watch.seen,
      unseen: this.#watch.unseen,
      poolQueries: this.#poolQueries,
      poolWaits: this.#poolWaits,
      statements,
      others: this.#others,
    };
  }

  #patch({ driver, prototype, methods, acquire }: DriverClass): void {
    if (driver === 'better-sqlite3') {
      this.#patches.push(this.#patchPrepare(prototype));
      return;
    }
    for (const name of methods) {
      this.#patches.push(
        acquire === null
          ? this.#patchQuery(driver, prototype, name)
          : this.#patchPoolQuery(driver, prototype, name),
      );
    }
    if (acquire !== null) this.#patches.push(this.#patchAcquire(prototype, acquire));
  }

  #patchQuery(driver: Driver, prototype: object, name: string): Patch {
    const observer = this;
    return patchMethod(prototype, name, (original) => {
      return function (this: unknown, ...args: unknown[]) {
        if (observer.#isOn && !observer.#isInner) observer.#note(driver, args[0]);
        return Reflect.apply(original, this, args);
      };
    });
  }

  #patchPoolQuery(driver: Driver, prototype: object, name: string): Patch {
    const observer = this;
    return patchMethod(prototype, name, (original) => {
      return function (this: Pool, ...args: unknown[]) {
        if (!observer.#isOn) return Reflect.apply(original, this, args);
        observer.#note(driver, args[0]);
        if (driver === 'pg') observer.#notePool(this);
        observer.#isAsking = true;
        try {
          return Reflect.apply(original, this, args);
        } finally {
          observer.#isAsking = false;
        }
      };
    });
  }

  /** A connection that a pool gets for its own query calls back with it, and the query follows at once. */
  #patchAcquire(prototype: object, name: string): Patch {
    const observer = this;
    return patchMethod(prototype, name, (original) => {
      return function (this: unknown, ...args: unknown[]) {
        const [callback] = args;
        if (!observer.#isAsking || typeof callback !== 'function') {
          return Reflect.apply(original, this, args);
        }
        observer.#isAsking = false;
        args[0] = function (this: unknown, ...results: unknown[]) {
          observer.#isInner = true;
          try {
            return Reflect.apply(callback as Method, this, results);
          } finally {
            observer.#isInner = false;
          }
        };
        return Reflect.apply(original, this, args);
      };
    });
  }

  /** The class of statements is in the addon; each statement has it. */
  #patchPrepare(prototype: object): Patch {
    const observer = this;
    return patchMethod(prototype, 'prepare', (original) => {
      return function prepare(this: unknown, ...args: unknown[]) {
        const statement = Reflect.apply(original, this, args);
        if (observer.#isOn) observer.#knowStatement(statement);
        return statement;
      };
    });
  }

  #knowStatement(statement: object): void {
    const prototype: object = Object.getPrototypeOf(statement);
    if (this.#statementClasses.has(prototype)) return;
    this.#statementClasses.add(prototype);
    for (const name of ['get', 'all', 'run', 'iterate']) {
      if (!Object.hasOwn(prototype, name)) continue;
      const observer = this;
      this.#patches.push(
        patchMethod(prototype, name, (original) => {
          return function (this: { readonly source?: string }, ...args: unknown[]) {
            if (!observer.#isOn) return Reflect.apply(original, this, args);
            const noted = observer.#note('better-sqlite3', this.source);
            const at = now();
            try {
              return Reflect.apply(original, this, args);
            } finally {
              if (noted !== null) noted.busyMs += now() - at;
            }
          };
        }),
      );
    }
  }

  #note(driver: Driver, given: unknown): Statement | null {
    const raw = typeof given === 'object' ? textOf(given) : given;
    if (typeof raw !== 'string') return null;
    this.#queries++;
    const statement = this.#plain[driver].get(raw) ?? this.#statementOf(driver, raw);
    if (statement === null) {
      this.#others++;
      return null;
    }
    statement.queries++;
    statement.inTick++;
    this.#place(statement);
    this.#inTick.add(statement);
    this.#tick();
    return statement;
  }

  /** Null for one more than are told apart. */
  #statementOf(driver: Driver, raw: string): Statement | null {
    const text = redacted(driver, raw);
    const key = `${driver}\n${text}`;
    let statement = this.#statements.get(key);
    if (statement === undefined) {
      if (this.#statements.size >= mostStatements) return null;
      statement = {
        ...{ driver, text, places: new Map() },
        ...{ queries: 0, ticks: 0, mostInTick: 0, busyMs: 0, inTick: 0, repeatsLooked: 0 },
      };
      this.#statements.set(key, statement);
    }
    const plain = this.#plain[driver];
    if (plain.size < mostPlain && raw.replace(/\s+/g, ' ').trim() === text) {
      plain.set(raw, statement);
    }
    return statement;
  }

  #place(statement: Statement): void {
    const isRepeat = statement.inTick > 1;
    if (isRepeat ? statement.repeatsLooked >= mostLooks : statement.queries > 1) return;
    // Only from the first repeat on: the places of those that came alone say nothing.
    if (isRepeat && statement.repeatsLooked++ === 0) statement.places.clear();
    const place = statement.places.size < mostPlaces ? callerPlace() : null;
    if (place !== null) statement.places.set(`${place.file}:${place.line}`, place);
  }

  #notePool({ totalCount, idleCount = 0, waitingCount = 0, options }: Pool): void {
    this.#poolQueries++;
    if (totalCount === undefined || totalCount < (options?.max ?? Number.POSITIVE_INFINITY)) return;
    // Connections that are free are given away in the next tick.
    if (waitingCount >= idleCount) this.#poolWaits++;
  }

  readonly #tick = onceAt(afterMicrotasks, () => this.#endTick());

  #endTick(): void {
    for (const statement of this.#inTick) {
      statement.ticks++;
      statement.mostInTick = Math.max(statement.mostInTick, statement.inTick);
      statement.inTick = 0;
    }
    this.#inTick.clear();
  }
}

const repeatsOf = ({ queries, ticks }: Statement) => queries - ticks;

/** The text in an object that says what to ask: `text` of pg, `sql` of mysql2. */
function textOf(given: object | null): unknown {
  const { text, sql } = (given ?? {}) as { text?: unknown; sql?: unknown };
  return text ?? sql;
}
