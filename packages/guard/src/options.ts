/** The options of a guard: meaning, unit, default and range. */
import type { IncomingMessage } from 'node:http';
import { parse, parseValue } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { classesField, type RequestClass } from './classes.js';
import type { Concurrency } from './gate.js';
import type { ShedReason } from './reasons.js';
import type { RejectDelay } from './rejections.js';

/** Argument of {@link GuardOptions.onShed}. */
export interface ShedInfo {
  class: RequestClass;
  route: string;
  /** Cohort by the option `cohort`; `(none)` without one. */
  cohort: string;
  reason: ShedReason;
  /** Predicted or actual wait in ms. */
  waitMs: number;
  req: IncomingMessage;
}

/** Figures per class that can be shed. */
export interface ByClass {
  high: number;
  normal: number;
  low: number;
}

/** Options of a {@link Guard}. All are optional. */
export interface GuardOptions {
  /**
   * Class by route: `{ 'GET /checkout': 'high', '/reports/*': 'low' }`. A key is a path, or the beginning of a path followed
   * by `*`, after a method if it is for that only. The longest match counts. Default: /health, /healthz, /livez, /readyz,
   * /metrics and /status are exempt, all else is normal.
   */
  classes?: Record<string, RequestClass>;
  /** Name of a request header whose value is a class. Set it only if clients can be trusted. Default: none. */
  classHeader?: string;
  /** Returns the class of a request, before header and route count; `undefined` leaves it to them. Default: none. */
  classify?: (req: IncomingMessage) => RequestClass | undefined;
  /** Returns the name under which cost and time of a request are counted. Default: method and path, with ids in it as `:id`. */
  route?: (req: IncomingMessage) => string;
  /**
   * Returns the cohort of a request, such as its tenant. Cohorts of a class share the loop's time: one that floods the server is
   * refused first. A name of up to 128 characters that clients cannot choose freely; requests with `undefined` share one cohort.
   * Default: none.
   */
  cohort?: (req: IncomingMessage) => string | undefined;
  /** Longest predicted wait in ms of an admitted request: 1 to 600,000; default 300, 250 and 150; a number is for all. */
  maxWait?: number | Partial<ByClass>;
  /** Time in ms for which handlers run before the loop continues: 1 to 1,000, default 10. A handler is never cut short. */
  slice?: number;
  /** Longest time that the loop gets for new connections between slices, as a share of the slice: 0 to 1, default 0.08. */
  rest?: number;
  /** Requests that may wait: 1 to 1,000,000, default 10,000. */
  maxQueue?: number;
  /** Routes that are counted apart: 10 to 100,000, default 1,000. The least used are forgotten. */
  maxRoutes?: number;
  /** Cohorts that are counted apart: 10 to 100,000, default 1,000. The least used are forgotten. */
  maxCohorts?: number;
  /**
   * Delay of a refusal in ms; a number fixes it: 0 to 60,000; default 25 to 1,000, chosen so that refusing costs less than 2
   * % of the loop.
   */
  rejectDelay?: number | Partial<RejectDelay>;
  /** Seconds in the header Retry-After: 1 to 86,400, or `'auto'` (default), from the length of the queue. */
  retryAfter?: number | 'auto';
  /** Bounds of the measured limit on concurrent requests of async handlers. Default: `initial` 8, `min` 2, no `max`. */
  concurrency?: Partial<Concurrency>;
  /** Sheds and delays nothing, but counts the requests that it would have shed, and the responses that it would have saved. Default: false. */
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
  readonly cohort: NonNullable<GuardOptions['cohort']> | null;
  readonly maxWait: Readonly<ByClass>;
  readonly slice: number;
  readonly rest: number;
  readonly maxQueue: number;
  readonly maxRoutes: number;
  readonly maxCohorts: number;
  readonly rejectDelay: Readonly<RejectDelay>;
  readonly retryAfter: number | 'auto';
  readonly concurrency: Readonly<Concurrency>;
  readonly observe: boolean;
  readonly message: string;
  readonly onShed: NonNullable<GuardOptions['onShed']> | null;
}

const wait = is.ms(1, 600_000);
const delay = is.ms(0, 60_000);
const count = is.integer(1, 1_000_000);
const concurrencySchema = is.schema({
  initial: count,
  min: count,
  max: is.either(count, is.choice([Number.POSITIVE_INFINITY])),
} satisfies is.FieldsOf<Concurrency>);

const waitSchema = is.schema({
  high: is.or(wait, 300),
  normal: is.or(wait, 250),
  low: is.or(wait, 150),
} satisfies is.FieldsOf<ByClass>);

/** Options that a settings file may have: all except functions. */
export const settingFields = {
  classes: is.or(classesField, {}),
  classHeader: is.text('the name of a header', (name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name)),
  maxWait: is.or(is.either(wait, is.object(waitSchema)), {
    high: 300,
    normal: 250,
    low: 150,
  }),
  slice: is.ms(1, 1000, 10),
  rest: is.number(0, 1, 0.08),
  maxQueue: is.integer(1, 1_000_000, 10_000),
  maxRoutes: is.integer(10, 100_000, 1000),
  maxCohorts: is.integer(10, 100_000, 1000),
  rejectDelay: is.or(
    is.either(
      delay,
      is.partial(is.schema({ min: delay, max: delay } satisfies is.FieldsOf<RejectDelay>)),
    ),
    {},
  ),
  retryAfter: is.or(is.either(is.integer(1, 86_400), is.choice(['auto'])), 'auto'),
  concurrency: is.or(is.partial(concurrencySchema), {}),
  observe: is.boolean(false),
  message: is.or(is.text('a text'), 'Service Unavailable'),
};

export const guardSchema = is.schema({
  ...settingFields,
  classify: is.or(is.callback(), null),
  route: is.or(is.callback(), null),
  cohort: is.or(is.callback(), null),
  onShed: is.or(is.callback(), null),
} satisfies is.FieldsOf<GuardOptions>);

/** Checks options and completes them; `what` begins the messages. Throws MILLRACE_E_INVALID_OPTION. */
export function completeOptions(given: GuardOptions, what = 'guard()'): CompleteOptions {
  const options = parse(what, given, guardSchema);
  const { classHeader, maxWait } = options;
  return Object.freeze({
    ...options,
    classHeader: classHeader?.toLowerCase() ?? null,
    maxWait:
      typeof maxWait === 'number' ? { high: maxWait, normal: maxWait, low: maxWait } : maxWait,
    rejectDelay: rejectDelayOf(what, options.rejectDelay),
    concurrency: concurrencyOf(what, options.concurrency),
  });
}

function rejectDelayOf(what: string, given: number | Partial<RejectDelay>): RejectDelay {
  if (typeof given === 'number') return { min: given, max: given };
  const { min = Math.min(25, given.max ?? 25) } = given;
  const { max = Math.max(min, 1000) } = given;
  return { min, max: parseValue(what, 'rejectDelay.max', max, is.ms(min, 60_000)) };
}

function concurrencyOf(what: string, given: Partial<Concurrency>): Concurrency {
  const { max = Number.POSITIVE_INFINITY } = given;
  const { min = Math.min(2, max) } = given;
  const { initial = Math.min(max, Math.max(min, 8)) } = given;
  const most = 1_000_000;
  if (max < min) parseValue(what, 'concurrency.max', max, is.integer(min, most));
  const range = is.integer(min, Math.min(max, most));
  return { initial: parseValue(what, 'concurrency.initial', initial, range), min, max };
}
