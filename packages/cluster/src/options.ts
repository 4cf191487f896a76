/**
 * The options of `serve()`: meaning, default and range. And the CPUs: a process has one event loop and the threads of its pools; the
 * loops and threads of all processes together are no more than there are whole CPUs, as far as that leaves each pool one thread.
 */
import { cpuShare } from '@millrace/base/limits/limits';
import { parse, parseValue, refused } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { type StallOptions, stallSchema } from '@millrace/monitor/stalls';

/** Assignment of connections to processes; see {@link ServeOptions.sticky}. */
export type Sticky =
  | boolean
  | 'ip'
  | { readonly header: string; readonly keepAlive?: boolean }
  | { readonly cookie: string; readonly keepAlive?: boolean };

/** Checked option `sticky`. */
export type StickyKey =
  | { readonly by: 'address' }
  | { readonly by: 'header' | 'cookie'; readonly name: string };

/** Options of `serve()`. */
export interface ServeOptions {
  /** Port: 0 (any that is free) to 65,535; default `PORT` of the environment, or 3000. A file that listens itself needs none. */
  port?: number;
  /** Address to listen on; default all addresses of the machine. */
  host?: string;
  /** Connections that the kernel holds for the primary: 1 to 65,535; default 511. */
  backlog?: number;
  /**
   * Number of processes: 1 to 1,024, or `{ min, max }` to scale with the load; default one for each CPU of the container,
   * without the reserve. By default `min` is 1 and `max` that number.
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
   * `true` or `'ip'`: connections of one address go to one process. `{ header }`, `{ cookie }`: connections with the same
   * value of it go to one process; then a connection is closed after each response unless `keepAlive` is true. Default false:
   * each goes to a process that is not busy.
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
  /** Mean utilization above which processes are added: 0.05 to 1; default 0.7. Only with `{ min, max }`. */
  scaleUp?: number;
  /** Mean utilization that must not be exceeded after a process is removed: 0 to below `scaleUp`; default 0.4. */
  scaleDown?: number;
  /** Time in ms between two samples of the utilization: 10 to 60,000; default 1,000. */
  scaleInterval?: number;
  /**
   * Options of `stalls()` of `@millrace/monitor/stalls`, which then watches the loop of each process. With `probes` the primary answers for all
   * of them on that port. Default false: none is watched.
   */
  stalls?: StallOptions | false;
  /** Handle SIGTERM, SIGINT and SIGHUP, and end the program with the cluster; default true. */
  signals?: boolean;
  /** Additional environment variables of the processes; undefined removes one. Default: none beyond those of the primary. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Arguments of the processes; default those of the primary. */
  args?: readonly string[];
  /** Arguments for Node.js; default those of the primary. */
  execArgv?: readonly string[];
  /** Called with a line for each death, crash loop and failed reload; default writes it to stderr. False: none. */
  log?: false | ((message: string) => void);
  /**
   * Runs in a process that begins to drain: the place to close WebSockets. Not for an application in a file, which calls
   * `onDrain()`.
   */
  onDrain?: () => unknown;
  /**
   * Runs in a process after its last request, before it ends; the process waits for it. Not for an application in a file,
   * which calls `onClose()`.
   */
  onClose?: () => unknown;
}

const hourMs = 3_600_000;
const processes = is.integer(1, 1024);
const portField = is.integer(0, 65_535);
const notEmpty = (value: string) => value !== '';

const workersSchema = is.schema({ min: processes, max: processes });

const isSticky = (value: unknown) =>
  is.isObject(value) &&
  [value.header, value.cookie].filter((name) => name !== undefined).length === 1;
const stickySchema = is.schema({
  header: is.text('the name of a header', notEmpty),
  cookie: is.text('the name of a cookie', notEmpty),
  keepAlive: is.boolean(false),
});

