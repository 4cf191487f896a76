/** The options of a queue and of a type's retention: meaning, default and range. */
import { parse } from '@millrace/base/options';
import * as is from '@millrace/base/schema';

type PolicyName = 'direct' | 'fixed' | 'adaptive';
export type Order = 'arrival' | 'type';
type Hold = 'tuned' | 'always';

/** Options of a queue. Each has a default; see {@link defaults}. */
export interface QueueOptions {
  /**
   * Policy that decides when a batch leaves. `direct` does not batch; `fixed` holds for `maxDelay`; `adaptive` (default)
   * holds as long as it pays.
   */
  policy: PolicyName;
  /**
   * Order of a batch. `arrival` (default): in order of arrival; `type`: grouped by type, the type with the oldest event
   * first.
   */
  order: Order;
  /** Events a batch can hold: 1 to 1,000,000, default 1024. Lower it to give the loop more turns in a burst. */
  maxBatch: number;
  /** Longest hold in ms from the push of the oldest event: 0 to 60,000, default 0 (`fixed`: 50). */
  maxDelay: number;
  /** Queued events that end a hold: 0 (off, default) to 1,000,000. */
  threshold: number;
  /**
   * Share of a core that each ms of delay has to save: 0 to 1, default 0.005. Lower it where delay does not matter; 0 uses all of
   * `maxDelay` wherever holding saves anything. Only for `adaptive`.
   */
  minSaving: number;
  /**
   * Longest time in ms that a batch that is not held may keep the loop: 0 (off, default) to 60,000. When batches take longer,
   * the next ones take as many events as fit, and the rest waits for the next turn; not if that makes each event dearer. Set
   * it, for example to 5, where bursts of slow events must not keep other work on the loop waiting. Only for `adaptive`.
   */
  maxBatchTime: number;
  /**
   * Tuning of holds. `tuned` (default) compares holding with not holding and stops where it does not pay; `always` does not
   * compare. Only for `adaptive`.
   */
  hold: Hold;
  /** Events that may be queued: 1 to 100,000,000, default 65,536. Beyond it a push is refused. */
  maxQueue: number;
  /** Bytes that may be queued, as far as sizes are given: 1 to 2^53 - 1, default 64 MiB. */
  maxQueueBytes: number;
  /** Wait in ms after which an event counts as one class higher, and again after the next: 0 to 3,600,000, default 100. */
  maxDeferral: number;
}

export const queueFields = {
  policy: is.choice(['direct', 'fixed', 'adaptive'], 'adaptive'),
  order: is.choice(['arrival', 'type'], 'arrival'),
  maxBatch: is.integer(1, 1_000_000, 1024),
  // Its default depends on the policy.
  maxDelay: is.ms(0, 60_000),
  threshold: is.integer(0, 1_000_000, 0),
  minSaving: is.number(0, 1, 0.005),
  maxBatchTime: is.ms(0, 60_000, 0),
  hold: is.choice(['tuned', 'always'], 'tuned'),
  maxQueue: is.integer(1, 100_000_000, 65_536),
  maxQueueBytes: is.bytes(1, Number.MAX_SAFE_INTEGER, 64 * 1024 * 1024),
  maxDeferral: is.ms(0, 3_600_000, 100),
} satisfies is.FieldsOf<QueueOptions>;

export const queueSchema = is.schema(queueFields);

/** Options of a front end that has one order. */
export const orderedFields = is.omit(queueFields, 'order');
export const orderedSchema = is.schema(orderedFields);

export const defaults: Readonly<QueueOptions> = Object.freeze({
  ...parse('', {}, queueSchema),
  maxDelay: 0,
});

/** Default hold under `fixed` in ms, where holding is the point. */
const fixedMaxDelayMs = 50;

/** Retention of unhandled events of a type, for handlers that register late. */
export interface RetainOptions {
  /**
   * Receivers of retained events. `first` (default): the first handler that registers; `each`: every handler that registers
   * within `maxAge`.
   */
  replay: 'first' | 'each';
  /** Events kept: 1 to 1,000,000, default 1,000. */
  max: number;
  /** Bytes kept, as far as sizes are given: 1 to 2^53 - 1, default 1 MiB. */
  maxBytes: number;
  /** Time in ms for which an event is kept: 1 to 2,147,483,647, default 60,000. */
  maxAge: number;
}

export const retainSchema = is.schema({
  replay: is.choice(['first', 'each'], 'first'),
  max: is.integer(1, 1_000_000, 1000),
  maxBytes: is.bytes(1, Number.MAX_SAFE_INTEGER, 1024 * 1024),
  maxAge: is.ms(1, 2_147_483_647, 60_000),
} satisfies is.FieldsOf<RetainOptions>);

export const retainDefaults: Readonly<RetainOptions> = Object.freeze(parse('', {}, retainSchema));

/** The option `retain`, of an emitter and of a type. */
export const retainField = is.either(is.boolean(), is.partial(retainSchema));

/** Parses `retain`: null for none. */
export function retention(
  retain: boolean | Partial<RetainOptions>,
  base: Readonly<RetainOptions> = retainDefaults,
): RetainOptions | null {
  if (retain === false) return null;
  return { ...base, ...(retain === true ? {} : retain) };
}

/** Options of a queue as they come out of a front end. */
export type ParsedQueueOptions = { [Name in keyof QueueOptions]?: QueueOptions[Name] | undefined };

/** Returns the options that are given. */
export function queueOptions(parsed: ParsedQueueOptions): Partial<QueueOptions> {
  const options: Record<string, unknown> = {};
  for (const name of queueSchema.names) {
    if (parsed[name] !== undefined) options[name] = parsed[name];
  }
  return options;
}

/** The complete set: what is given, and defaults, which depend on the policy. */
export function complete(given: Partial<QueueOptions>): QueueOptions {
  const maxDelay = given.policy === 'fixed' ? fixedMaxDelayMs : defaults.maxDelay;
  return { ...defaults, maxDelay, ...given };
}

export const closeSchema = is.schema({ discard: is.boolean(false) });

/** The options of `close()`: whether it discards what is queued. */
export const discards = (what: string, options: { discard?: boolean }): boolean =>
  parse(what, options, closeSchema).discard;
