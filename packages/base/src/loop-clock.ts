/** Clocks for the busy time of this thread's loop. Both are monotonic, so a jump of the time of day changes nothing. */

import { MillraceError } from '@millrace/base/errors';
import { otherRuntime } from '@millrace/base/realm';
import { performance } from '@millrace/base/timers';

const { nodeTiming } = performance;

/** Time in ms since the process began. */
export const now: () => number = performance.now;

/**
 * Time in ms that this thread's loop has slept in the poll phase, waiting for something to happen. It is the counter that
 * `performance.eventLoopUtilization()` reads, without the objects that that makes.
 */
export const idleTime = (): number => nodeTiming.idleTime;

/** True if the runtime counts it. Bun and Deno do not. */
export const countsIdleTime = otherRuntime === null;

/** Throws MILLRACE_E_RUNTIME where the runtime does not count {@link idleTime}. */
export function checkIdleTime(who: string): void {
  if (countsIdleTime) return;
  throw new MillraceError(
    'MILLRACE_E_RUNTIME',
    `${who} needs the time for which the loop has slept, which ${otherRuntime} does not count; use Node.js for it`,
  );
}
