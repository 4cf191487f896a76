/**
 * Calls and events in batches.
 *
 * @module millrace
 */
import { binding } from './native/load.js';

export { type ErrorCode, MillraceError } from '@millrace/base/errors';
export type { Priority } from '@millrace/base/priority';
export { type Source, type SourceKind, sources } from '@millrace/base/sources';
export {
  type BatchContext,
  type Batched,
  type BatchOptions,
  type BatchStats,
  type BulkFunction,
  batch,
  type CallOptions,
} from './batch.js';
export * from './emitter/emitter.js';
export type { QueueOptions, RetainOptions } from './engine/options.js';
export type { QueueStats, Trigger } from './engine/stats.js';
export { nativeError } from './native/load.js';

/**
 * Version of the native engine that this process uses, or null if everything runs in JavaScript. Behaviour is the same on
 * both.
 */
export const native: null | { readonly version: string } =
  binding === null ? null : Object.freeze({ version: binding.version });
