import assert from 'node:assert/strict';
import test from 'node:test';
// Loaded here, so that it does not take from the times below.
import '@nats-io/transport-node';
import { sources } from '@millrace/base/sources';
import { TaskWorker } from '@millrace/nats/tasks';
import { Link } from '../../dist/link.js';
import { unable } from '../nats.js';
import { patient, patiently } from '../patience.js';
import { managerOf, rawTo } from '../raw.js';
import { eventually, functions, openClient, repeat, setUp } from './support.js';

const options = { skip: unable, timeout: 300_000 };

test(
  'without a broker a call rejects after storeTimeout, and a worker after connectTimeout',
  options,
  async (t) => {
    let reasons;
    const isKnown = (message) => /no broker answers at 127\.0\.0\.1:1/.test(message);
    // Before an attempt has failed there is nothing to say but that it is late.
    for (let ms = 2500; !reasons?.every(isKnown); ms *= 2) {
      const broker = { servers: 'nats://127.0.0.1:1', connectTimeout: ms };
      const calls = openClient(t, { broker, stream: 's', storeTimeout: ms });
      const worker = new TaskWorker({ broker, stream: 's', filename: functions });
      t.after(() => worker.close());
      const pending = [calls.run(1), calls.enqueue(1), worker.ready()];
      const errors = await Promise.all(pending.map((each) => each.catch((error) => error)));
      for (const { code } of errors) assert.equal(code, 'MILLRACE_E_BROKER');
      reasons = errors.map(({ message }) => message);
      assert.equal(calls.stats().queued.total, 0);
    }
  },
);

test('an address that is none is refused before there is a pool, which nobody would end', () => {
  const pools = () => sources().filter(({ kind }) => kind === 'pool').length;
  const before = pools();
  assert.throws(
    () => new TaskWorker({ broker: 'http://127.0.0.1:4222', stream: 's', filename: functions }),
    { code: 'MILLRACE_E_INVALID_OPTION', message: /http/ },
  );
  assert.equal(pools(), before);
});

test('a call waits for a broker that comes later; so many may', options, async (t) => {
  const { server, open, worker } = await setUp(t);
  await server.kill();
  const calls = open({ maxQueue: 3 });
  const waiting = repeat(3, (n) => calls.run(n));
  assert.equal(calls.stats().queued.total, 3);
  await assert.rejects(calls.run(4), {
    code: 'MILLRACE_E_OVERLOADED',
    message: /3 tasks wait to be stored \(maxQueue\)/,
  });
  await server.start();
  await worker();
  assert.deepEqual(await Promise.all(waiting), [0, 1, 2]);
});

test('wrong credentials are reported at once', options, async (t) => {
  const { server } = await setUp(t, { config: 'authorization { user: u, password: p }' });
  const broker = { servers: server.url, user: 'u', password: 'secret' };
  const calls = openClient(t, { broker, stream: 's' });
  const error = await calls.run(1).catch((error) => error);
  assert.equal(error.code, 'MILLRACE_E_BROKER');
  assert.match(error.message, /refuses the credentials/);
  assert.doesNotMatch(error.message, /secret/);
});

test('a broker without streams is reported', options, async (t) => {
  const { open } = await setUp(t, { jetstream: false });
  const call = patiently(() => open().run(1));
  await assert.rejects(call, { code: 'MILLRACE_E_BROKER', message: /has no JetStream/ });
});

test('a full stream refuses, and takes again when a worker has made room', options, async (t) => {
  const { open, worker } = await setUp(t);
  const stream = { name: 'tests', maxMessages: 3 };
  const calls = open({ stream });
  await Promise.all(repeat(3, (n) => calls.enqueue(n)));
  const full = { code: 'MILLRACE_E_OVERLOADED', message: /the stream is full/ };
  await assert.rejects(calls.enqueue(4), full);
  await assert.rejects(calls.run(4), full);
  assert.equal(calls.stats().refused, 2);
  const server = await worker();
  await eventually(() => server.stats().done === 3);
  // The broker may take the next task before it has removed those that are done.
  const taken = () => calls.run(5).catch(({ code }) => code);
  let answer = await taken();
  for (; answer !== 5; answer = await taken()) assert.equal(answer, 'MILLRACE_E_OVERLOADED');
});

test(
  'a stream that is set up otherwise is refused by its setting, both values, and the way out',
  options,
  async (t) => {
    const { server, open, worker } = await setUp(t);
    await open({ stream: { name: 'tests', maxMessages: 10, duplicateWindow: 60_000 } }).enqueue(1);
    // Bounds that one does not name are taken as they are.
    await open().enqueue(2);
    const other = open({ stream: { name: 'tests', maxMessages: 20 } });
    const third = patiently(() => other.enqueue(3));
    await assert.rejects(third, {
      code: 'MILLRACE_E_BROKER',
      message: /maxMessages 10, but `stream` says 20; leave maxMessages out/,
    });
    await assert.rejects(open({ storeTimeout: 70_000 }).enqueue(3), {
      message: /duplicateWindow of 60000 ms/,
    });
    const { streams } = await managerOf(await rawTo(t, server));
    await streams.add({ name: 'millrace_tasks_mine', subjects: ['mine'], retention: 'limits' });
    const structure = {
      code: 'MILLRACE_E_BROKER',
      message: /retention "limits", but durable tasks need "workqueue"; choose another/,
    };
    const mine = open({ stream: 'mine' });
    await assert.rejects(
      patiently(() => mine.enqueue(1)),
      structure,
    );
    await assert.rejects(worker({ stream: 'mine' }), structure);
  },
);

test('the first process creates the stream, and the others find it', options, async (t) => {
  const { open, worker } = await setUp(t);
  const clients = repeat(8, () => open({ stream: { name: 'tests', maxBytes: 1e6 } }));
  const calls = clients.map((calls, n) => calls.run(n));
  await Promise.all(repeat(3, () => worker({ stream: { name: 'tests', maxBytes: 1e6 } })));
  assert.deepEqual(
    await Promise.all(calls),
    repeat(8, (n) => n),
  );
});

test('a message that is no task becomes a dead letter', options, async (t) => {
  const { server, worker, open } = await setUp(t);
  const one = await worker();
  const link = await new Link(patient(server.url), 'tasks').ready();
  t.after(() => link.close());
  link.publish('millrace.tasks.tests.normal', Buffer.from('no batch'));
  await eventually(async () => (await one.lag()).dead === 1);
  assert.equal(await open().run(1), 1);
  await eventually(async () => (await one.lag()).normal.unacknowledged === 0);
});

test('a namespace keeps streams apart', options, async (t) => {
  const { server, open, worker, runs } = await setUp(t);
  const other = open({ broker: patient({ servers: server.url, namespace: 'other' }) });
  await other.enqueue('theirs');
  const one = await worker();
  assert.equal(await open().run('ours'), 'ours');
  assert.deepEqual(
    runs().map(({ what }) => what),
    ['ours'],
  );
  assert.equal((await one.lag()).normal.pending, 0);
});
