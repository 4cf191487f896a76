/** The options of a guard: meaning, unit, default, range, and the checks that keep bad ones out. */
import type { IncomingMessage } from 'node:http';
import { check, checkKeys, integer, invalid, number } from '../core/options.js';
import type { RequestClass } from './classes.js';
import type { Concurrency } from './gate.js';
import type { RejectDelay } from './rejections.js';
import type { ShedReason } from './ticket.js';

/** What {@link GuardOptions.onShed} is told. */
export interface ShedInfo {
  class: RequestClass;
  route: string;
  reason: ShedReason;
  /** The wait that was predicted, or was, in ms. */
  waitMs: number;
  req: IncomingMessage;
}

/** A figure for each class that can be shed. */
export interface ByClass {
  high: number;
  normal: number;
  low: number;
}

/** Options of a {@link Guard}. All are optional. */
export interface GuardOptions {
  /**
   * Class by route: `{ 'GET /checkout': 'high', '/reports/*': 'low' }`. A key is a path, or how a path begins with `*` at its end, after a
   * method if it is for that only. The longest that matches counts. Default: /health, /healthz, /livez, /readyz, /metrics and
   * /status are exempt, all else is normal.
   */
  classes?: Record<string, RequestClass>;
  /** Name of a request header whose value is a class. Set it only where clients are trusted to be fair. Default: none. */
  classHeader?: string;
  /** The class of a request, asked before header and route; `undefined` leaves it to them. Default: none. */
  classify?: (req: IncomingMessage) => RequestClass | undefined;
  /** The name under which cost and time of a request are counted. Default: method and path, with ids in it as `:id`. */
  route?: (req: IncomingMessage) => string;
  /** Wait in ms that a request may have ahead of it: 1 to 600,000; default 300, 250 and 150; a number is for all. */
  maxWait?: number | Partial<ByClass>;
  /** Time in ms for which handlers run before the loop gets its turn: 1 to 1,000, default 10. A handler is never cut short. */
  slice?: number;
  /** Longest time that the loop gets for new connections between slices, as a share of the slice: 0 to 1, default 0.08. */
  rest?: number;
  /** Requests that may wait: 1 to 1,000,000, default 10,000. */
  maxQueue?: number;
  /** Routes that are told apart: 10 to 100,000, default 1,000. The least used are forgotten. */
  maxRoutes?: number;
  /** Delay of a refusal in ms; a number fixes it: 0 to 60,000; default 25 to 1,000, as short as costs less than 2 % of the loop. */
  rejectDelay?: number | Partial<RejectDelay>;
  /** Seconds in the header Retry-After: 1 to 86,400, or `'auto'` (default), by what waits. */
  retryAfter?: number | 'auto';
  /** Limits on requests of async handlers under way; the limit between them is measured. Default: `initial` 8, `min` 2, no `max`. */
  concurrency?: Partial<Concurrency>;
  /** Sheds nothing and holds nothing back, but counts what it would have shed. Default: false. */
  observe?: boolean;
  /** Text of a refusal. Default: Service Unavailable. */
  message?: string;
  /** Called for each request that is shed. */
  onShed?: (info: ShedInfo) => void;
}

/** Options as the guard uses them: checked and complete. */
export interface CompleteOptions {
  readonly classes: Readonly<Record<string, RequestClass>>;
  readonly classHeader: string | null;
  readonly classify: NonNullable<GuardOptions['classify']> | null;
  readonly route: NonNullable<GuardOptions['route']> | null;
  readonly maxWait: Readonly<ByClass>;
  readonly slice: number;
  readonly rest: number;
  readonly maxQueue: number;
  readonly maxRoutes: number;
  readonly rejectDelay: Readonly<RejectDelay>;
  readonly retryAfter: number | 'auto';
  readonly concurrency: Readonly<Concurrency>;
  readonly observe: boolean;
  readonly message: string;
  readonly onShed: NonNullable<GuardOptions['onShed']> | null;
}

/** Names of the options that a file can hold: all that are no functions. */
export const settingNames: readonly string[] = [
  'classes',
  'classHeader',
  'maxWait',
  'slice',
  'rest',
  'maxQueue',
  'maxRoutes',
  'rejectDelay',
  'retryAfter',
  'concurrency',
  'observe',
  'message',
];

