// Isolation: what runs between two events of a batch.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { turn, until } from './helper.js';

async function trace(options) {
  const log = [];
  const e = new BatchEmitter(options);
  e.on('x', (n) => {
    log.push(`x${n}`);
    process.nextTick(() => log.push(`tick${n}`));
    queueMicrotask(() => log.push(`job${n}`));
    setImmediate(() => log.push(`immediate${n}`));
  });
  for (const n of [1, 2, 3]) e.emit('x', n);
  await until(() => log.length === 12);
  return log;
}

test("'batch': events run one after another, then ticks and promise jobs", async () => {
  assert.deepEqual((await trace({})).slice(0, 9), [
    'x1',
    'x2',
    'x3',
    'tick1',
    'tick2',
    'tick3',
    'job1',
    'job2',
    'job3',
  ]);
});

test("'event': ticks and promise jobs run after each event, as if it had come alone", async () => {
  const log = await trace({ isolation: 'event' });
  assert.deepEqual(
    log.filter((entry) => !entry.startsWith('immediate')),
    ['x1', 'tick1', 'job1', 'x2', 'tick2', 'job2', 'x3', 'tick3', 'job3'],
  );
});

test("'event': events that come meanwhile wait for the batch, and HIGH leads the next one", async () => {
  const log = [];
  const e = new BatchEmitter({ isolation: 'event', maxDeferral: 3_600_000 });
  e.on('x', (n) => log.push(n));
  e.on('signal', (n) => log.push(n));
  e.once('x', () => {
    e.emit('x', 4);
    queueMicrotask(() => e.emit('signal', 5));
  });
  for (const n of [1, 2, 3]) e.emit('x', n);
  await until(() => log.length === 5);
  assert.deepEqual(log, [1, 2, 3, 5, 4]);
});

test("'event': a listener that throws ends its event; the others are delivered", async () => {
  const log = [];
  const e = new BatchEmitter({ isolation: 'event' });
  e.on('error', (error) => log.push(error.message));
  e.on('x', (n) => {
    if (n !== 2) throw new Error(`failed ${n}`);
    log.push(n);
  });
  for (const n of [1, 2, 3]) e.emit('x', n);
  await until(() => log.length === 3);
  assert.deepEqual(log, ['failed 1', 2, 'failed 3']);
  await turn();
  assert.equal(e.stats().delivered, 3);
  assert.equal(e.stats().errors, 2);
});

test("'event': a listener removed by a promise job gets no later event of the batch", async () => {
  const log = [];
  const e = new BatchEmitter({ isolation: 'event' });
  const f = (n) => {
    log.push(n);
    queueMicrotask(() => e.off('x', f));
  };
  e.on('x', f);
  e.emit('x', 1);
  e.emit('x', 2);
  await until(() => e.stats().unhandled === 1);
  assert.deepEqual(log, [1]);
});

test("'event': what a late listener is due is replayed when it registers during a batch", async () => {
  const log = [];
  const e = new BatchEmitter({ isolation: 'event', retain: true });
  e.emit('late', 'kept');
  await turn();
  e.once('x', () => queueMicrotask(() => e.on('late', (value) => log.push(value))));
  e.on('x', () => {});
  for (const n of [1, 2, 3, 4, 5]) e.emit('x', n);
  for (let i = 0; i < 20; i++) await turn();
  assert.deepEqual(log, ['kept']);
});

test("'event': flush delivers the first event inside the call, and the rest in macrotasks", async () => {
  const log = [];
  const e = new BatchEmitter({ isolation: 'event' });
  e.on('x', (n) => log.push(n));
  for (const n of [1, 2, 3]) e.emit('x', n);
  e.flush();
  assert.deepEqual(log, [1]);
  await until(() => log.length === 3);
  assert.deepEqual(log, [1, 2, 3]);
});

test("'event': close in the middle of a batch delivers the rest of it and what is queued", async () => {
  const log = [];
  const e = new BatchEmitter({ isolation: 'event' });
  e.on('x', (n) => {
    log.push(n);
    if (n === 1) e.emit('x', 4);
    if (n === 2) e.close();
  });
  for (const n of [1, 2, 3]) e.emit('x', n);
  await until(() => log.length === 4);
  assert.deepEqual(log, [1, 2, 3, 4]);
  assert.throws(() => e.emit('x', 5), { code: 'MILLRACE_E_CLOSED' });
});

test("'event': a batch handler still gets its whole group", async () => {
  const groups = [];
  const e = new BatchEmitter({ isolation: 'event' });
  e.onBatch('x', (items) => groups.push(items));
  for (const n of [1, 2, 3]) e.emit('x', n);
  await until(() => e.stats().delivered === 3);
  assert.deepEqual(groups, [[1, 2, 3]]);
});

test("'event': a batch that follows another starts in a macrotask of its own", async () => {
  for (const maxBatch of [1, 2]) {
    const log = [];
    const e = new BatchEmitter({ isolation: 'event', maxBatch });
    e.on('x', (n) => {
      log.push(`x${n}`);
      queueMicrotask(() => log.push(`job${n}`));
    });
    for (const n of [1, 2, 3, 4, 5]) e.emit('x', n);
    await until(() => log.length === 10);
    assert.deepEqual(
      log,
      [1, 2, 3, 4, 5].flatMap((n) => [`x${n}`, `job${n}`]),
    );
  }
});
