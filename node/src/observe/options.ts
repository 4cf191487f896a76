import { check, checkKeys, number } from '../core/options.js';
import { type CompleteOptions, completeOptions, type GuardOptions } from '../guard/options.js';

/** Options of {@link observe}. */
export interface ObserveOptions {
  /** A turn of the loop that takes longer counts as blocked, in ms: 1 to 3,600,000, default 50. */
  blockedMs?: number;
  /** Of the guard that would be there: the wait in ms that a request may have ahead of it, as its own option, and with the same default. */
  maxWait?: NonNullable<GuardOptions['maxWait']>;
}

interface CheckedOptions {
  readonly blockedMs: number;
  /** Of the guard that would be there. */
  readonly guard: CompleteOptions;
}

/** Throws MILLRACE_E_INVALID_OPTION. */
export function observeOptions(given: ObserveOptions): CheckedOptions {
  checkKeys('the options of observe()', given, ['blockedMs', 'maxWait']);
  const { blockedMs = 50, maxWait } = given;
  check('blockedMs', blockedMs, number(1, 3_600_000));
  return { blockedMs, guard: completeOptions(maxWait === undefined ? {} : { maxWait }) };
}
