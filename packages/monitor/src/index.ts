/**
 * Loop monitor: loop delay, utilization, memory, garbage collection, limits of the container, and capacity.
 *
 * @module monitor
 */

export { type Limits, limits } from '@millrace/base/limits/limits';
export type { SystemMemory } from '@millrace/base/limits/memory';
export {
  type Burst,
  burst,
  type Capacity,
  type CapacityRequest,
  capacity,
  type RequestTimes,
} from './capacity.js';
export type { Core, Cores } from './cores.js';
export type { GcKind, GcPauses, GcStats } from './gc.js';
export type { Health, Snapshot } from './health.js';
export type { LoopDelay } from './loop-delay.js';
export { memoryUsage, type ProcessMemory } from './memory.js';
export { Monitor, type MonitorEvents, monitor, monitor as default } from './monitor.js';
export type { MonitorOptions, TaskSource } from './options.js';
