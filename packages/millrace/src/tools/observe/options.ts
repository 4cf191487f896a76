import { type FieldsOf, ms, schema } from '@millrace/base/schema';
import type { GuardOptions } from '@millrace/guard';
import { maxWaitField } from '@millrace/guard/requests';

/** Options of {@link observe}. */
export interface ObserveOptions {
  /** A turn of the loop that takes longer counts as blocked, in ms: 1 to 3,600,000, default 50. */
  blockedMs?: number;
  /** Of the guard that would be there: the wait in ms that a request may have ahead of it, as its own option, and with the same default. */
  maxWait?: NonNullable<GuardOptions['maxWait']>;
}

export const observeSchema = schema({
  blockedMs: ms(1, 3_600_000, 50),
  maxWait: maxWaitField,
} satisfies FieldsOf<ObserveOptions>);
