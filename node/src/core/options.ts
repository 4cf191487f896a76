/** The options of a queue and of a type: meaning, default, range, and the check that keeps bad ones out. */
import { MillraceError, show } from '../errors.js';
import { nearest } from './nearest.js';

type PolicyName = 'direct' | 'fixed' | 'adaptive';
export type Order = 'arrival' | 'type';
type Hold = 'tuned' | 'always';

/** Options of a queue. Each is optional for the user; see {@link defaults}. */
export interface QueueOptions {
  /** When a batch leaves. `direct` does not batch; `fixed` holds for `maxDelay`; `adaptive` (default) holds only while it pays. */
  policy: PolicyName;
  /** `arrival` (default): a batch is in order of arrival; `type`: grouped by type, the type with the oldest event first. */
  order: Order;
  /** Events a batch can hold: 1 to 1,000,000, default 1024. Lower it to give the loop more turns in a burst. */
  maxBatch: number;
  /** Longest hold in ms from the push of the oldest event: 0 to 60,000, default 0 (`fixed`: 50). */
  maxDelay: number;
  /** A hold ends at this many queued events: 0 (off, default) to 1,000,000. */
  threshold: number;
  /** `tuned` (default) stops holding that does not pay; `always` does not. Only for `adaptive`. */
  hold: Hold;
  /** Events that may be queued: 1 to 100,000,000, default 65,536. Beyond it a push is refused. */
  maxQueue: number;
  /** Bytes that may be queued, as far as sizes are given: 1 to 2^53 - 1, default 64 MiB. */
  maxQueueBytes: number;
  /** Wait in ms after which an event counts as one class higher, and again after the next: 0 to 3,600,000, default 100. */
  maxDeferral: number;
}

export const defaults: Readonly<QueueOptions> = Object.freeze({
  policy: 'adaptive',
  order: 'arrival',
  maxBatch: 1024,
  maxDelay: 0,
  threshold: 0,
  hold: 'tuned',
  maxQueue: 65_536,
  maxQueueBytes: 64 * 1024 * 1024,
  maxDeferral: 100,
});

/** Under `fixed` a hold is the point, so it has a default of its own (ms). */
const fixedMaxDelayMs = 50;

export type Rule =
  | { kind: 'choice'; values: readonly string[] }
  | { kind: 'number'; min: number; max: number; integer: boolean };

export const choice = (...values: string[]): Rule => ({ kind: 'choice', values });
export const integer = (min: number, max: number): Rule => ({
  kind: 'number',
  min,
  max,
  integer: true,
});
export const number = (min: number, max: number): Rule => ({
  kind: 'number',
  min,
  max,
  integer: false,
});

const queueRules: Record<keyof QueueOptions, Rule> = {
  policy: choice('direct', 'fixed', 'adaptive'),
  order: choice('arrival', 'type'),
  maxBatch: integer(1, 1_000_000),
  maxDelay: number(0, 60_000),
  threshold: integer(0, 1_000_000),
  hold: choice('tuned', 'always'),
  maxQueue: integer(1, 100_000_000),
  maxQueueBytes: integer(1, Number.MAX_SAFE_INTEGER),
  maxDeferral: number(0, 3_600_000),
};

/** How unhandled events of a type are kept for handlers that register late. */
export interface RetainOptions {
  /** `first` (default): delivered to the first handler that comes; `each`: to every handler that comes within `maxAge`. */
  replay: 'first' | 'each';
  /** Events kept: 1 to 1,000,000, default 1,000. */
  max: number;
  /** Bytes kept, as far as sizes are given: 1 to 2^53 - 1, default 1 MiB. */
  maxBytes: number;
  /** Time an event is kept in ms: 1 to 2,147,483,647, default 60,000. */
  maxAge: number;
}

export const retainDefaults: Readonly<RetainOptions> = Object.freeze({
  replay: 'first',
  max: 1000,
  maxBytes: 1024 * 1024,
  maxAge: 60_000,
});

