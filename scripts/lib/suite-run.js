/**
 * Runs files of node:test in the order in which they are given, which `node --test` does not: it sorts them by name. The
 * argument is a JSON object: `files`, `concurrency`, `timeout` of a file in ms, and `tally`, the file that gets the counts.
 *
 * For node:test a file has passed if its process ends with code 0, even in the middle of its tests or before the first one. Here such
 * a file has failed: a test that was begun has to end, and a file has a test at least.
 */
import { setMaxListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { root } from './paths.js';

const { tally, ...options } = JSON.parse(process.argv[2]);
const counts = { failedNames: [], skippedNames: [], said: [] };
/** The number of the tests of each file that have begun and not ended. */
const begun = new Map();

// Asked to end, it still says which tests have not ended by themselves.
const asked = new AbortController();
setMaxListeners(0, asked.signal); // each file listens to it
process.once('SIGTERM', () => asked.abort());

const count = ({ name, file }, by) => {
  if (name !== file) begun.set(file, (begun.get(file) ?? 0) + by);
};
const fail = (why) => {
  console.error(why);
  process.exitCode = 1;
};

const events = run({ ...options, signal: asked.signal });
events.on('test:enqueue', (test) => count(test, 1));
events.on('test:complete', (test) => count(test, -1));
events.on('test:pass', ({ name, file, skip }) => {
  if (name === file) fail(`${file} has run no test: it has none, or has ended before`);
  if (skip !== undefined) counts.skippedNames.push(skip.length > 0 ? `${name}: ${skip}` : name);
});
events.on('test:fail', ({ name, file, line, todo, details }) => {
  if (todo !== undefined && todo !== false) return;
  process.exitCode = 1;
  // A group of tests failed because one of them did.
  if (details?.error?.failureType === 'subtestsFailed') return;
  const path = relative(root, file);
  counts.failedNames.push(name === file ? path : `${path}:${line}: ${name}`);
});
events.on('test:diagnostic', ({ message, file }) => {
  // The summary of the run belongs to no file.
  const [, name, number] = /^([a-z]+) (\d+)$/.exec(message) ?? [];
  if (file !== undefined) counts.said.push(message);
  else if (name) counts[name] = Number(number);
});
events.on('end', () => {
  for (const [file, tests] of begun) {
    if (tests > 0) fail(`${file} has ended before ${tests} of its tests had`);
  }
  const { pass = 0, fail: failed = 0, cancelled = 0, skipped = 0, todo = 0, ...names } = counts;
  const total = { passed: pass, failed: failed + cancelled, skipped: skipped + todo };
  writeFileSync(tally, JSON.stringify({ ...total, ...names }));
});
events.compose(new spec()).pipe(process.stdout);
