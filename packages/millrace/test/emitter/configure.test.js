// Options of one type.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { recorder, turn } from './helper.js';

test('configure returns the emitter, and keeps what is not given', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ maxDeferral: 3_600_000 });
  assert.equal(e.configure('x', { priority: 'low', maxBatch: 1 }), e);
  e.configure('x', { retain: true });
  e.configure('x', {});
  e.on('y', on('y')).onBatch('x', (items) => log.push(['x', items]));
  e.emit('x', 1);
  e.emit('x', 2);
  e.emit('y');
  await turn();
  // Still LOW, behind y, and still one in a batch.
  assert.deepEqual(log, [['y'], ['x', [1]], ['x', [2]]]);
  assert.equal(e.stats().batches, 2);
});

test('a new priority applies to later events', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ maxDeferral: 3_600_000 });
  e.on('a', on('a')).on('b', on('b'));
  e.emit('a', 1);
  e.configure('b', { priority: 'high' });
  e.emit('b', 2);
  e.configure('b', { priority: 'low' });
  e.emit('b', 3);
  e.emit('a', 4);
  await turn();
  assert.deepEqual(
    log.map(([, n]) => n),
    [2, 1, 4, 3],
  );
});

test('a limit of a type can be lifted with Infinity', async () => {
  const sizes = [];
  const e = new BatchEmitter();
  e.onBatch('x', (items) => sizes.push(items.length));
  e.configure('x', { maxBatch: 1 });
  e.configure('x', { maxBatch: Number.POSITIVE_INFINITY });
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(sizes, [2]);
});

test('retention of a type follows the emitter’s, changed by what is given', async () => {
  const lost = [];
  const e = new BatchEmitter({ retain: { max: 2 }, onLost: (_error, type) => lost.push(type) });
  e.configure('x', { retain: { replay: 'each' } }).configure('y', { retain: false });
  for (const type of ['x', 'x', 'x', 'y', 'z']) e.emit(type);
  await turn();
  assert.deepEqual(lost, ['x']);
  assert.equal(e.stats().unhandled, 1);
  assert.equal(e.stats().retained.count, 3);
});

test('symbols can be configured', async () => {
  const { log, on } = recorder();
  const urgent = Symbol('urgent');
  const e = new BatchEmitter({ maxDeferral: 3_600_000 });
  e.configure(urgent, { priority: 'high' }).on(urgent, on('urgent')).on('x', on('x'));
  e.emit('x');
  e.emit(urgent);
  await turn();
  assert.deepEqual(log, [['urgent'], ['x']]);
});
