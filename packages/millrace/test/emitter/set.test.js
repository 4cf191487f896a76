// set: options change while events are on their way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { stillClock } from '../../../base/test/clocks.js';
import { recorder, turn } from './helper.js';

test('set returns the emitter, and other options stay', async () => {
  const sizes = [];
  const e = new BatchEmitter({ maxQueue: 5 });
  e.onBatch('x', (items) => sizes.push(items.length));
  assert.equal(e.set({ maxBatch: 2 }), e);
  for (let i = 0; i < 5; i++) e.emit('x', i);
  assert.throws(() => e.emit('x'), { code: 'MILLRACE_E_OVERLOADED' });
  await turn();
  assert.deepEqual(sizes, [2, 2, 1]);
});

test('a new policy flushes what is queued first', () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('x'));
  e.emit('x', 1);
  e.set({ policy: 'direct' });
  assert.deepEqual(log, [['x', 1]]);
  e.emit('x', 2);
  assert.deepEqual(log.at(-1), ['x', 2]);
  e.set({ policy: 'adaptive' });
  e.emit('x', 3);
  assert.deepEqual(log.at(-1), ['x', 2]);
  e.flush();
  assert.deepEqual(log.at(-1), ['x', 3]);
});

test('a new order flushes what is queued in the old one', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('a', on('a')).on('b', on('b'));
  for (const name of ['a', 'b', 'a']) e.emit(name);
  e.set({ order: 'type' });
  for (const name of ['a', 'b', 'a']) e.emit(name);
  await turn();
  assert.equal(log.flat().join(''), 'aba' + 'aab');
});

test('the same policy again flushes nothing', () => {
  const e = new BatchEmitter();
  e.emit('x');
  e.set({ policy: 'adaptive', order: 'arrival' });
  assert.equal(e.queued(), 1);
});

test('fixed brings its own default delay, and takes it along', async (t) => {
  stillClock(t);
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('x'));
  e.set({ policy: 'fixed' });
  e.emit('x', 1);
  await turn();
  assert.deepEqual(log, [], 'held');
  e.set({ policy: 'adaptive' });
  assert.deepEqual(log, [['x', 1]]);
  e.emit('x', 2);
  await turn();
  assert.equal(log.length, 2);
});

test('a switch in a handler takes effect after the batch, and then for good', async () => {
  const { log } = recorder();
  const e = new BatchEmitter();
  e.on('x', (n) => {
    if (n === 1) e.set({ policy: 'direct' });
    log.push(n);
  });
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(log, [1, 2]);
  assert.equal(e.emit('x', 3), true);
  assert.deepEqual(log, [1, 2, 3]);
  assert.equal(e.emit('nobody listens'), false, 'as the platform answers');
});

test('a switch away from direct in a handler takes effect after the event, and then for good', async () => {
  const { log } = recorder();
  const e = new BatchEmitter({ policy: 'direct' });
  e.onBatch('x', (items) => {
    log.push(...items);
    e.set({ policy: 'adaptive' });
  });
  e.emit('x', 1);
  assert.deepEqual(log, [1]);
  e.emit('x', 2);
  e.emit('y');
  assert.equal(e.queued(), 2);
  await turn();
  assert.deepEqual(log, [1, 2]);
});

test('the handlers of a switch to direct keep the order of what they emit', () => {
  const { log } = recorder();
  const e = new BatchEmitter({ maxBatch: 1 });
  e.on('x', (n) => {
    log.push(n);
    if (n === 1) e.emit('x', 4);
  });
  for (const n of [1, 2, 3]) e.emit('x', n);
  e.set({ policy: 'direct' });
  assert.deepEqual(log, [1, 2, 3, 4]);
});

test('policies can be switched back and forth without a loss', async () => {
  const got = [];
  const e = new BatchEmitter({ maxBatch: 3 });
  e.on('x', (n) => got.push(n));
  const policies = ['adaptive', 'fixed', 'direct', 'adaptive', 'direct', 'fixed'];
  for (let i = 0; i < 60; i++) {
    e.emit('x', i);
    if (i % 5 === 0) e.set({ policy: policies[(i / 5) % policies.length] });
    if (i % 7 === 0) e.set({ order: i % 2 ? 'type' : 'arrival' });
  }
  e.close();
  assert.deepEqual(
    got,
    Array.from({ length: 60 }, (_, i) => i),
  );
});
