// Handlers that emit, flush and change listeners.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { recorder, turn, until } from './helper.js';

test('events that handlers emit leave in a later batch of the same turn, HIGH first', async () => {
  const { log } = recorder();
  const e = new BatchEmitter({ maxDeferral: 3_600_000 });
  e.on('x', (n) => {
    log.push(n);
    if (n === 1) {
      e.emit('x', 3);
      e.push('x', [4], { priority: 'high' });
    }
  });
  e.emit('x', 1);
  e.emit('x', 2);
  await new Promise(setImmediate);
  assert.deepEqual(log, [1, 2, 4, 3]);
  assert.equal(e.stats().batches, 2);
});

test('eight batches leave in a turn, the ninth in the next', async () => {
  const log = [];
  const e = new BatchEmitter();
  e.on('x', (n) => {
    log.push(n);
    if (n < 20) e.emit('x', n + 1);
  });
  e.emit('x', 1);
  await new Promise(setImmediate);
  assert.equal(log.length, 8);
  await new Promise(setImmediate);
  assert.equal(log.length, 16);
  await new Promise(setImmediate);
  assert.equal(log.length, 20);
});

test('an endless chain of events keeps no timer and no immediate from running', async (t) => {
  const e = new BatchEmitter();
  let count = 0;
  let stop = false;
  // Else a test that fails would never end.
  t.after(() => {
    stop = true;
  });
  e.on('x', () => {
    count++;
    if (!stop) e.emit('x');
  });
  e.emit('x');
  await new Promise((resolve) => setTimeout(resolve, 5));
  await until(() => count > 8);
  const before = count;
  await turn();
  await turn();
  assert.ok(count > before, 'the chain goes on');
  stop = true;
  await until(() => e.queued() === 0);
});

test('listeners are looked up for each event of a batch', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  const second = on('second');
  e.on('x', (n) => {
    if (n === 1) e.on('x', second);
    if (n === 3) e.off('x', second);
    log.push(n);
  });
  for (const n of [1, 2, 3, 4]) e.emit('x', n);
  await turn();
  assert.deepEqual(log, [1, 2, ['second', 2], 3, ['second', 3], 4]);
});

test('a once listener is used up by the first event of the batch', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.once('x', on('once'));
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(log, [['once', 1]]);
  assert.equal(e.stats().unhandled, 1);
});

test('removeAllListeners in a batch leaves the rest of it unhandled', async () => {
  const { log } = recorder();
  const e = new BatchEmitter();
  e.on('x', (n) => {
    log.push(n);
    e.removeAllListeners();
  });
  for (const n of [1, 2, 3]) e.emit('x', n);
  await turn();
  assert.deepEqual(log, [1]);
  assert.equal(e.stats().unhandled, 2);
});

test('an emitter may feed another one, and that one the first', async () => {
  const log = [];
  const [a, b] = [new BatchEmitter(), new BatchEmitter()];
  a.on('ping', (n) => {
    log.push(`ping ${n}`);
    b.emit('pong', n);
  });
  b.on('pong', (n) => {
    log.push(`pong ${n}`);
    if (n < 3) a.emit('ping', n + 1);
  });
  a.emit('ping', 1);
  await until(() => log.length === 6);
  assert.deepEqual(log, ['ping 1', 'pong 1', 'ping 2', 'pong 2', 'ping 3', 'pong 3']);
});
