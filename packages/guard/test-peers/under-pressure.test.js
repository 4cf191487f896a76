// The tests of @fastify/under-pressure as they are in its package, run against @millrace/guard; see in-place-of.cjs.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { checkFile } from '../../base/test/peers.js';

const require = createRequire(import.meta.url);
const folder = join(dirname(require.resolve('@fastify/under-pressure/package.json')), 'test');
const inPlaceOf = join(import.meta.dirname, 'in-place-of.cjs');
const all = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.test.js'));

/** Tests that fake timers or `node:perf_hooks`, which ours do not follow (docs/reference/addon.md says why). A test that is listed has to fail. */
const differs = {
  'eventLoopUtilization.test.js': [
    'eventLoopUtilizationMode measures cumulative or interval utilization',
  ],
  // The test, and the describe around it.
  'pressurehandler.test.js': ['health check', 'interval reentrance'],
};

test('its package has the tests that are known', () => {
  assert.deepEqual(all.sort(), [
    'eventLoopUtilization.test.js',
    'exports.test.js',
    'index.test.js',
    join('issues', '216.test.js'),
    'pressurehandler.test.js',
    'statusRoute.test.js',
  ]);
});

test('they pass, but for those that are listed', { concurrency: 2 }, async (t) => {
  const runs = all.flatMap((name) => ['on', 'off'].map((guard) => [name, guard]));
  await Promise.all(
    runs.map(([name, guard]) =>
      t.test(`${name}, guard ${guard}`, () =>
        checkFile(join(folder, name), {
          args: ['--require', inPlaceOf],
          env: { MILLRACE_GUARD: guard },
          differs: differs[name],
        }),
      ),
    ),
  );
});