const retainRules: Record<keyof RetainOptions, Rule> = {
  replay: choice('first', 'each'),
  max: integer(1, 1_000_000),
  maxBytes: integer(1, Number.MAX_SAFE_INTEGER),
  maxAge: number(1, 2_147_483_647),
};

/** Throws MILLRACE_E_INVALID_OPTION unless `value` keeps the rule; names the option, the value and the range. */
export function check(name: string, value: unknown, rule: Rule): void {
  if (rule.kind === 'choice') {
    if (rule.values.includes(value as string)) return;
    const list = rule.values.map((v) => `'${v}'`).join(', ');
    throw invalid(name, value, `one of ${list}`);
  }
  if (
    typeof value === 'number' &&
    value >= rule.min &&
    value <= rule.max &&
    (!rule.integer || Number.isInteger(value))
  ) {
    return;
  }
  const noun = rule.integer ? 'an integer' : 'a number';
  throw invalid(name, value, `${noun} from ${rule.min} to ${rule.max}`);
}

export function invalid(name: string, value: unknown, allowed: string): MillraceError {
  return new MillraceError(
    'MILLRACE_E_INVALID_OPTION',
    `option '${name}' is ${show(value)}; it must be ${allowed}`,
  );
}

/** Checks that `given` is an object whose keys are all known; an unknown key is refused with those that are known. */
export function checkKeys(what: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `${what} must be an object, not ${show(given)}${known.length > 0 ? `; known are ${known.join(', ')}` : ''}`,
    );
  }
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const guess = nearest(key, known);
    const hint = guess === undefined ? '' : ` (is '${guess}' meant?)`;
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `unknown option '${key}' in ${what}${hint}; known are ${known.join(', ')}`,
    );
  }
}

/** The options of `close()`: whether it discards what is queued. */
export function discards(options: { discard?: boolean }): boolean {
  checkKeys('the options of close()', options, ['discard']);
  const { discard = false } = options;
  if (typeof discard !== 'boolean') throw invalid('discard', discard, 'true or false');
  return discard;
}

const queueKeys = Object.keys(queueRules) as (keyof QueueOptions)[];
const retainKeys = Object.keys(retainRules) as (keyof RetainOptions)[];

/** The names of a queue's options, for front ends that add options of their own. */
export const queueOptionNames: readonly string[] = queueKeys;

/**
 * Checks options and returns those that are given; nothing else of `given` is looked at. An option that is `undefined`
 * counts as not given. Throws MILLRACE_E_INVALID_OPTION.
 */
export function givenOptions(given: Partial<QueueOptions>): Partial<QueueOptions> {
  const checked: Record<string, unknown> = {};
  for (const key of queueKeys) {
    const value = given[key];
    if (value === undefined) continue;
    check(key, value, queueRules[key]);
    checked[key] = value;
  }
  return checked;
}

/** The complete set: what is given, and defaults, which depend on the policy. */
export function complete(given: Partial<QueueOptions>): QueueOptions {
  const maxDelay = given.policy === 'fixed' ? fixedMaxDelayMs : defaults.maxDelay;
  return { ...defaults, maxDelay, ...given };
}

/** The same for a type's retention: `true` for the defaults, an object, or `false` for none. */
export function retainOptions(
  given: boolean | Partial<RetainOptions>,
  base: Readonly<RetainOptions> = retainDefaults,
): RetainOptions | null {
  if (given === false) return null;
  if (given === true) return { ...base };
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid('retain', given, 'true, false or an object');
  checkKeys("option 'retain'", given, retainKeys);
  const options: RetainOptions = { ...base };
  for (const key of retainKeys) {
    const value = given[key];
    if (value === undefined) continue;
    check(`retain.${key}`, value, retainRules[key]);
    (options as unknown as Record<string, unknown>)[key] = value;
  }
  return options;
}

/** More than any queue can hold; a small integer, which compares faster than Infinity. */
export const unlimited = 2 ** 30;

/** A type's own `maxBatch`: as the queue's, or Infinity for no limit of its own. */
export function typeMaxBatch(value: unknown): number {
  if (value === Number.POSITIVE_INFINITY) return unlimited;
  check('maxBatch', value, queueRules.maxBatch);
  return value as number;
}
