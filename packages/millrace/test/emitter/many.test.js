// Many emitters, many types, many events.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { child, turn, until } from './helper.js';

test('thousands of emitters deliver in the order in which they got something to deliver', async () => {
  const order = [];
  const emitters = Array.from({ length: 2000 }, (_, i) => {
    const e = new BatchEmitter();
    e.on('x', () => order.push(i));
    return e;
  });
  for (const e of emitters.toReversed()) e.emit('x');
  await turn();
  assert.deepEqual(
    order,
    emitters.map((_, i) => 1999 - i),
  );
});

test('a burst of many batches is delivered whole and in order', async () => {
  const e = new BatchEmitter({ maxBatch: 100 });
  let next = 0;
  e.on('x', (n) => {
    assert.equal(n, next);
    next++;
  });
  e.on('error', (error) => assert.fail(error));
  for (let i = 0; i < 50_000; i++) e.emit('x', i);
  await until(() => next === 50_000);
  assert.equal(e.stats().batches, 500);
});

test('thousands of types, each with its own listener, keep the order of arrival', async () => {
  const e = new BatchEmitter();
  e.setMaxListeners(0);
  const got = [];
  for (let i = 0; i < 5000; i++) e.on(`type ${i}`, (n) => got.push(n));
  for (let i = 0; i < 10_000; i++) e.emit(`type ${(i * 7) % 5000}`, i);
  await until(() => e.queued() === 0);
  assert.deepEqual(
    got,
    Array.from({ length: 10_000 }, (_, i) => i),
  );
});

const growth = (order) => `
  import { BatchEmitter } from 'millrace';
  const e = new BatchEmitter({ order: '${order}' });
  const turn = () => new Promise(setImmediate);
  let name = 0;
  async function burst(rounds) {
    for (let i = 0; i < rounds; i++) {
      for (let j = 0; j < 1000; j++) e.emit('made up ' + name++, j);
      await turn();
    }
    await turn();
    gc();
    return process.memoryUsage().heapUsed;
  }
  const before = await burst(20);
  const after = await burst(100);
  console.log(e.queued(), after - before < 5_000_000 ? 'flat' : after - before);
`;

for (const order of ['arrival', 'type']) {
  test(`names made up as the application runs do not add up in memory, order '${order}'`, async () => {
    const { lines } = await child(growth(order), ['--expose-gc']);
    assert.deepEqual(lines, ['0 flat']);
  });
}

test('a type with settings is not forgotten among thousands of others', async () => {
  const e = new BatchEmitter();
  e.configure('urgent', { priority: 'high' });
  for (let i = 0; i < 20; i++) {
    for (let j = 0; j < 1000; j++) e.emit(`made up ${i} ${j}`);
    await turn();
  }
  assert.equal(e.push('urgent', []).priority, 'high');
  e.close();
});
