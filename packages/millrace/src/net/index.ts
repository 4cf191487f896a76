/**
 * Sockets: small writes that leave together, and large reads.
 *
 * @module net
 */
export { coalesce } from './coalesce.js';
export type { CoalesceOptions, Coalescer, CoalesceStats } from './coalescer.js';
export { enlarge } from './enlarge.js';
export type { Enlarged, EnlargeStats } from './enlarger.js';
export type { EnlargeOptions } from './read-options.js';
