export {
  type BatchContext,
  type Batched,
  type BatchOptions,
  type BatchStats,
  type BulkFunction,
  batch,
  type CallOptions,
} from './batch.js';
export type { Priority } from './core/intake/priority.js';
export type { QueueOptions, RetainOptions } from './core/options.js';
export type { QueueStats, Trigger } from './core/stats.js';
export * from './emitter.js';
export { type ErrorCode, MillraceError } from './errors.js';

/**
 * Which path this process uses: `null` while everything runs in JavaScript, as in this release. The native engine sets
 * it to its version; behaviour is the same on both.
 */
export const native: null | { readonly version: string } = null;
