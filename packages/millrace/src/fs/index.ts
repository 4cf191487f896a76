/**
 * Files: those that are asked for in one tick are read together, and appends share their commits.
 *
 * @module fs
 */
export { type AppendData, type AppendOptions, appendFile } from './append.js';
export { configure, type FileOptions, type FileStats, stats } from './bounds.js';
export { writeFile } from './order.js';
export { readFile } from './read.js';
