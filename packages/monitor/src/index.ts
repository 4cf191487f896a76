/**
 * Loop monitor: loop delay, utilization, memory, garbage collection, limits of the container, and capacity.
 *
 * @module monitor
 */

export type { Core, Cores } from '@millrace/base/limits/cores';
export { type Limits, limits, type SystemMemory } from '@millrace/base/limits/limits';
export {
  type Burst,
  burst,
  type Capacity,
  type CapacityRequest,
  capacity,
  type RequestTimes,
} from './capacity.js';
export {
  type Health,
  type KernelCounts,
  memoryUsage,
  type ProcessMemory,
  type Snapshot,
} from './health.js';
export type { GcKind, GcPauses, GcStats, LoopDelay } from './measures.js';
export { Monitor, type MonitorEvents, monitor, monitor as default } from './monitor.js';
export type { MonitorOptions, TaskSource } from './options.js';
export {
  type Responses,
  type RouteResponses,
  responses,
  type StatusClass,
  uncounted,
} from './responses.js';
