// How many files a task runs through, in the thread of its caller and in its worker.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pool } from '@millrace/pool';
import { isIn, watchRoute } from '../../base/test/route.js';

const most = 10;

test(`a warm run() goes through at most ${most} files of the pool`, async (t) => {
  const filename = new URL('./route-tasks.js', import.meta.url);
  const pool = new Pool({ filename, minThreads: 1, maxThreads: 1 });
  t.after(() => pool.destroy());
  for (let n = 0; n < 40; n++) await pool.run({ n });
  await pool.run(null, { name: 'watch' });
  await pool.run(null, { name: 'watched' });
  await pool.run(null, { name: 'watch' });

  const end = watchRoute();
  assert.deepEqual(await pool.run({ n: 1 }), { n: 1 });
  const here = end();
  const inWorker = await pool.run(null, { name: 'watched' });

  const route = `${here.join(', ')}; in the worker: ${inWorker.join(', ')}`;
  t.diagnostic(route);
  assert.ok(here.includes('pool/scheduler.js'), route);
  assert.ok(inWorker.includes('pool/worker/runner.cjs'), route);
  const files = new Set([...here, ...inWorker].filter(isIn('pool')));
  assert.ok(files.size <= most, `${files.size} files: ${route}`);
});
