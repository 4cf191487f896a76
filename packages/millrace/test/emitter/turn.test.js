// When an emitter delivers: at the end of the loop turn, in the check phase.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { recorder, turn } from './helper.js';

test('events wait for nextTick, microtasks and promise chains of the turn', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('delivered'));
  e.emit('x', 1);
  process.nextTick(() => {
    log.push('tick');
    e.emit('x', 2);
    process.nextTick(() => log.push('tick in a tick'));
  });
  queueMicrotask(() => log.push('microtask'));
  const chain = Promise.resolve()
    .then(() => null)
    .then(() => null)
    .then(() => log.push('chain'));
  await chain;
  await new Promise(process.nextTick);
  assert.equal(e.queued(), 2);
  await turn();
  assert.deepEqual(log.slice(-2), [
    ['delivered', 1],
    ['delivered', 2],
  ]);
  assert.deepEqual(log.slice(0, -2).sort(), ['chain', 'microtask', 'tick', 'tick in a tick']);
});

test('events of a callback of the poll phase leave in the check phase that follows, before timers', async () => {
  const order = [];
  const e = new BatchEmitter();
  const batches = new Promise((resolve) => {
    e.onBatch('read', (items) => {
      order.push(items.length);
      resolve();
    });
  });
  readFile(new URL(import.meta.url), () => {
    e.emit('read', 'a');
    e.emit('read', 'b');
    setTimeout(() => order.push('timer'), 0);
    setImmediate(() => order.push('immediate'));
  });
  await batches;
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(order, [2, 'immediate', 'timer']);
});

test('a server’s reads of one turn are one batch', async () => {
  const e = new BatchEmitter();
  const sizes = [];
  const total = 20;
  const done = new Promise((resolve) => {
    let got = 0;
    e.onBatch('chunk', (items) => {
      sizes.push(items.length);
      got += items.length;
      if (got === total) resolve();
    });
  });
  const server = createServer((socket) => {
    socket.once('data', () => {
      for (let i = 0; i < total; i++) process.nextTick(() => e.emit('chunk', i));
      socket.end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect(server.address().port, '127.0.0.1', () => client.write('go'));
  client.resume();
  await done;
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(sizes, [total]);
});

test('emit in an immediate is delivered in the next turn, after the other immediates', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('x'));
  setImmediate(() => {
    e.emit('x');
    log.push('first');
  });
  setImmediate(() => log.push('second'));
  await turn();
  await turn();
  assert.deepEqual(log, ['first', 'second', ['x']]);
});

test('all events of a turn are one batch, in order of arrival', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('a', on('a')).on('b', on('b'));
  e.emit('a', 1);
  e.emit('b', 2);
  await null;
  e.emit('a', 3);
  assert.deepEqual(log, []);
  await turn();
  assert.deepEqual(log, [
    ['a', 1],
    ['b', 2],
    ['a', 3],
  ]);
  assert.equal(e.stats().batches, 1);
  assert.equal(e.stats().trigger.turn, 1);
});

test("order 'type' delivers events of one type together, the type with the oldest first", async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ order: 'type' });
  for (const name of ['a', 'b', 'c']) e.on(name, on(name));
  for (const name of ['b', 'a', 'b', 'c', 'a', 'b']) e.emit(name);
  await turn();
  assert.equal(log.flat().join(''), 'bbbaac');
});

test('emit returns true whether somebody listens or not: the event is queued', async () => {
  const e = new BatchEmitter();
  assert.equal(e.emit('x'), true);
  assert.equal(e.queued(), 1);
  assert.equal(e.queued('x'), 1);
  assert.equal(e.queued('y'), 0);
  await turn();
  assert.equal(e.queued(), 0);
  assert.equal(e.stats().unhandled, 1);
});

test('error, newListener, removeListener and errorMonitor are synchronous and never queued', () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ retain: true });
  e.on('newListener', on('new')).on('removeListener', on('removed')).on('error', on('error'));
  log.length = 0;
  const f = () => {};
  e.on('x', f).off('x', f);
  const error = new Error('bad');
  assert.equal(e.emit('error', error), true);
  assert.deepEqual(log, [
    ['new', 'x', f],
    ['removed', 'x', f],
    ['error', error],
  ]);
  assert.equal(e.queued(), 0);
  assert.equal(e.stats().pushed, 0);
});

test('a single array and several arguments stay what they were', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('x', on('x'));
  e.emit('x', [1, 2]);
  e.emit('x', [[]]);
  e.emit('x', []);
  e.emit('x', 1, 2);
  e.emit('x');
  e.emit('x', undefined);
  await turn();
  assert.deepEqual(log, [
    ['x', [1, 2]],
    ['x', [[]]],
    ['x', []],
    ['x', 1, 2],
    ['x'],
    ['x', undefined],
  ]);
});
