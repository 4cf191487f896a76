import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { unable } from '../../broker/nats.js';
import { eventually, openPool, repeat, setUp } from './support.js';

const options = { skip: unable, timeout: 60_000 };

test(
  'a call gets what a function on a worker returns, by its name or the usual one',
  options,
  async (t) => {
    const { pool, worker, runs } = await setUp(t);
    await worker();
    const calls = pool();
    assert.equal(await calls.run(21, { name: 'double' }), 42);
    const value = {
      text: 'ü',
      date: new Date(5),
      bytes: new Uint8Array([1, 2]),
      map: new Map([[1, 2n]]),
    };
    assert.deepEqual(await calls.run({ ...value, self: undefined }), { ...value, self: undefined });
    assert.equal(runs().length, 1);
    const { completed, failed, durable } = calls.stats();
    assert.deepEqual(
      { completed, failed, stored: durable.stored },
      { completed: 2, failed: 0, stored: 2 },
    );
    assert.equal(calls.completed, 2);
  },
);

test('a function is told the id of its task and how often it was delivered', options, async (t) => {
  const { pool, worker } = await setUp(t);
  await worker();
  const calls = pool();
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
    const { pool, worker } = await setUp(t);
    const server = await worker();
    const calls = pool();
    await Promise.all(repeat(100, (n) => calls.run(n, { name: 'double' })));
    await eventually(() => calls.meanMs('double') !== null);
    const before = calls.stats().durable.stored;
    const results = await Promise.all(repeat(1000, (n) => calls.run(n, { name: 'double' })));
    assert.deepEqual(
      results,
      repeat(1000, (n) => 2 * n),
    );
    const messages = calls.stats().durable.stored - before;
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
    const { pool, worker, runs } = await setUp(t);
    const calls = pool();
    const { id, duplicate } = await calls.enqueue(7);
    assert.equal(typeof id, 'string');
    assert.equal(duplicate, false);
    const server = await worker();
    await eventually(() => server.stats().done === 1);
    assert.deepEqual(runs(), [{ what: 7, id, delivery: 1 }]);
  },
);

test('of tasks of one id one runs: calls share its result, others are told', options, async (t) => {
  const { pool, worker, runs } = await setUp(t);
  const [calls, others] = [pool(), pool()];
  const both = [calls.run(1, { id: 'one' }), calls.run(1, { id: 'one' })];
  assert.deepEqual(await calls.enqueue(2, { id: 'two' }), { id: 'two', duplicate: false });
  assert.deepEqual(await others.enqueue(2, { id: 'two' }), { id: 'two', duplicate: true });
  const server = await worker();
  assert.deepEqual(await Promise.all(both), [1, 1]);
  for (const pool of [calls, others]) {
    await assert.rejects(pool.run(1, { id: 'one' }), { code: 'MILLRACE_E_DUPLICATE' });
  }
  await eventually(() => server.stats().done === 2);
  assert.equal(runs().length, 2);
});

test(
  'a task that is aborted before it is begun never runs; one that runs is told',
  options,
  async (t) => {
    const { pool, worker, runs, folder } = await setUp(t);
    const calls = pool();
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
  const { pool, worker, runs } = await setUp(t);
  await worker({ attempts: 2 });
  const late = pool().run(60_000, { name: 'pause', timeout: 30 });
  await assert.rejects(late, { code: 'MILLRACE_E_TIMEOUT', deliveries: 2 });
  assert.equal(runs().length, 2);
});

test('high goes first, and low is not forgotten', options, async (t) => {
  const { pool, worker, runs } = await setUp(t);
  const calls = pool();
  for (const priority of ['low', 'normal', 'high']) {
    await Promise.all(repeat(20, (n) => calls.enqueue(`${priority} ${n}`, { priority })));
  }
  const server = await worker({ maxThreads: 1, batch: 20, maxBatch: 1 });
  await eventually(() => server.stats().done === 60);
  const order = runs().map(({ what }) => what.split(' ')[0]);
  const mean = (name) => order.reduce((sum, each, at) => sum + (each === name ? at : 0), 0) / 20;
  assert.ok(mean('high') < mean('low'), order.join());
  assert.equal(new Set(runs().map(({ what }) => what)).size, 60);
});

test('what does not fit into a message is refused, and so is a result', options, async (t) => {
  const { pool, worker } = await setUp(t, { config: 'max_payload: 65536' });
  const server = await worker();
  const calls = pool();
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
});

test('options that mean nothing with a broker are refused with the reason', options, async (t) => {
  const broker = 'nats://127.0.0.1:1';
  const wrong = [
    [{ filename: '/tasks.js' }, /'filename' means nothing with 'broker'/],
    [{ minThreads: 1 }, /'minThreads' means nothing/],
    [{ taskQueue: {} }, /'taskQueue' means nothing/],
    [{ stream: undefined }, /option 'stream' is undefined/],
    [{ stream: 'a.b' }, /option 'stream' is "a.b"/],
    [{ stream: 'x_dead' }, /without _dead/],
    [{ stream: { name: 'a', maxBytes: 1 } }, /option 'stream.maxBytes' is 1/],
    [{ stream: { name: 'a', size: 1 } }, /unknown option 'size'/],
    [{ storeTimeout: 200_000 }, /at most the duplicateWindow/],
    [{ attempts: 0 }, /option 'attempts' is 0/],
  ];
  for (const [more, message] of wrong) {
    assert.throws(() => openPool(t, { broker, stream: 's', ...more }), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message,
    });
  }
  for (const more of [{ stream: 's' }, { attempts: 1 }, { storeTimeout: 1 }]) {
    assert.throws(() => openPool(t, more), { message: /needs the option 'broker'/ });
  }
  const calls = openPool(t, { broker, stream: 's' });
  for (const [more, message] of [
    [{ filename: '/x.js' }, /'filename' means nothing/],
    [{ transferList: [] }, /'transferList' means nothing/],
    [{ retry: 1 }, /'retry' means nothing/],
    [{ id: '' }, /option 'id'/],
    [{ id: 'x'.repeat(201) }, /option 'id'/],
    [{ nam: 'x' }, /unknown option 'nam'/],
  ]) {
    await assert.rejects(calls.run(1, more), { message });
  }
  await assert.rejects(openPool(t, {}).enqueue(1), {
    message: /enqueue\(\) needs the option 'broker'/,
  });
  assert.throws(() => calls.register('a', '/b.js'), { message: /register\(\) means nothing/ });
});

test('close() waits for results, and refuses what comes later', options, async (t) => {
  const { pool, worker } = await setUp(t);
  const calls = pool();
  const before = calls.run(3);
  const closing = calls.close();
  await assert.rejects(calls.run(4), { code: 'MILLRACE_E_CLOSED' });
  await assert.rejects(calls.enqueue(4), { code: 'MILLRACE_E_CLOSED' });
  await worker();
  assert.equal(await before, 3);
  await closing;
  const gone = pool();
  const open = gone.run(5);
  await gone.destroy();
  await assert.rejects(open, { code: 'MILLRACE_E_CLOSED' });
});
