/** Many appends at once, of which few may wait. Prints the lines of the file, and what was counted. */
import { appendFile, readFile } from 'node:fs/promises';
import { configure, stats } from '../../../dist/fs/index.js';

const { features } = process[Symbol.for('millrace.auto')];
const [, , log] = process.argv;
while (features.fs.state === 'waiting') {
  await Promise.all([readFile(log).catch(() => {}), readFile(log).catch(() => {})]);
  await new Promise(setImmediate);
}
configure({ maxPending: 10 * (256 + 4) });
await Promise.all(
  Array.from({ length: 500 }, (_, i) => appendFile(log, `${i}\n`.padStart(4, '0'))),
);
const lines = (await readFile(log, 'utf8')).trimEnd().split('\n').map(Number);
console.log(JSON.stringify({ lines, stats: stats() }));
