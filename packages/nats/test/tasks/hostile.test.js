/** What others in the namespace may send, and what does not fit: no worker and no client ends by it, or stands still. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { serialize } from 'node:v8';
import { Link } from '../../dist/link.js';
import { encodeBatch } from '../../dist/wire.js';
import { unable } from '../nats.js';
import { patient } from '../patience.js';
import { eventually, repeat, setUp } from './support.js';

const options = { skip: unable, timeout: 300_000 };
const subject = 'millrace.tasks.tests.normal';

async function linkTo(t, server) {
  const link = await new Link(patient(server.url), 'tasks').ready();
  t.after(() => link.close());
  return link;
}

test('a message as large as can be that is no task is a dead letter', options, async (t) => {
  const { server, worker, open } = await setUp(t, { config: 'max_payload: 65536' });
  const one = await worker();
  const link = await linkTo(t, server);
  link.publish(subject, Buffer.alloc(65_536));
  await eventually(async () => (await one.lag()).dead === 1);
  assert.equal(await open().run(1), 1);
  await eventually(async () => (await one.lag()).normal.unacknowledged === 0);
});

test('messages without tasks keep no worker from those with some', options, async (t) => {
  const { server, worker, open } = await setUp(t);
  const one = await worker({ batch: 2, maxThreads: 1 });
  const link = await linkTo(t, server);
  for (let n = 0; n < 300; n++) link.publish(subject, encodeBatch(link.node, n, []));
  const calls = open({ maxBatch: 1 });
  const results = repeat(50, (n) => calls.run(n));
  assert.deepEqual(
    await Promise.all(results),
    repeat(50, (n) => n),
  );
  await eventually(async () => (await one.lag()).normal.unacknowledged === 0);
  assert.equal(one.stats().messages, 350);
});

test(
  'an error that does not fit into a message is reported by its beginning',
  options,
  async (t) => {
    const { open, worker } = await setUp(t, { config: 'max_payload: 65536' });
    const one = await worker({ attempts: 1 });
    const task = { times: 1, message: 'long '.repeat(12_000) };
    await assert.rejects(open().run(task, { name: 'fail' }), {
      code: 'MILLRACE_E_TOO_LARGE',
      message: /the error has \d+ bytes.*it begins with RangeError: long long/,
    });
    assert.equal((await one.lag()).dead, 1);
  },
);

test(
  'a broker that comes back with a lower limit refuses what is above it, and nothing else',
  options,
  async (t) => {
    const { server, open, worker } = await setUp(t);
    const calls = open();
    await worker();
    assert.equal(await calls.run(1), 1);
    await server.kill();
    const large = calls.run(Buffer.alloc(500_000));
    const small = calls.run(2);
    const refused = assert.rejects(large, { code: 'MILLRACE_E_TOO_LARGE' });
    await server.start({ config: 'max_payload: 65536' });
    await refused;
    assert.equal(await small, 2);
  },
);

test('times of functions that are none are left out', options, async (t) => {
  const { server, open } = await setUp(t);
  const calls = open();
  await calls.enqueue(1);
  const link = await linkTo(t, server);
  for (const times of [{ '': Number.POSITIVE_INFINITY }, { '': -1 }, 'text', { '': 'x', b: 7 }]) {
    link.publish('millrace.times.tests', serialize(times));
  }
  await eventually(() => calls.meanMs('b') === 7);
  assert.equal(calls.meanMs(), null);
});
