/**
 * Files: reads of one tick are merged, and appends share their commits.
 *
 * @module fs
 */
export { type AppendData, type AppendOptions, appendFile } from './append.js';
export { configure, type FileOptions, type FileStats, stats } from './bounds.js';
export { writeFile } from './order.js';
export { readFile } from './read.js';
