import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { TaskWorker } from '@millrace/nats/tasks';
import { move, Pool } from '@millrace/pool';
import { stillWorkers } from '../../../pool/test/support.js';
import { unable } from '../nats.js';
import { longMs } from '../patience.js';
import { eventually, functions, openClient, repeat, setUp } from './support.js';

const options = { skip: unable, timeout: 300_000 };

test(
  'a call gets what a function on a worker returns, by its name or the usual one',
  options,
  async (t) => {
    const { open, worker, runs } = await setUp(t);
    await worker();
    const calls = open();
    assert.equal(await calls.run(21, { name: 'double' }), 42);
    const value = {
      text: 'ü',
      date: new Date(5),
      bytes: new Uint8Array([1, 2]),
      map: new Map([[1, 2n]]),
    };
    assert.deepEqual(await calls.run({ ...value, self: undefined }), { ...value, self: undefined });
    assert.equal(runs().length, 1);
    const { completed, failed, stored } = calls.stats();
    assert.deepEqual({ completed, failed, stored }, { completed: 2, failed: 0, stored: 2 });
  },
);

test('a function gets the id of its task and the number of deliveries', options, async (t) => {
  const { open, worker } = await setUp(t);
  await worker();
  const calls = open();
  assert.deepEqual(await calls.run(1, { name: 'about', id: 'a b.*>\u{1F600}' }), {
    ...{ task: 1, id: 'a b.*>\u{1F600}', delivery: 1, attempt: 0 },
  });
  assert.notEqual(
    (await calls.run(1, { name: 'about' })).id,
    (await calls.run(1, { name: 'about' })).id,
  );
});

test(
  'calls of a turn whose functions are short share messages, results too',
  options,
  async (t) => {
    const { open, worker } = await setUp(t);
    // By its clock no function takes any time, however often the system interrupts it.
    const server = await worker(stillWorkers);
    const calls = open();
    await Promise.all(repeat(100, (n) => calls.run(n, { name: 'double' })));
    await eventually(() => calls.meanMs('double') !== null);
    const before = calls.stats().stored;
    const results = await Promise.all(repeat(1000, (n) => calls.run(n, { name: 'double' })));
    assert.deepEqual(
      results,
      repeat(1000, (n) => 2 * n),
    );
    const messages = calls.stats().stored - before;
    assert.ok(messages <= 500, `${messages} messages for 1000 tasks`);
    await eventually(() => server.stats().results.pending === 0);
    assert.equal(server.stats().results.confirmed, 1100);
    await eventually(async () => (await server.lag()).normal.unacknowledged === 0);
  },
);

test(
  'enqueue() resolves when the task is stored, without a worker, and it runs when one comes',
  options,
  async (t) => {
    const { open, worker, runs } = await setUp(t);
    const calls = open();
    const { id, duplicate } = await calls.enqueue(7);
    assert.equal(typeof id, 'string');
    assert.equal(duplicate, false);
    const server = await worker();
    await eventually(() => server.stats().done === 1);
    assert.deepEqual(runs(), [{ what: 7, id, delivery: 1 }]);
  },
);

test(
  'of tasks of one id one runs: calls share its result, others are rejected',
  options,
  async (t) => {
    const { open, worker, runs } = await setUp(t);
    const [calls, others] = [open(), open()];
    const both = [calls.run(1, { id: 'one' }), calls.run(1, { id: 'one' })];
    assert.deepEqual(await calls.enqueue(2, { id: 'two' }), { id: 'two', duplicate: false });
    assert.deepEqual(await others.enqueue(2, { id: 'two' }), { id: 'two', duplicate: true });
    const server = await worker();
    assert.deepEqual(await Promise.all(both), [1, 1]);
    for (const client of [calls, others]) {
      await assert.rejects(client.run(1, { id: 'one' }), { code: 'MILLRACE_E_DUPLICATE' });
    }
    await eventually(() => server.stats().done === 2);
    assert.equal(runs().length, 2);
  },
);

