// Batch handlers: all events of a type in one call.
import assert from 'node:assert/strict';
import { captureRejectionSymbol } from 'node:events';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { child, recorder, turn, uncaught } from './helper.js';

test('a batch handler gets the events of its type in one call', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  assert.equal(e.onBatch('row', on('rows')), e);
  for (const n of [1, 2, 3]) e.emit('row', n);
  await turn();
  assert.deepEqual(log, [['rows', [1, 2, 3], { type: 'row', trigger: 'turn' }]]);
});

test('an item is the argument, or the list of arguments when there are several or none', async () => {
  const e = new BatchEmitter();
  const got = new Promise((resolve) => e.onBatch('x', resolve));
  e.emit('x', 'one');
  e.emit('x');
  e.emit('x', 1, 2);
  e.emit('x', undefined);
  e.emit('x', [1, 2]);
  assert.deepEqual(await got, ['one', [], [1, 2], undefined, [1, 2]]);
});

test('the call stands at the place of the first of its events', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('a', on('a')).on('b', on('b'));
  e.onBatch('b', (items) => log.push(['batch', ...items]));
  e.emit('a', 1);
  e.emit('b', 2);
  e.emit('a', 3);
  e.emit('b', 4);
  await turn();
  assert.deepEqual(log, [
    ['a', 1],
    ['batch', 2, 4],
    ['b', 2],
    ['a', 3],
    ['b', 4],
  ]);
});

test('several batch handlers run in order, with the emitter as this', async () => {
  const { log } = recorder();
  const e = new BatchEmitter();
  e.onBatch('x', function (items) {
    log.push([1, this === e, items.length]);
  });
  e.onBatch('x', function (items) {
    log.push([2, this === e, items.length]);
  });
  e.emit('x', 1);
  e.emit('x', 2);
  await turn();
  assert.deepEqual(log, [
    [1, true, 2],
    [2, true, 2],
  ]);
});

test('offBatch removes one registration, the last; without a handler all of the type', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  const [f, g] = [on('f'), on('g')];
  e.onBatch('x', f).onBatch('x', g).onBatch('x', f);
  assert.equal(e.offBatch('x', f), e);
  e.emit('x', 1);
  await turn();
  assert.deepEqual(
    log.map(([name]) => name),
    ['f', 'g'],
  );
  e.offBatch('x').offBatch('x').offBatch('unknown', f);
  e.emit('x', 2);
  await turn();
  assert.equal(log.length, 2);
  assert.equal(e.stats().unhandled, 1);
});

test('batch handlers are looked up at delivery', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  const f = on('f');
  e.onBatch('x', f);
  e.emit('x', 1);
  e.offBatch('x', f);
  e.onBatch('x', on('g'));
  await turn();
  assert.deepEqual(
    log.map(([name]) => name),
    ['g'],
  );
});

test("a type's own maxBatch bounds the group, and closes the batch", async () => {
  const e = new BatchEmitter();
  const groups = [];
  e.configure('row', { maxBatch: 2 });
  e.onBatch('row', (items, { trigger }) => groups.push([items, trigger]));
  for (let i = 0; i < 5; i++) e.emit('row', i);
  await turn();
  assert.deepEqual(groups, [
    [[0, 1], 'size'],
    [[2, 3], 'size'],
    [[4], 'turn'],
  ]);
});

test('events of a batch handler count as delivered', async () => {
  const e = new BatchEmitter();
  e.onBatch('x', () => {});
  for (let i = 0; i < 4; i++) e.emit('x', i);
  await turn();
  const { delivered, unhandled } = e.stats();
  assert.deepEqual({ delivered, unhandled }, { delivered: 4, unhandled: 0 });
});

test('a batch handler that throws fails once; other types and later events go on', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.on('error', on('error')).on('y', on('y'));
  const error = new Error('bad');
  e.onBatch('x', () => {
    throw error;
  });
  e.onBatch('x', () => log.push('skipped'));
  e.emit('x', 1);
  e.emit('y', 2);
  e.emit('x', 3);
  await turn();
  assert.deepEqual(log, [
    ['error', error],
    ['y', 2],
  ]);
  assert.equal(e.stats().errors, 1);
  assert.equal(e.stats().delivered, 3);
});

