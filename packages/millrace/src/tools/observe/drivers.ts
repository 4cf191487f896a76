/**
 * The drivers of databases that are loaded: `pg`, `mysql2` and `better-sqlite3`. All are CommonJS, whether they are required or imported, so
 * that `require.cache` has them. It is looked through before a connection is made and after an addon is loaded, as each of them does one of
 * the two before its first query: nothing of the loader is replaced. A driver in a bundle is in no such list, and one of another
 * name is not known; a connection to the usual port of a database tells of them.
 */
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { type Patch, patchMethod } from '@millrace/base/patch';
import type { Driver } from './statements.js';

/** A class of a driver: where it runs queries, and, for a pool, how it gets a connection for one. */
export interface DriverClass {
  readonly driver: Driver;
  readonly prototype: object;
  readonly methods: readonly string[];
  /** The pool's method that calls back with a connection; null for a connection. */
  readonly acquire: string | null;
}

interface Known {
  readonly driver: Driver;
  readonly file: RegExp;
  readonly methods: readonly string[];
  readonly acquire: string | null;
}

const known: readonly Known[] = [
  {
    driver: 'pg',
    file: /pg[/\\]lib[/\\](native[/\\])?client\.js$/,
    methods: ['query'],
    acquire: null,
  },
  { driver: 'pg', file: /pg-pool[/\\]index\.js$/, methods: ['query'], acquire: 'connect' },
  {
    driver: 'mysql2',
    file: /mysql2[/\\]lib[/\\](base[/\\])?connection\.js$/,
    methods: ['query', 'execute'],
    acquire: null,
  },
  {
    driver: 'mysql2',
    file: /mysql2[/\\]lib[/\\](base[/\\])?pool\.js$/,
    methods: ['query', 'execute'],
    acquire: 'getConnection',
  },
  {
    driver: 'better-sqlite3',
    file: /better-sqlite3[/\\]lib[/\\][\w-]+\.js$/,
    methods: ['prepare'],
    acquire: null,
  },
];

/** Names of servers, by the port that tells of them. */
const ports: Partial<Record<number, string>> = { 5432: 'PostgreSQL', 3306: 'MySQL' };
const databases: Record<Driver, string> = {
  pg: 'PostgreSQL',
  mysql2: 'MySQL',
  'better-sqlite3': 'SQLite',
};
const addon = /better[_-]?sqlite3/;

/** Cache of modules, from any file, as all of a thread have one. */
const { cache } = createRequire(process.execPath);

export class DriverWatch {
  readonly #classes = new WeakSet<object>();
  readonly #drivers = new Set<Driver>();
  /** Databases that somebody has begun to use. */
  readonly #databases = new Set<string>();
  readonly #onClass: (found: DriverClass) => void;
  #looked = 0;
  #patches: Patch[] = [];
  #isOn = false;

  constructor(onClass: (found: DriverClass) => void) {
    this.#onClass = onClass;
  }

  start(): void {
    const watch = this;
    this.#isOn = true;
    this.#look();
    this.#patches = [
      patchMethod(Socket.prototype, 'connect', (original) => {
        return function connect(this: Socket, ...args: unknown[]) {
          if (watch.#isOn) watch.#connecting(args);
          return Reflect.apply(original, this, args);
        };
      }),
      patchMethod(process, 'dlopen', (original) => {
        return function dlopen(this: unknown, ...args: unknown[]) {
          const result = Reflect.apply(original, this, args);
          if (watch.#isOn) watch.#loaded(args[1]);
          return result;
        };
      }),
    ];
  }

  stop(): void {
    this.#isOn = false;
    for (const patch of this.#patches.splice(0)) patch.undo();
  }

  /** Drivers whose queries are seen. */
  get seen(): Driver[] {
    return [...this.#drivers];
  }

  /** Databases that are in use by no driver that is seen. */
  get unseen(): string[] {
    const seen = this.seen.map((driver) => databases[driver]);
    return [...this.#databases].filter((each) => !seen.includes(each));
  }

  #connecting(args: readonly unknown[]): void {
    this.#look();
    const [first] = args;
    // net.connect() hands over a list of arguments.
    const given = Array.isArray(first) ? first[0] : first;
    const port = typeof given === 'object' ? (given as { port?: unknown } | null)?.port : given;
    const database = ports[Number(port)];
    if (database !== undefined) this.#databases.add(database);
  }

  #loaded(file: unknown): void {
    this.#look();
    if (addon.test(String(file))) this.#databases.add('SQLite');
  }

  /** Modules that were loaded since the last look are at the end. */
  #look(): void {
    const paths = Object.keys(cache);
    const from = paths.length < this.#looked ? 0 : this.#looked;
    this.#looked = paths.length;
    for (let i = from; i < paths.length; i++) {
      for (const each of known) if (each.file.test(paths[i]!)) this.#find(each, paths[i]!);
    }
  }

  #find({ driver, methods, acquire }: Known, path: string): void {
    const prototype = cache[path]?.exports?.prototype as object | undefined;
    if (typeof prototype !== 'object' || prototype === null || this.#classes.has(prototype)) return;
    // One that only inherits them, as mysql2's connections for callbacks do, is found by its base.
    const own = methods.filter((name) => Object.hasOwn(prototype, name));
    if (own.length === 0) return;
    this.#classes.add(prototype);
    this.#drivers.add(driver);
    this.#onClass({ driver, prototype, methods: own, acquire });
  }
}
