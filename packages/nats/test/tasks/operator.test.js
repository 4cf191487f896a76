import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TaskOperator } from '@millrace/nats/tasks';
import { unable } from '../nats.js';
import { patient, patiently } from '../patience.js';
import { eventually, setUp } from './support.js';

describe('TaskOperator', { skip: unable }, () => {
  test('shows the lag and the dead letters, and turns these into tasks again', async (t) => {
    const { server, open, worker } = await setUp(t);
    const operator = new TaskOperator(patient(server.url), 'tests');
    t.after(() => operator.close());
    const lag = () => patiently(() => operator.lag());
    await assert.rejects(lag(), /stream not found/);
    const client = open();
    await client.enqueue({ times: 9 }, { name: 'fail', id: 'sad', priority: 'low', attempts: 1 });
    const { low, high } = await lag();
    assert.deepEqual([low.pending, high.pending], [1, 0]);
    const first = await worker();
    await eventually(async () => (await lag()).dead === 1);
    await first.close();
    const letters = [];
    for await (const letter of operator.dead()) letters.push(letter);
    assert.deepEqual(
      letters.map(({ id, name, priority, reason }) => ({ id, name, priority, reason })),
      [{ id: 'sad', name: 'fail', priority: 'low', reason: 'failed' }],
    );
    assert.equal(await operator.retryDead(), 1);
    const after = await lag();
    assert.deepEqual([after.dead, after.low.pending], [0, 1]);
  });

  test('refuses a name that no stream has, and creates none', async (t) => {
    const { server } = await setUp(t);
    assert.throws(() => new TaskOperator(server.url, 'a b'), { code: 'MILLRACE_E_INVALID_OPTION' });
    assert.throws(() => new TaskOperator('http://a', 'a'), { code: 'MILLRACE_E_INVALID_OPTION' });
    const operator = new TaskOperator(patient(server.url), 'tests');
    t.after(() => operator.close());
    for (const ask of [() => operator.dead().next(), () => operator.lag()]) {
      await assert.rejects(patiently(ask), /stream not found/);
    }
  });
});
