// The bounds of the queue.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter, MillraceError } from 'millrace';
import { turn } from './helper.js';

const overloaded = (error) =>
  error instanceof MillraceError && error.code === 'MILLRACE_E_OVERLOADED';

test('beyond maxQueue emit throws and names the bound; nothing queued is lost', async () => {
  const got = [];
  const e = new BatchEmitter({ maxQueue: 3 });
  e.on('x', (n) => got.push(n));
  for (const n of [1, 2, 3]) e.emit('x', n);
  assert.throws(() => e.emit('x', 4), overloaded);
  assert.throws(() => e.push('x', [5], { priority: 'high' }), overloaded);
  assert.throws(() => e.emit('x', 6), /maxQueue is 3/);
  await turn();
  assert.deepEqual(got, [1, 2, 3]);
  assert.equal(e.emit('x', 7), true);
  await turn();
  const { pushed, delivered, refused } = e.stats();
  assert.deepEqual([pushed, delivered, refused.overloaded], [4, 4, 3]);
});

test('beyond maxQueueBytes emit throws and names the bound', async () => {
  const e = new BatchEmitter({ maxQueueBytes: 10, size: (_type, [text]) => text.length });
  e.emit('x', '123456');
  assert.throws(() => e.emit('x', '12345'), /maxQueueBytes is 10/);
  assert.equal(e.emit('x', '1234'), true);
  assert.equal(e.stats().bytes, 10);
  await turn();
  assert.equal(e.stats().bytes, 0);
});

test('an event that is too big alone never fits', () => {
  const e = new BatchEmitter({ maxQueueBytes: 10 });
  assert.throws(() => e.push('x', [], { bytes: 11 }), overloaded);
  assert.equal(e.queued(), 0);
});

test('cancelling makes room', () => {
  const e = new BatchEmitter({ maxQueue: 1 });
  const first = e.push('x', [1]);
  assert.throws(() => e.push('x', [2]), overloaded);
  first.cancel();
  assert.ok(e.push('x', [3]));
});

test('events in delivery take no room', async () => {
  const e = new BatchEmitter({ maxQueue: 2 });
  const got = [];
  e.on('x', (n) => {
    got.push(n);
    if (n < 3) e.emit('x', n + 2);
  });
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(got, [1, 2, 3, 4]);
});

test('an emit that is refused in a handler fails that event alone', async () => {
  const e = new BatchEmitter({ maxQueue: 1 });
  const failed = [];
  e.on('error', (error) => failed.push(error.code));
  e.on('x', () => {
    e.emit('y');
    e.emit('y');
  });
  e.emit('x');
  await turn();
  assert.deepEqual(failed, ['MILLRACE_E_OVERLOADED']);
  assert.equal(e.stats().unhandled, 1, 'the first y was taken');
});

test('direct has no queue, and no bound', () => {
  let count = 0;
  const e = new BatchEmitter({ policy: 'direct', maxQueue: 1 });
  e.on('x', (depth) => {
    count++;
    if (depth > 0) e.emit('x', depth - 1);
  });
  e.emit('x', 50);
  assert.equal(count, 51);
});

test('a size function that throws, or gives no size, refuses the event to the caller', async () => {
  const got = [];
  const e = new BatchEmitter({
    size: (_type, [value]) => {
      if (value === 'throw') throw new Error('cannot tell');
      return value;
    },
  });
  e.on('x', (value) => got.push(value));
  assert.throws(() => e.emit('x', 'throw'), /cannot tell/);
  for (const bad of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, '1', null, undefined, 1n]) {
    assert.throws(() => e.emit('x', bad), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  }
  assert.equal(e.queued(), 0);
  e.emit('x', 1);
  await turn();
  assert.deepEqual(got, [1]);
});