test("a batch handler that rejects is an 'error' event", async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  const error = new Error('rejected');
  e.on('error', on('error'));
  e.onBatch('x', async () => {
    throw error;
  });
  e.emit('x', 1);
  await turn();
  assert.deepEqual(log, [['error', error]]);
  assert.equal(e.stats().errors, 1);
});

test("a batch handler that rejects without an 'error' listener is an uncaught exception", async () => {
  const e = new BatchEmitter();
  const error = new Error('rejected');
  const errors = await uncaught(async () => {
    e.onBatch('x', () => Promise.reject(error));
    e.emit('x', 1);
    await turn();
    await turn();
  });
  assert.deepEqual(errors, [error]);
});

test('a rejection goes to Symbol.for("nodejs.rejection") where the emitter has it', async () => {
  const e = new BatchEmitter({ captureRejections: true });
  const got = new Promise((resolve) => {
    e[captureRejectionSymbol] = (error, type, ...args) => resolve([error.message, type, args]);
  });
  e.onBatch('x', () => Promise.reject(new Error('rejected')));
  e.emit('x', 1, 2);
  assert.deepEqual(await got, ['rejected', 'x', [1, 2]]);
});

test('a batch handler that removes itself has had the whole group: nothing is unhandled or kept', async () => {
  const e = new BatchEmitter({ retain: true });
  const groups = [];
  const once = (items) => {
    groups.push(items);
    e.offBatch('x', once);
  };
  e.onBatch('x', once);
  for (const n of [1, 2, 3]) e.emit('x', n);
  await turn();
  assert.deepEqual(groups, [[1, 2, 3]]);
  const { unhandled, retained } = e.stats();
  assert.deepEqual([unhandled, retained.count], [0, 0]);
  const late = [];
  e.on('x', (n) => late.push(n));
  await turn();
  assert.deepEqual(late, []);
});

test('a batch handler that an earlier event registers gets what is left of the batch', async () => {
  const e = new BatchEmitter();
  const groups = [];
  e.once('x', () => e.onBatch('x', (items) => groups.push(items)));
  for (const n of [1, 2, 3]) e.emit('x', n);
  await turn();
  assert.deepEqual(groups, [[2, 3]]);
});

test('each batch makes a group of its own', async () => {
  const e = new BatchEmitter({ maxBatch: 3 });
  const groups = [];
  e.onBatch('x', (items) => groups.push(items));
  for (let i = 0; i < 7; i++) e.emit('x', i);
  await turn();
  assert.deepEqual(groups, [[0, 1, 2], [3, 4, 5], [6]]);
});

test('under direct each event is a group of one, inside emit', () => {
  const e = new BatchEmitter({ policy: 'direct' });
  const groups = [];
  e.onBatch('x', (items, { trigger }) => groups.push([items, trigger]));
  assert.equal(e.emit('x', 1), true);
  assert.equal(e.emit('x', 2), true);
  assert.deepEqual(groups, [
    [[1], 'size'],
    [[2], 'size'],
  ]);
});

test('under direct emit says that a batch handler ran, whatever that emitted', () => {
  const e = new BatchEmitter({ policy: 'direct' });
  e.onBatch('x', () => e.emit('nobody listens'));
  assert.equal(e.emit('x', 1), true);
  assert.equal(e.emit('nobody listens'), false);
});

test('a delivered batch is not kept alive', async () => {
  const { lines } = await child(
    `import { BatchEmitter } from 'millrace';
     const e = new BatchEmitter();
     e.onBatch('x', () => {});
     let ref;
     (() => {
       const payload = { big: new Array(10) };
       ref = new WeakRef(payload);
       e.emit('x', payload);
     })();
     for (let i = 0; i < 5; i++) {
       await new Promise((resolve) => setTimeout(resolve, 1));
       gc();
     }
     console.log(ref.deref() === undefined, e.queued());`,
    ['--expose-gc'],
  );
  assert.deepEqual(lines, ['true 0']);
});
