/**
 * Calls and events in batches.
 *
 * @module
 */
import { binding } from './native/load.js';

export {
  type BatchContext,
  type Batched,
  type BatchOptions,
  type BatchStats,
  type BulkFunction,
  batch,
  type CallOptions,
} from './batch.js';
export type { Priority } from './core/priority.js';
export { type Source, type SourceKind, sources } from './core/sources.js';
export * from './emitter.js';
export type { QueueOptions, RetainOptions } from './engine/options.js';
export type { QueueStats, Trigger } from './engine/stats.js';
export { type ErrorCode, MillraceError } from './errors.js';
export { nativeError } from './native/load.js';

/**
 * Which path this process uses: the version of the native engine, or null while everything runs in JavaScript.
 * Behaviour is the same on both.
 */
export const native: null | { readonly version: string } =
  binding === null ? null : Object.freeze({ version: binding.version });
