/**
 * Answers that identical requests share.
 *
 * @module guard/cached
 */
export { type CachedHandler, type CachedStats, cached } from './cache.js';
export type { CachedOptions, PressureSource, StorageOptions } from './options.js';
