/**
 * Loop monitor: loop delay, utilization, memory, garbage collection, limits of the container, and capacity.
 *
 * @module
 */
export {
  capacityPerSecond,
  type DeadlineTimes,
  type LoadTimes,
  largestBurst,
  processesNeeded,
  type RequestTimes,
  responseTime,
  responseTimeInBurst,
  responseTimeOfNth,
  type TargetTimes,
  utilizationAt,
} from './capacity.js';
export type { Core, Cores } from './cores.js';
export type { GcKind, GcPauses, GcStats } from './gc.js';
export type { Health, Snapshot } from './health.js';
export { type Limits, limits } from './limits.js';
export type { LoopDelay } from './loop-delay.js';
export type { Capacity, MeasuredRequests } from './measured.js';
export { memoryUsage, type ProcessMemory, type SystemMemory } from './memory.js';
export { Monitor, type MonitorEvents, monitor, monitor as default } from './monitor.js';
export type { MonitorOptions, TaskSource } from './options.js';
