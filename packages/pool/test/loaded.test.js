/** The modules that a program loads which only wants a pool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaded } from '../../base/test/loads.js';
import { isIn } from '../../base/test/route.js';

const most = 39;

test(`import '@millrace/pool' loads at most ${most} modules, and none for a broker`, async (t) => {
  const modules = await loaded('@millrace/pool');
  const said = `${modules.length}: ${modules.join(', ')}`;
  t.diagnostic(said);
  assert.ok(modules.includes('pool/index.js') && modules.includes('pool/scheduler.js'), said);
  assert.deepEqual(modules.filter(isIn('nats')), []);
  assert.deepEqual(modules.filter(isIn('broker')), []);
  assert.ok(modules.length <= most, said);
});
