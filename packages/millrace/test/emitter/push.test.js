// push: an event with a priority, a size, and a way back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { recorder, turn } from './helper.js';

test('push queues an event with a list of arguments', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('x'));
  const event = e.push('x', [1, 2]);
  assert.equal(event.type, 'x');
  assert.equal(event.priority, 'normal');
  e.push('x', []);
  e.push('x', [[3]]);
  assert.deepEqual(log, []);
  await turn();
  assert.deepEqual(log, [['x', 1, 2], ['x'], ['x', [3]]]);
});

test('HIGH leaves first, LOW last, each in order of arrival', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ maxDeferral: 3_600_000 });
  e.on('x', on('x'));
  e.push('x', [1], { priority: 'low' });
  e.push('x', [2]);
  e.push('x', [3], { priority: 'high' });
  e.push('x', [4], { priority: 'low' });
  e.push('x', [5], { priority: 'high' });
  const { depth } = e.stats();
  assert.deepEqual(depth, { high: 2, normal: 1, low: 2 });
  await turn();
  assert.deepEqual(
    log.map(([, n]) => n),
    [3, 5, 2, 1, 4],
  );
});

test('the class comes from the push, then from the type’s options, then from its name', async () => {
  const e = new BatchEmitter();
  assert.equal(e.push('signal', []).priority, 'high');
  assert.equal(e.push('background', []).priority, 'low');
  assert.equal(e.push('anything', []).priority, 'normal');
  e.configure('signal', { priority: 'low' });
  assert.equal(e.push('signal', []).priority, 'low');
  assert.equal(e.push('signal', [], { priority: 'normal' }).priority, 'normal');
  await turn();
});

test('cancel takes back a queued event, once', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('x'));
  e.push('x', [1]);
  const second = e.push('x', [2]);
  e.push('x', [3]);
  assert.equal(second.cancel(), true);
  assert.equal(second.cancel(), false);
  assert.equal(e.queued(), 2);
  await turn();
  assert.deepEqual(log, [
    ['x', 1],
    ['x', 3],
  ]);
  assert.equal(e.stats().cancelled, 1);
});

test('cancel is false once the batch has left, even before the event’s own turn in it', async () => {
  const { log } = recorder();
  const e = new BatchEmitter();
  let second;
  e.on('x', (n) => log.push([n, second.cancel()]));
  e.push('x', [1]);
  second = e.push('x', [2]);
  await turn();
  assert.deepEqual(log, [
    [1, false],
    [2, false],
  ]);
});

test('cancel takes back a retained event, so that no listener gets it', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ retain: true });
  e.push('x', [1]);
  const second = e.push('x', [2]);
  await turn();
  assert.equal(e.stats().retained.count, 2);
  assert.equal(second.cancel(), true);
  assert.equal(second.cancel(), false);
  e.on('x', on('x'));
  await turn();
  assert.deepEqual(log, [['x', 1]]);
});

test('cancelling everything leaves nothing to deliver', async () => {
  const e = new BatchEmitter();
  const events = Array.from({ length: 100 }, (_, i) => e.push('x', [i]));
  assert.ok(events.every((event) => event.cancel()));
  await turn();
  const { queued, bytes, batches, cancelled } = e.stats();
  assert.deepEqual(
    { queued, bytes, batches, cancelled },
    { queued: 0, bytes: 0, batches: 0, cancelled: 100 },
  );
});

test('push under direct delivers inside the call, and cannot be taken back', () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ policy: 'direct' });
  e.on('x', on('x'));
  const event = e.push('x', [1]);
  assert.deepEqual(log, [['x', 1]]);
  assert.equal(event.cancel(), false);
});

test('bytes come from the push, then from the type’s size, then from the emitter’s', async () => {
  const e = new BatchEmitter({ size: (type, args) => String(type).length * 100 + args.length });
  e.push('abc', [1, 2]);
  assert.equal(e.stats().bytes, 302);
  e.configure('abc', { size: (text) => text.length });
  e.emit('abc', 'hello');
  assert.equal(e.stats().bytes, 307);
  e.push('abc', ['hello'], { bytes: 1000 });
  assert.equal(e.stats().bytes, 1307);
  await turn();
  assert.equal(e.stats().bytes, 0);
});
