/** The options of a monitor: meaning, default, range, and the check that keeps bad ones out. */
import { check, checkKeys, integer, invalid, number, type Rule } from '../core/options.js';

/** Something whose tasks the health report shows: a pool, a guard, or a function. */
export type TaskSource = { stats(): unknown } | (() => unknown);

/** Options of `monitor()`. */
export interface MonitorOptions {
  /**
   * Delay in ms above which the loop counts as overloaded and `load` is emitted: above 0, up to 3,600,000; default 42. Lower
   * it for a service that has to answer faster than that.
   */
  limit?: number;
  /**
   * Delay in ms that counts as calm: above 0, up to `limit`; default half of `limit`. Raise it if `unload` comes too late.
   */
  lower?: number;
  /** Calm samples in a row after which `unload` is emitted: 1 to 1,000,000; default 2. Raise it if the two alternate too fast. */
  calm?: number;
  /** Time in ms between samples while the loop is overloaded: above 0, up to 60,000; default 5. */
  sampleInterval?: number;
  /** Time in ms that `utilization` and `loopDelay` look back: 100 to 3,600,000; default 1,000. */
  window?: number;
  /** Idle share above which `health()` calls a core idle: 0 to 1; default 0.1. */
  idleThreshold?: number;
  /** Sources of the task queue details in `health()`, each under its name; default none. */
  tasks?: Readonly<Record<string, TaskSource>>;
}

export interface CheckedOptions {
  readonly limit: number;
  /** Undefined: half of the limit, also of one that is set later. */
  readonly lower: number | undefined;
  readonly calm: number;
  readonly sampleInterval: number;
  readonly window: number;
  readonly idleThreshold: number;
  readonly tasks: Readonly<Record<string, TaskSource>>;
}

const hourMs = 3_600_000;
const names = [
  'limit',
  'lower',
  'calm',
  'sampleInterval',
  'window',
  'idleThreshold',
  'tasks',
] as const;

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function monitorOptions(given: MonitorOptions): CheckedOptions {
  checkKeys('the options of monitor()', given, names);
  const limit = checkLimit(or(given.limit, 42));
  return {
    limit,
    lower: given.lower === undefined ? undefined : above0('lower', given.lower, limit),
    calm: checked('calm', or(given.calm, 2), integer(1, 1_000_000)),
    sampleInterval: above0('sampleInterval', or(given.sampleInterval, 5), 60_000),
    window: checked('window', or(given.window, 1000), number(100, hourMs)),
    idleThreshold: checkThreshold(or(given.idleThreshold, 0.1)),
    tasks: checkTasks(or(given.tasks, {})),
  };
}

/** Only `undefined` is the default: null is a mistake. */
export const or = <Value>(given: Value | undefined, usual: Value): Value =>
  given === undefined ? usual : given;

export const checkLimit = (limit: number): number => above0('limit', limit, hourMs);

const checkThreshold = (share: number): number => checked('idleThreshold', share, number(0, 1));

function checkTasks(tasks: Readonly<Record<string, TaskSource>>) {
  const allowed = 'an object of functions, or of objects with stats()';
  if (typeof tasks !== 'object' || tasks === null) throw invalid('tasks', tasks, allowed);
  for (const [name, source] of Object.entries(tasks)) {
    const isSource = typeof source === 'function' || typeof source?.stats === 'function';
    if (!isSource) throw invalid(`tasks.${name}`, source, 'a function, or an object with stats()');
  }
  return { ...tasks };
}

/** {@link check} as an expression. */
export function checked(name: string, value: unknown, rule: Rule): number {
  check(name, value, rule);
  return value as number;
}

export function above0(name: string, value: unknown, max: number): number {
  if (typeof value === 'number' && value > 0 && value <= max) return value;
  throw invalid(name, value, `a number above 0, up to ${max}`);
}
