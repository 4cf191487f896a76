export { coalesce } from './coalesce.js';
export type { CoalesceOptions, Coalescer, CoalesceStats } from './coalescer.js';