test(
  'a task that is aborted before it begins never runs; a running one is notified',
  options,
  async (t) => {
    const { open, worker, runs, folder } = await setUp(t);
    const calls = open();
    const file = join(folder, 'go');
    const server = await worker({ maxThreads: 1, batch: 10 });
    const running = new AbortController();
    const runs1 = calls.run(file, { name: 'until', signal: running.signal });
    await eventually(() => runs().length === 1);
    const waiting = new AbortController();
    const waits = calls.run('never', { signal: waiting.signal });
    await eventually(() => server.stats().tasks === 2);
    waiting.abort('changed my mind');
    await assert.rejects(waits, {
      name: 'AbortError',
      code: 'MILLRACE_E_ABORTED',
      cause: 'changed my mind',
    });
    await assert.rejects(calls.run(1, { signal: AbortSignal.abort() }), { name: 'AbortError' });
    running.abort();
    await assert.rejects(runs1, { name: 'AbortError' });
    await eventually(() => server.stats().cancelled === 2);
    writeFileSync(file, '');
    assert.equal(await calls.run('last'), 'last');
    assert.deepEqual(
      runs().map(({ what }) => what),
      [file, 'last'],
    );
    await eventually(async () => (await server.lag()).normal.unacknowledged === 0);
  },
);

test('a timeout counts from when the task runs, and is a failure', options, async (t) => {
  const { open, worker, runs } = await setUp(t);
  await worker({ attempts: 2 });
  const late = open().run(60_000, { name: 'pause', timeout: 30 });
  await assert.rejects(late, { code: 'MILLRACE_E_TIMEOUT', deliveries: 2 });
  // The time may be over before one has written that it runs.
  assert.ok(runs().length <= 2);
});

test('high goes first, and low is not forgotten', options, async (t) => {
  const { open, worker, runs, folder } = await setUp(t);
  const calls = open();
  const server = await worker({ maxThreads: 1, batch: 40, maxBatch: 1 });
  const file = join(folder, 'go');
  const held = calls.run(file, { name: 'until' });
  await eventually(() => runs().length === 1);
  for (const priority of ['low', 'normal', 'high']) {
    await Promise.all(repeat(20, (n) => calls.enqueue(`${priority} ${n}`, { priority })));
  }
  // All of them are with the worker, whichever came first.
  await eventually(() => server.stats().tasks === 61);
  writeFileSync(file, '');
  await held;
  await eventually(() => server.stats().done === 61);
  const ran = runs().flatMap(({ what }) => (what === file ? [] : [what]));
  const order = ran.map((what) => what.split(' ')[0]);
  const mean = (name) => order.reduce((sum, each, at) => sum + (each === name ? at : 0), 0) / 20;
  assert.ok(mean('high') < mean('low'), order.join());
  assert.equal(new Set(ran).size, 60);
});

test(
  'a task that does not fit into a message is refused, and so is a result',
  options,
  async (t) => {
    const { open, worker } = await setUp(t, { config: 'max_payload: 65536' });
    const server = await worker();
    const calls = open();
    assert.equal(await calls.run(1, { name: 'double' }), 2);
    await assert.rejects(calls.run(Buffer.alloc(65_536)), {
      code: 'MILLRACE_E_TOO_LARGE',
      message: /the task has 6\d+ bytes/,
    });
    await assert.rejects(calls.run(65_536, { name: 'large' }), {
      code: 'MILLRACE_E_TOO_LARGE',
      message: /the result has/,
    });
    await assert.rejects(calls.run(1, { name: 'symbol' }), { code: 'MILLRACE_E_BAD_RESULT' });
    await assert.rejects(
      calls.run(() => {}),
      { code: 'MILLRACE_E_INVALID_ARGUMENT' },
    );
    assert.equal((await calls.run(60_000, { name: 'large' })).length, 60_000);
    await eventually(async () => (await server.lag()).normal.unacknowledged === 0);
    assert.equal((await server.lag()).dead, 0);
  },
);

