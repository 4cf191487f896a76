import { performance } from 'node:perf_hooks';

/** What this thread's `performance.now()` shows less than the system's clock, in ms: each thread's starts with it. */
export const clockOffsetMs = (): number =>
  Number(process.hrtime.bigint()) / 1e6 - performance.now();
