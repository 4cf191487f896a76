/** The options of `serve()`: meaning, default, range, and the check that keeps bad ones out. */
import { check, checkKeys, integer, invalid, number, type Rule } from '../core/options.js';
import { cpuShare } from '../pool/sizing.js';
import type { BackoffOptions } from './backoff.js';
import type { ScaleOptions } from './scale.js';
import { processesFor, usableCpus } from './shares.js';
import type { StickyKey } from './sticky.js';

/** How connections find their process; see {@link ServeOptions.sticky}. */
export type Sticky =
  | boolean
  | 'ip'
  | { readonly header: string; readonly keepAlive?: boolean }
  | { readonly cookie: string; readonly keepAlive?: boolean };

/** Options of `serve()`. */
export interface ServeOptions {
  /** Port: 0 (any that is free) to 65,535; default `PORT` of the environment, or 3000. A file that listens itself needs none. */
  port?: number;
  /** Address to listen on; default all addresses of the machine. */
  host?: string;
  /** Connections that the kernel holds for the primary: 1 to 65,535; default 511. */
  backlog?: number;
  /**
   * Processes: 1 to 1,024, or `{ min, max }` for as many as the load needs; default one for each CPU of the container, without
   * the reserve. By default `min` is 1 and `max` that number.
   */
  workers?: number | { readonly min?: number; readonly max?: number };
  /**
   * Share of the container's CPUs kept for everything but the processes of this cluster: the kernel's network code, the
   * primary, the threads of the runtime. 0 to 0.9; default 0.1. The rest is rounded to whole CPUs, so that below 6 of
   * them the default keeps nothing.
   */
  reserve?: number;
  /** Threads that the pools of a process need: 0 to 1,024, default 0. The default number of processes leaves room for them. */
  poolThreads?: number;
  /**
   * `true` or `'ip'`: connections of one address go to one process. `{ header }`, `{ cookie }`: those with the same value of it;
   * then a connection is closed after each answer unless `keepAlive` is true. Default false: each goes to a process that has time.
   */
  sticky?: Sticky;
  /** Time in ms in which a new process must listen: 100 to 3,600,000; default 30,000. */
  startTimeout?: number;
  /** Time in ms that a process has to finish its requests before it is killed: 0 to 3,600,000; default 8,000. */
  drainTimeout?: number;
  /** Time in ms that a draining process waits for another request on an idle connection: 0 to 60,000; default 1,000. */
  idleGrace?: number;
  /** Delay in ms before the second restart in a row; it doubles from there. 1 to 60,000; default 100. */
  respawnDelay?: number;
  /** Longest delay in ms: 1 to 3,600,000; default 30,000. */
  maxRespawnDelay?: number;
  /** Time in ms of running after which a process counts as healthy: 0 to 3,600,000; default 10,000. */
  healthyAfter?: number;
  /** Deaths within `crashWindow`, times the number of processes, that make a crash loop: 1 to 1,000; default 5. */
  crashLimit?: number;
  /** Period in ms over which deaths are counted: 100 to 3,600,000; default 60,000. */
  crashWindow?: number;
  /** Processes that are replaced at a time: 1 to 1,024; default 1. */
  reloadConcurrency?: number;
  /** Mean utilization above which more processes are started: 0.05 to 1; default 0.7. Only with `{ min, max }`. */
  scaleUp?: number;
  /** Mean utilization that must remain after one process is ended: 0 to below `scaleUp`; default 0.4. */
  scaleDown?: number;
  /** Time in ms between two samples of it: 10 to 60,000; default 1,000. */
  scaleInterval?: number;
  /** Whether SIGTERM, SIGINT and SIGHUP are handled, and the program ended with the cluster; default true. */
  signals?: boolean;
  /** Additional environment variables of the processes; undefined removes one. Default: those of the primary alone. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Their arguments; default those of the primary. */
  args?: readonly string[];
  /** Arguments for Node.js; default those of the primary. */
  execArgv?: readonly string[];
  /** Called with a line for each death, crash loop and failed reload; default writes it to stderr. False: none. */
  log?: false | ((message: string) => void);
  /** Runs in a process that begins to drain: the place to close WebSockets. Not for a file: that calls `onDrain()`. */
  onDrain?: () => unknown;
  /** Runs in a process after its last request, before it ends; it is waited for. Not for a file: that calls `onClose()`. */
  onClose?: () => unknown;
}

export interface Settings extends BackoffOptions, ScaleOptions {
  readonly port: number | null;
  readonly host: string | null;
  readonly backlog: number;
  /** Whole CPUs for loops and threads. */
  readonly usable: number;
  readonly sticky: StickyKey | null;
  /** A connection must not carry a second request. */
  readonly oneRequest: boolean;
  readonly startTimeout: number;
  readonly drainTimeout: number;
  readonly idleGrace: number;
  readonly crashLimit: number;
  readonly crashWindow: number;
  readonly reloadConcurrency: number;
  readonly scaleInterval: number;
  readonly signals: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly args: readonly string[] | null;
  readonly execArgv: readonly string[] | null;
  readonly log: (message: string) => void;
  readonly onDrain: (() => unknown) | null;
  readonly onClose: (() => unknown) | null;
}

const hourMs = 3_600_000;
const processes = integer(1, 1024);

