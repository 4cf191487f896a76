/** Jobs that wait for a thread of the pool. */
import assert from 'node:assert/strict';
import { pbkdf2 } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { observe } from 'millrace/observe';

const derive = promisify(pbkdf2);

test('a pool that is full is seen, and an idle one is not', async (t) => {
  await sleep(Math.max(0, 1050 - performance.now()));
  const observation = observe();
  t.after(() => observation.stop());
  while (observation.report().threadpool.probes === 0) await sleep(10);
  const idle = observation.report().threadpool;
  assert.equal(idle.size, Number(process.env.UV_THREADPOOL_SIZE ?? 4));
  while (observation.report().threadpool.waited === idle.waited) {
    await Promise.all(Array.from({ length: 32 }, () => derive('a', 'b', 20_000, 32, 'sha512')));
  }
  const { share, meanMs, maxMs, probes } = observation.report().threadpool;
  assert.ok(probes > idle.probes);
  assert.ok(share > 0 && share <= 1);
  assert.ok(meanMs >= 1 && maxMs >= meanMs);
});
