/**
 * Runs files of node:test in the order in which they are given, which `node --test` does not: it sorts them by name. The
 * argument is a JSON object: `files`, `concurrency`, `timeout` of a file in ms, and `tally`, the path of the tally.
 */
import { setMaxListeners } from 'node:events';
import { createWriteStream } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import tally from './tally.js';

const { tally: path, ...options } = JSON.parse(process.argv[2]);

// Asked to end, it still says what has not ended by itself.
const asked = new AbortController();
// Each file listens to it.
setMaxListeners(0, asked.signal);
process.once('SIGTERM', () => asked.abort());

const events = run({ ...options, signal: asked.signal });
events.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});

// A process that ends itself with 0 in the middle of its tests has passed, for node:test.
const begun = new Map();
const count = ({ name, file }, by) => {
  if (name !== file) begun.set(file, (begun.get(file) ?? 0) + by);
};
events.on('test:enqueue', (test) => count(test, 1));
events.on('test:complete', (test) => count(test, -1));
events.on('test:pass', ({ name, file }) => {
  if (name === file) fail(`${file} has run no test: it has none, or has ended before`);
});
events.on('end', () => {
  for (const [file, tests] of begun) {
    if (tests > 0) fail(`${file} has ended before ${tests} of its tests had`);
  }
});
function fail(why) {
  console.error(why);
  process.exitCode = 1;
}

events.compose(new spec()).pipe(process.stdout);
events.compose(tally).pipe(createWriteStream(path));