const numbers = {
  backlog: { usual: 511, rule: integer(1, 65_535) },
  reserve: { usual: 0.1, rule: number(0, 0.9) },
  poolThreads: { usual: 0, rule: integer(0, 1024) },
  startTimeout: { usual: 30_000, rule: number(100, hourMs) },
  drainTimeout: { usual: 8000, rule: number(0, hourMs) },
  idleGrace: { usual: 1000, rule: number(0, 60_000) },
  respawnDelay: { usual: 100, rule: number(1, 60_000) },
  maxRespawnDelay: { usual: 30_000, rule: number(1, hourMs) },
  healthyAfter: { usual: 10_000, rule: number(0, hourMs) },
  crashLimit: { usual: 5, rule: integer(1, 1000) },
  crashWindow: { usual: 60_000, rule: number(100, hourMs) },
  reloadConcurrency: { usual: 1, rule: processes },
  scaleUp: { usual: 0.7, rule: number(0.05, 1) },
  scaleDown: { usual: 0.4, rule: number(0, 1) },
  scaleInterval: { usual: 1000, rule: number(10, 60_000) },
} satisfies Record<string, { usual: number; rule: Rule }>;

const others = [
  'port',
  'host',
  'workers',
  'sticky',
  'signals',
  'env',
  'args',
  'execArgv',
  'log',
  'onDrain',
  'onClose',
];

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function serveOptions(given: ServeOptions, isFile: boolean): Settings {
  checkKeys('the options of serve()', given, [...Object.keys(numbers), ...others]);
  const values = {} as Record<keyof typeof numbers, number>;
  for (const [name, { usual, rule }] of Object.entries(numbers)) {
    const value = or(given[name as keyof typeof numbers], usual);
    check(name, value, rule);
    values[name as keyof typeof numbers] = value;
  }
  const { reserve, poolThreads, ...rest } = values;
  if (rest.scaleDown >= rest.scaleUp) {
    throw invalid('scaleDown', rest.scaleDown, `below 'scaleUp', which is ${rest.scaleUp}`);
  }
  const usable = usableCpus(cpuShare(), reserve);
  return {
    ...rest,
    ...workersOf(given.workers, processesFor(usable, poolThreads)),
    ...stickyOf(given.sticky),
    usable,
    port: portOf(given.port, isFile),
    host: of('host', given.host, 'an address or a name', isText),
    signals: of('signals', given.signals, 'true or false', isBoolean) ?? true,
    env: of('env', given.env, 'an object of strings', isEnvironment) ?? {},
    args: of('args', given.args, 'an array of strings', isTexts),
    execArgv: of('execArgv', given.execArgv, 'an array of strings', isTexts),
    log: logOf(given.log),
    onDrain: hookOf('onDrain', given.onDrain, isFile),
    onClose: hookOf('onClose', given.onClose, isFile),
  };
}

/** Where an application without a port listens. */
export function usualPort(): number {
  const { PORT } = process.env;
  if (PORT === undefined || PORT === '') return 3000;
  const port = Number(PORT);
  check('PORT (of the environment)', port, integer(0, 65_535));
  return port;
}

function portOf(given: number | undefined, isFile: boolean): number | null {
  if (given === undefined) return isFile ? null : usualPort();
  check('port', given, integer(0, 65_535));
  return given;
}

function workersOf(given: ServeOptions['workers'], usual: number) {
  if (given === undefined) return { min: usual, max: usual };
  if (typeof given !== 'object' || given === null) {
    check('workers', given, processes);
    return { min: given, max: given };
  }
  checkKeys("option 'workers'", given, ['min', 'max']);
  const { min = 1, max = Math.max(usual, min) } = given;
  check('workers.min', min, processes);
  check('workers.max', max, processes);
  if (max < min) throw invalid('workers.max', max, `at least 'workers.min', which is ${min}`);
  return { min, max };
}

function stickyOf(given: Sticky | undefined) {
  if (given === undefined || given === false) return { sticky: null, oneRequest: false };
  if (given === true || given === 'ip') {
    return { sticky: { by: 'address' } as const, oneRequest: false };
  }
  const allowed = "true, false, 'ip', { header: name } or { cookie: name }";
  if (typeof given !== 'object' || given === null) throw invalid('sticky', given, allowed);
  checkKeys("option 'sticky'", given, ['header', 'cookie', 'keepAlive']);
  const { header, cookie, keepAlive = false } = given as Record<string, unknown>;
  if (typeof keepAlive !== 'boolean') throw invalid('sticky.keepAlive', keepAlive, 'true or false');
  const name = header ?? cookie;
  if ((header === undefined) === (cookie === undefined) || !isText(name)) {
    throw invalid('sticky', given, allowed);
  }
  const by = header === undefined ? 'cookie' : 'header';
  return { sticky: { by, name } as const, oneRequest: !keepAlive };
}

function logOf(given: ServeOptions['log']): (message: string) => void {
  if (given === false) return () => {};
  const allowed = 'a function, or false';
  return (
    of('log', given, allowed, isFunction) ??
    ((message) => {
      process.stderr.write(`millrace cluster: ${message}\n`);
    })
  );
}

function hookOf(name: string, given: (() => unknown) | undefined, isFile: boolean) {
  const hook = of(name, given, 'a function', isFunction);
  if (hook !== null && isFile) {
    const way = `left out for a file, which runs in other processes; there, call ${name}() of millrace/cluster`;
    throw invalid(name, hook, way);
  }
  return hook;
}

/** The value if it is of this kind, null if it is not given. */
function of<Value>(
  name: string,
  given: Value | undefined,
  allowed: string,
  is: (value: unknown) => boolean,
): Value | null {
  if (given === undefined) return null;
  if (!is(given)) throw invalid(name, given, allowed);
  return given;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isFunction = (value: unknown) => typeof value === 'function';
const isTexts = (value: unknown) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
const isEnvironment = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((each) => each === undefined || typeof each === 'string');

/** Only `undefined` is the default: null is a mistake. */
const or = <Value>(given: Value | undefined, usual: Value): Value =>
  given === undefined ? usual : given;
