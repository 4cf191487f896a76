// close: everything accepted is delivered or reported as discarded; later events are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter, MillraceError } from 'millrace';
import { recorder, turn } from './helper.js';

test('close delivers what is queued, inside the call, and refuses what comes later', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('x'));
  e.emit('x', 1);
  assert.equal(e.close(), undefined);
  assert.deepEqual(log, [['x', 1]]);
  for (const late of [() => e.emit('x', 2), () => e.push('x', [3])]) {
    assert.throws(
      late,
      (error) => error instanceof MillraceError && error.code === 'MILLRACE_E_CLOSED',
    );
  }
  await turn();
  assert.equal(log.length, 1);
  assert.equal(e.stats().refused.closed, 2);
  assert.equal(e.stats().trigger.close, 1);
});

test('close again, flush and set after it do nothing', () => {
  const e = new BatchEmitter();
  e.emit('x');
  e.close();
  const before = e.stats();
  e.close();
  e.close({ discard: true });
  e.flush();
  e.set({ policy: 'direct', maxBatch: 1 });
  assert.deepEqual(e.stats(), before);
  assert.throws(() => e.emit('x'), { code: 'MILLRACE_E_CLOSED' });
});

test('listeners stay registered, and error, newListener and removeListener still work', () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('error', on('error'));
  e.close();
  e.on('newListener', on('new'));
  e.on('x', () => {});
  assert.equal(e.emit('error', 'bad'), true);
  assert.equal(log.length, 2);
  assert.equal(e.listenerCount('x'), 1);
});

test('in a handler the batch goes on, what is queued follows, and pushes are refused from that moment', async () => {
  const { log } = recorder();
  const e = new BatchEmitter();
  e.on('x', (n) => {
    if (n === 1) {
      e.emit('x', 3);
      e.close();
      assert.throws(() => e.emit('x', 4), { code: 'MILLRACE_E_CLOSED' });
    }
    log.push(n);
  });
  e.on('error', (error) => log.push(error));
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(log, [1, 2, 3]);
});

test('in a handler, discard ends what is queued and not the batch', async () => {
  const { log } = recorder();
  const e = new BatchEmitter({ onLost: (error, type, args) => log.push([error.code, ...args]) });
  e.on('x', (n) => {
    if (n === 1) {
      e.emit('x', 3);
      e.close({ discard: true });
    }
    log.push(n);
  });
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(log, [1, 2, ['MILLRACE_E_CANCELLED', 3]]);
});

test('discard does not run a handler', () => {
  const e = new BatchEmitter({ onLost: () => {} });
  e.on('x', () => assert.fail('not this one'));
  e.onBatch('x', () => assert.fail('nor this one'));
  e.emit('x', 1);
  e.close({ discard: true });
  assert.equal(e.queued(), 0);
  assert.equal(e.stats().refused.cancelled, 1);
});

test('close ends a hold', () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ policy: 'fixed', maxDelay: 60_000 });
  e.on('x', on('x'));
  e.emit('x', 1);
  e.close();
  assert.deepEqual(log, [['x', 1]]);
});

test('under direct close refuses later events', () => {
  const e = new BatchEmitter({ policy: 'direct' });
  e.on('x', () => e.close());
  assert.equal(e.emit('x'), true);
  assert.throws(() => e.emit('x'), { code: 'MILLRACE_E_CLOSED' });
  assert.throws(() => e.emit('nobody'), { code: 'MILLRACE_E_CLOSED' });
});

test('a handler that fails while close delivers is reported, and the rest is delivered', () => {
  const { log } = recorder();
  const e = new BatchEmitter();
  e.on('error', (error) => log.push(error.message));
  e.on('x', (n) => {
    if (n === 1) throw new Error('bad');
    log.push(n);
  });
  e.emit('x', 1);
  e.emit('x', 2);
  e.close();
  assert.deepEqual(log, ['bad', 2]);
});
