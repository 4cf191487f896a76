// The tests of piscina as they are in its package, run against @millrace/pool; see piscina/in-place-of.cjs.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { checkFile } from '../../base/test/peers.js';

const require = createRequire(import.meta.url);
const folder = join(dirname(require.resolve('piscina')), '../test');
const inPlaceOf = join(import.meta.dirname, 'piscina/in-place-of.cjs');
const slowClock = join(import.meta.dirname, 'piscina/slow-clock.cjs');
const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));

/** What is otherwise here, and is meant to be. A test that is listed has to fail. */
const differs = {
  'async-context.test.ts': [
    // Here a task is no AsyncResource: its promise has the context of its caller.
    'postTask() calls the correct async hooks',
  ],
  'histogram.test.ts': [
    // Here the message goes on to name the value.
    'opts.workerHistogram should be a boolean value',
    // It counts how often a balancer is asked.
    'workers does not have histogram if disabled',
  ],
  'load-with-esm.test.ts': [
    // Here is an export more: 'module.exports', by which require() gives the class.
    'Exports match own property names',
  ],
  'option-validation.test.ts': [
    // Their message names 'sync' twice, and 'async' not at all.
    'atomics must be valid',
  ],
  'pool.test.ts': [
    // A task is aborted that its worker has not begun: here it is taken back, and the worker stays.
    'workerCreate/workerDestroy should be emitted while managing worker lifecycle',
  ],
  'post-task.test.ts': [
    // Here as many as there are CPUs for this process.
    'Piscina.maxThreads should return the max number of threads to be used (default)',
  ],
  'workers.test.ts': [
    // As in pool.test.ts.
    'workers are marked as destroyed if destroyed',
  ],
};

/** Go by which of two threads is some ms ahead, so their timers run slowly: see piscina/slow-clock.cjs. */
const timed = [
  'abort-task.test.ts',
  'atomics-optimization.test.ts',
  'idle-timeout.test.ts',
  'pool-close.test.ts',
  'test-is-buffer-transferred.test.ts',
  'test-uncaught-exception-from-handler.test.ts',
];

test('its package has the tests that are known', () => {
  assert.equal(files.length, 28);
  for (const name of Object.keys(differs)) assert.ok(files.includes(name), name);
});

test('they pass, but for those that are listed', { concurrency: 2 }, async (t) => {
  await Promise.all(files.map((name) => t.test(name, () => check(name))));
});

async function check(name) {
  const clock = timed.includes(name) ? ['--require', slowClock] : [];
  const output = await checkFile(join(folder, name), {
    args: [...clock, '--require', inPlaceOf, '--import', 'tsx'],
    // On every machine there are as many CPUs as the tests ask for.
    env: { MILLRACE_CPUS: '2' },
    differs: differs[name],
  });
  // Many of them wait for no rejection: one that comes later, or is of another kind, is only told.
  assert.doesNotMatch(output, /asynchronous activity|unhandledRejection/);
}
