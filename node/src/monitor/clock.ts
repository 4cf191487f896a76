/** The only clocks of the monitor. Both are monotonic, so a jump of the time of day changes nothing. */
import { performance } from '../core/timers.cjs';

const { nodeTiming } = performance;

/** Time in ms since the process began. */
export const now: () => number = performance.now;

/**
 * Time in ms that this thread's loop has slept in the poll phase, waiting for something to happen. It is the counter that
 * `performance.eventLoopUtilization()` reads, without the objects that that makes.
 */
export const idleTime = (): number => nodeTiming.idleTime;
