/**
 * Detects stalls of the event loop and names their cause while they last.
 *
 * @module monitor/stalls
 */
export { type ProbeOptions, type StallOptions, stallSchema } from './options.js';
export type { Stall, StallFrame, StallState, WorkerStall } from './stall.cjs';
export { presentWatch, type StallEvents, type StallStats, Stalls, stalls } from './stalls.js';
