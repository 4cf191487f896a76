/**
 * Files: those that are asked for in one tick are read together, and appends share their commits.
 *
 * @module
 */
export { type AppendData, type AppendOptions, appendFile } from './append.js';
export { configure, type FileOptions } from './bounds.js';
export { readFile } from './read.js';
export { type FileStats, stats } from './stats.js';
export { writeFile } from './write.js';
