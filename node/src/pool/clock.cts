import { hrtime, performance } from '../core/timers.cjs';

/** How far this thread's `performance.now()` is behind the system's clock, in ms: it starts at 0 with the thread. */
export const clockOffsetMs = (): number => Number(hrtime()) / 1e6 - performance.now();
