// stats: one picture of everything that was counted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { turn } from './helper.js';

test('a fresh emitter has counted nothing', () => {
  const zero = { overloaded: 0, closed: 0, cancelled: 0, retention: 0 };
  const none = { batches: 0, sumMs: 0 };
  assert.deepEqual(new BatchEmitter().stats(), {
    queued: 0,
    bytes: 0,
    fill: 0,
    depth: { high: 0, normal: 0, low: 0 },
    pushed: 0,
    delivered: 0,
    batches: 0,
    batched: 0,
    trigger: { size: 0, threshold: 0, delay: 0, turn: 0, priority: 0, flush: 0, close: 0 },
    cancelled: 0,
    superseded: 0,
    errors: 0,
    unhandled: 0,
    refused: zero,
    worstWait: { high: 0, normal: 0, low: 0 },
    waits: { high: none, normal: none, low: none },
    holds: 0,
    holdMs: 0,
    policy: {
      ...{ rate: 0, total: 0, batchCost: 0, eventCost: 0, holdCost: 0.05, utilization: 0 },
      ...{ hold: 0, limit: null, saving: null, why: 'no delay allowed' },
    },
    retained: { count: 0, bytes: 0, fill: 0, held: 0, replayed: 0, expired: 0, refused: 0 },
  });
});

test('every event that was pushed is queued, delivered, unhandled, cancelled, held or refused', async () => {
  const e = new BatchEmitter({ onLost: () => {} });
  e.configure('kept', { retain: { max: 2 } });
  e.on('x', (n) => {
    if (n === 0) throw new Error('bad');
  });
  e.on('error', () => {});
  for (let i = 0; i < 5; i++) {
    e.emit('x', i);
    e.emit('nobody');
    e.emit('kept');
  }
  e.push('x', [9]).cancel();
  await turn();
  e.emit('x', 10);
  const { pushed, queued, delivered, unhandled, cancelled, errors, refused, retained } = e.stats();
  assert.deepEqual(
    { pushed, queued, delivered, unhandled, cancelled, errors },
    { pushed: 17, queued: 1, delivered: 5, unhandled: 5, cancelled: 1, errors: 1 },
  );
  assert.equal(retained.held, 2);
  assert.equal(refused.retention, 3);
  assert.equal(
    pushed,
    queued + delivered + unhandled + cancelled + retained.held + refused.retention,
  );
});

test('a snapshot does not change, and changing it changes nothing', async () => {
  const e = new BatchEmitter();
  const before = e.stats();
  before.trigger.turn = 99;
  before.refused.closed = 99;
  before.depth.high = 99;
  e.emit('x');
  await turn();
  assert.equal(before.pushed, 0);
  const { trigger, refused, depth } = e.stats();
  assert.deepEqual([trigger.turn, refused.closed, depth.high], [1, 0, 0]);
});

test('the worst wait of a class is that of its events', async () => {
  const e = new BatchEmitter({ policy: 'fixed', maxDelay: 5 });
  e.push('x', [], { priority: 'low' });
  while (e.stats().depth.low > 0) await turn();
  const { high, normal, low } = e.stats().worstWait;
  assert.ok(low > 0);
  assert.deepEqual([high, normal], [0, 0]);
});

test('direct counts events as the other policies do', () => {
  const e = new BatchEmitter({ policy: 'direct' });
  e.on('x', () => {});
  e.on('bad', () => {
    throw new Error('bad');
  });
  e.on('newListener', () => {});
  e.on('error', () => {});
  e.emit('x');
  e.emit('x', 1, 2);
  e.emit('nobody');
  assert.throws(() => e.emit('bad'));
  e.emit('error', new Error('bad'));
  const { pushed, delivered, unhandled } = e.stats();
  assert.deepEqual({ pushed, delivered, unhandled }, { pushed: 4, delivered: 3, unhandled: 1 });
});
