// flush: everything that is queued, now.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { recorder, turn } from './helper.js';

test('flush delivers inside the call', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('x'));
  e.emit('x', 1);
  e.emit('x', 2);
  assert.equal(e.flush(), undefined);
  assert.deepEqual(log, [
    ['x', 1],
    ['x', 2],
  ]);
  assert.equal(e.stats().trigger.flush, 1);
  await turn();
  assert.equal(log.length, 2);
});

test('flush with nothing queued does nothing', () => {
  const e = new BatchEmitter();
  e.flush();
  assert.equal(e.stats().batches, 0);
});

test('flush keeps maxBatch and the classes', () => {
  const batches = [];
  const e = new BatchEmitter({ maxBatch: 2, maxDeferral: 3_600_000 });
  e.onBatch('x', (items) => batches.push(items));
  e.push('x', [1]);
  e.push('x', [2]);
  e.push('x', [3], { priority: 'high' });
  e.flush();
  assert.deepEqual(batches, [[3, 1], [2]]);
});

test('in a handler flush waits for the end of the batch, and takes what was queued by then', async () => {
  const { log } = recorder();
  const e = new BatchEmitter({ policy: 'fixed', maxDelay: 60_000 });
  e.on('x', (n) => {
    if (n === 1) {
      e.emit('x', 3);
      e.flush();
      log.push('flushed');
      e.emit('x', 4);
    }
    log.push(n);
  });
  e.emit('x', 1);
  e.emit('x', 2);
  e.flush();
  assert.deepEqual(log, ['flushed', 1, 2, 3]);
  assert.equal(e.queued(), 1);
  e.close();
  assert.deepEqual(log, ['flushed', 1, 2, 3, 4]);
});

test('flush replays what is due to a late listener first', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ retain: true });
  e.emit('x', 1);
  await turn();
  e.emit('y', 2);
  e.on('y', on('y')).on('x', on('x'));
  e.flush();
  assert.deepEqual(log, [
    ['x', 1],
    ['y', 2],
  ]);
});