export const serveSchema = is.schema({
  port: portField,
  host: is.or(is.text('an address or a name', notEmpty), null),
  backlog: is.integer(1, 65_535, 511),
  workers: is.either(processes, is.partial(workersSchema)),
  reserve: is.number(0, 0.9, 0.1),
  poolThreads: is.integer(0, 1024, 0),
  // `{ header }` and `{ cookie }` are read by {@link stickyOf}.
  sticky: is.custom<Sticky>(
    "true, false, 'ip', { header: name } or { cookie: name }",
    (value) => typeof value === 'boolean' || value === 'ip' || isSticky(value),
  ),
  startTimeout: is.ms(100, hourMs, 30_000),
  drainTimeout: is.ms(0, hourMs, 8000),
  idleGrace: is.ms(0, 60_000, 1000),
  respawnDelay: is.ms(1, 60_000, 100),
  maxRespawnDelay: is.ms(1, hourMs, 30_000),
  healthyAfter: is.ms(0, hourMs, 10_000),
  crashLimit: is.integer(1, 1000, 5),
  crashWindow: is.ms(100, hourMs, 60_000),
  reloadConcurrency: is.or(processes, 1),
  scaleUp: is.number(0.05, 1, 0.7),
  scaleDown: is.number(0, 1, 0.4),
  scaleInterval: is.ms(10, 60_000, 1000),
  stalls: is.or(is.either(is.object(stallSchema), is.choice([false] as const)), false),
  signals: is.boolean(true),
  env: is.or(
    is.record<Readonly<Record<string, string | undefined>>, string | undefined>(
      is.either(is.text(), is.choice([undefined])),
      'an object of strings',
    ),
    {},
  ),
  args: is.or(is.list(is.text(), 'an array of strings'), null),
  execArgv: is.or(is.list(is.text(), 'an array of strings'), null),
  log: is.or(is.either(is.callback<(message: string) => void>(), is.choice([false])), report),
  onDrain: is.or(is.callback(), null),
  onClose: is.or(is.callback(), null),
} satisfies is.FieldsOf<ServeOptions>);

const what = 'serve()';

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function serveOptions(given: ServeOptions, isFile: boolean) {
  const { reserve, poolThreads, workers, sticky, log, ...rest } = parse(what, given, serveSchema);
  if (rest.scaleDown >= rest.scaleUp) {
    throw refused(what, 'scaleDown', rest.scaleDown, `below 'scaleUp', which is ${rest.scaleUp}`);
  }
  for (const name of ['onDrain', 'onClose'] as const) {
    if (!isFile || rest[name] === null) continue;
    const why = `left out for a file, which runs in other processes; there, call ${name}() of @millrace/cluster`;
    throw refused(what, name, rest[name], why);
  }
  // Whole CPUs for loops and threads.
  const usable = usableCpus(cpuShare(), reserve);
  return {
    ...rest,
    ...workersOf(workers, processesFor(usable, poolThreads)),
    ...stickyOf(sticky),
    usable,
    port: rest.port ?? (isFile ? null : usualPort()),
    log: log === false ? () => {} : log,
  };
}

/** Options as a cluster uses them. */
export type Settings = ReturnType<typeof serveOptions>;

/** Default port of an application without one. */
export function usualPort(): number {
  const { PORT } = process.env;
  if (PORT === undefined || PORT === '') return 3000;
  const port = /^\d+$/.test(PORT) ? Number(PORT) : PORT;
  return parseValue('the environment', 'PORT', port, portField);
}

function workersOf(
  given: number | { readonly min?: number; readonly max?: number } | undefined,
  usual: number,
) {
  if (given === undefined) return { min: usual, max: usual };
  if (typeof given === 'number') return { min: given, max: given };
  const { min = 1, max = Math.max(usual, min) } = given;
  if (max < min) throw refused(what, 'workers.max', max, `at least 'workers.min', which is ${min}`);
  return { min, max };
}

/** `oneRequest`: a connection must not carry a second request. */
function stickyOf(given: Sticky | undefined): { sticky: StickyKey | null; oneRequest: boolean } {
  if (given === undefined || given === false) return { sticky: null, oneRequest: false };
  if (typeof given !== 'object') return { sticky: { by: 'address' }, oneRequest: false };
  const { header, cookie, keepAlive } = parseValue(what, 'sticky', given, is.object(stickySchema));
  const [by, name] =
    header === undefined ? (['cookie', cookie!] as const) : (['header', header] as const);
  return { sticky: { by, name }, oneRequest: !keepAlive };
}

/** CPUs for a process's pools if none is left for a thread: one thread, on the core of its loop. */
export const sharedCore = 0.5;

/**
 * Number of CPUs for loops and threads: without the `reserve` (0 to 1, a share of them), rounded to the next whole one but never above
 * what there is. At least 1.
 */
export function usableCpus(cpus: number, reserve: number): number {
  return Math.max(1, Math.min(Math.round(cpus * (1 - reserve)), Math.floor(cpus)));
}

/** Number of processes that fit, each with this many threads beside its loop. At least 1. */
export function processesFor(usable: number, poolThreads: number): number {
  return Math.max(1, Math.floor(usable / (1 + poolThreads)));
}

/** CPUs for the pools of each of `count` processes: whole threads, dealt out evenly; the first ones get what is left over. */
export function poolShares(usable: number, count: number): number[] {
  const threads = Math.max(0, usable - count);
  const each = Math.floor(threads / count);
  const over = threads % count;
  return Array.from({ length: count }, (_, i) => each + (i < over ? 1 : 0) || sharedCore);
}

function report(message: string): void {
  process.stderr.write(`millrace cluster: ${message}\n`);
}
