export { type AppendData, type AppendOptions, appendFile } from './append.js';
export { readFile } from './read.js';
export { type FileStats, stats } from './stats.js';
export { writeFile } from './write.js';