const names = [...settingNames, 'classify', 'route', 'onShed'];

const defaultMaxWait: ByClass = { high: 300, normal: 250, low: 150 };

/** Checks options and completes them. Throws MILLRACE_E_INVALID_OPTION, which names the option, the value and the range. */
export function completeOptions(given: GuardOptions): CompleteOptions {
  checkKeys('the options of a guard', given, names);
  const {
    classes = {},
    classHeader,
    slice = 10,
    rest = 0.08,
    maxQueue = 10_000,
    maxRoutes = 1000,
    retryAfter = 'auto',
    observe = false,
    message = 'Service Unavailable',
  } = given;
  if (typeof classes !== 'object' || classes === null || Symbol.iterator in classes) {
    throw invalid('classes', classes, 'an object of patterns and classes');
  }
  if (classHeader !== undefined && !isHeaderName(classHeader)) {
    throw invalid('classHeader', classHeader, 'the name of a header');
  }
  check('slice', slice, number(1, 1000));
  check('rest', rest, number(0, 1));
  check('maxQueue', maxQueue, integer(1, 1_000_000));
  check('maxRoutes', maxRoutes, integer(10, 100_000));
  if (retryAfter !== 'auto') check('retryAfter', retryAfter, integer(1, 86_400));
  if (typeof observe !== 'boolean') throw invalid('observe', observe, 'true or false');
  if (typeof message !== 'string') throw invalid('message', message, 'a text');
  return Object.freeze({
    classes: { ...classes },
    classHeader: classHeader === undefined ? null : classHeader.toLowerCase(),
    classify: functionOrNull('classify', given.classify),
    route: functionOrNull('route', given.route),
    maxWait: maxWaitOf(given.maxWait),
    slice,
    rest,
    maxQueue,
    maxRoutes,
    rejectDelay: rejectDelayOf(given.rejectDelay),
    retryAfter,
    concurrency: concurrencyOf(given.concurrency),
    observe,
    message,
    onShed: functionOrNull('onShed', given.onShed),
  });
}

function maxWaitOf(given: GuardOptions['maxWait'] = {}): ByClass {
  const rule = number(1, 600_000);
  if (typeof given !== 'object') {
    check('maxWait', given, rule);
    return { high: given, normal: given, low: given };
  }
  checkKeys("option 'maxWait'", given, ['high', 'normal', 'low']);
  const {
    high = defaultMaxWait.high,
    normal = defaultMaxWait.normal,
    low = defaultMaxWait.low,
  } = given;
  const all = { high, normal, low };
  for (const [name, value] of Object.entries(all)) check(`maxWait.${name}`, value, rule);
  return all;
}

function rejectDelayOf(given: GuardOptions['rejectDelay'] = {}): RejectDelay {
  const rule = number(0, 60_000);
  if (typeof given !== 'object') {
    check('rejectDelay', given, rule);
    return { min: given, max: given };
  }
  checkKeys("option 'rejectDelay'", given, ['min', 'max']);
  const { min = Math.min(25, Number(given.max ?? 25)) } = given;
  check('rejectDelay.min', min, rule);
  const { max = Math.max(min, 1000) } = given;
  check('rejectDelay.max', max, number(min, 60_000));
  return { min, max };
}

function concurrencyOf(given: GuardOptions['concurrency'] = {}): Concurrency {
  checkKeys("option 'concurrency'", given, ['initial', 'min', 'max']);
  const { max = Number.POSITIVE_INFINITY } = given;
  const most = 1_000_000;
  if (max !== Number.POSITIVE_INFINITY)
    check('concurrency.max', max, integer(given.min ?? 1, most));
  const { min = Math.min(2, max) } = given;
  check('concurrency.min', min, integer(1, most));
  const { initial = Math.min(max, Math.max(min, 8)) } = given;
  check('concurrency.initial', initial, integer(min, Math.min(max, most)));
  return { initial, min, max };
}

function functionOrNull<Fn>(name: string, value: Fn | undefined): Fn | null {
  if (value === undefined) return null;
  if (typeof value !== 'function') throw invalid(name, value, 'a function');
  return value;
}

function isHeaderName(value: unknown): value is string {
  return typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value);
}
