// What a program loads that only wants a pool.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isIn } from '../../base/test/route.js';

const most = 30;

test(`import '@millrace/pool' loads at most ${most} modules, and none for a broker`, async (t) => {
  const program = fileURLToPath(new URL('./loaded.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  const files = JSON.parse(stdout);
  t.diagnostic(`${files.length}: ${files.join(', ')}`);
  assert.ok(files.includes('pool/index.js') && files.includes('pool/scheduler.js'), stdout);
  assert.deepEqual(files.filter(isIn('nats')), []);
  assert.deepEqual(files.filter(isIn('broker')), []);
  assert.ok(files.length <= most, `${files.length}: ${stdout}`);
});