test('unknown options and bad values are refused with the reason', options, async (t) => {
  const broker = 'nats://127.0.0.1:1';
  const wrong = [
    [{ broker: undefined }, /'broker' is undefined; it must be a URL/],
    [{ filename: '/tasks.js' }, /TaskClient: unknown option 'filename'/],
    [{ minThreads: 1 }, /unknown option 'minThreads'/],
    [{ taskQueue: {} }, /unknown option 'taskQueue'/],
    [{ stream: undefined }, /'stream' is undefined/],
    [{ stream: 'a.b' }, /'stream' is "a.b"/],
    [{ stream: 'x_dead' }, /without _dead/],
    [{ stream: { name: 'a', maxBytes: 1 } }, /'stream.maxBytes' is 1/],
    [{ stream: { name: 'a', size: 1 } }, /unknown option 'stream.size'/],
    [{ storeTimeout: 200_000 }, /at most the duplicateWindow/],
    [{ attempts: 0 }, /'attempts' is 0/],
  ];
  for (const [more, message] of wrong) {
    assert.throws(() => openClient(t, { broker, stream: 's', ...more }), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message,
    });
  }
  const filename = '/tasks.js';
  for (const [more, message] of [
    [{ retry: 1 }, /TaskWorker: 'retry' is 1; it must be left out: `attempts` says/],
    [{ pool: {} }, /'pool' is an object \(Object\); it must be a Pool/],
    [{ pool: { run() {} }, filename }, /'filename' is .*; it must be left out beside 'pool'/],
    [{ backoff: [] }, /'backoff' is an array of 0/],
  ]) {
    assert.throws(() => new TaskWorker({ broker, stream: 's', ...more }), { message });
  }
  const calls = openClient(t, { broker, stream: 's' });
  for (const [more, message] of [
    [{ filename: '/x.js' }, /TaskClient\.run\(\): unknown option 'filename'/],
    [{ transferList: [] }, /unknown option 'transferList'/],
    [{ retry: 1 }, /unknown option 'retry'/],
    [{ id: '' }, /'id' is "/],
    [{ id: 'x'.repeat(201) }, /'id' is "/],
    [{ nam: 'x' }, /unknown option 'nam'/],
  ]) {
    await assert.rejects(calls.run(1, more), { message });
  }
  await assert.rejects(calls.run(move(new Uint8Array(1))), { message: /marked by move\(\)/ });
});

test('close() waits for results, and refuses what comes later', options, async (t) => {
  const { open, worker } = await setUp(t);
  const calls = open();
  const before = calls.run(3);
  const closing = calls.close();
  await assert.rejects(calls.run(4), { code: 'MILLRACE_E_CLOSED' });
  await assert.rejects(calls.enqueue(4), { code: 'MILLRACE_E_CLOSED' });
  await worker();
  assert.equal(await before, 3);
  await closing;
  const gone = open();
  const unanswered = gone.run(5);
  await gone.destroy();
  await assert.rejects(unanswered, { code: 'MILLRACE_E_CLOSED' });
});

test(
  'close() rejects after closeTimeout, and so do the calls that are left',
  options,
  async (t) => {
    const { open } = await setUp(t);
    const calls = open({ closeTimeout: 50 });
    const left = assert.rejects(calls.run(1), { code: 'MILLRACE_E_CLOSED' });
    await assert.rejects(calls.close(), {
      code: 'MILLRACE_E_TIMEOUT',
      message: /closeTimeout of 50/,
    });
    await left;
  },
);

test('a worker runs tasks on a pool that it is given, and leaves it open', options, async (t) => {
  const { open, worker, folder } = await setUp(t);
  const pool = new Pool({
    filename: functions,
    maxThreads: 1,
    env: { RUNS: join(folder, 'runs') },
  });
  t.after(() => pool.destroy());
  const one = await worker({ pool, closeTimeout: longMs });
  const calls = open();
  assert.deepEqual(await calls.run('theirs', { name: 'about', id: 'a' }), {
    ...{ task: 'theirs', id: 'a', delivery: 1, attempt: 0 },
  });
  const running = calls.run(100, { name: 'pause' });
  await eventually(() => one.stats().tasks === 2);
  await one.close();
  await running;
  assert.equal(one.stats().returned, 0);
  assert.equal(await pool.run(2, { name: 'double' }), 4);
  const { id, delivery } = await pool.run('own', { name: 'about' });
  assert.deepEqual({ id, delivery }, { id: null, delivery: 1 });
});

test('a pool that is full or closed gives tasks back, and they do not fail', options, async (t) => {
  const { open, worker } = await setUp(t);
  const pool = new Pool({ filename: functions, maxThreads: 1, maxQueue: 0 });
  t.after(() => pool.destroy());
  const one = await worker({ pool, attempts: 1, backoff: 10 });
  const calls = open();
  const results = repeat(5, (n) => calls.run(n, { name: 'double' }));
  assert.deepEqual(await Promise.all(results), [0, 2, 4, 6, 8]);
  await pool.close();
  const last = calls.run(5, { name: 'double' });
  const { returned } = one.stats();
  await eventually(() => one.stats().returned > returned);
  await one.close();
  await worker();
  assert.equal(await last, 10);
  assert.equal(one.stats().failed, 0);
});
