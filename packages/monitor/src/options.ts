/** The options of a monitor: meaning, default and range. */
import { parse, parseValue } from '@millrace/base/options';
import * as is from '@millrace/base/schema';

/** Source of tasks for the health report: a pool, a guard, or a function. */
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
  /** Time in ms that `utilization` and `loopDelay` cover: 100 to 3,600,000; default 1,000. */
  window?: number;
  /** Idle share above which `health()` calls a core idle: 0 to 1; default 0.1. */
  idleThreshold?: number;
  /** Sources of the task queue details in `health()`, each under its name; default none. */
  tasks?: Readonly<Record<string, TaskSource>>;
}

const hourMs = 3_600_000;
const isSource = (source: any) =>
  typeof source === 'function' || typeof source?.stats === 'function';

export const limitField = is.above0(hourMs, 'ms');
export const intervalField = is.above0(60_000, 'ms');

export const monitorSchema = is.schema({
  limit: is.or(limitField, 42),
  lower: limitField,
  calm: is.integer(1, 1_000_000, 2),
  sampleInterval: is.or(intervalField, 5),
  window: is.ms(100, hourMs, 1000),
  idleThreshold: is.number(0, 1, 0.1),
  tasks: is.or(
    is.record<Readonly<Record<string, TaskSource>>, TaskSource>(
      is.custom('a function, or an object with stats()', isSource),
      'an object of functions, or of objects with stats()',
    ),
    {},
  ),
} satisfies is.FieldsOf<MonitorOptions>);

/** Options as a monitor uses them; `lower` undefined: half of the limit, also of one that is set later. */
export type CheckedOptions = is.Parsed<typeof monitorSchema.fields>;

const what = 'monitor()';

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function monitorOptions(given: MonitorOptions): CheckedOptions {
  const options = parse(what, given, monitorSchema);
  const { limit, lower } = options;
  if (lower !== undefined) parseValue(what, 'lower', lower, is.above0(limit, 'ms'));
  return options;
}
