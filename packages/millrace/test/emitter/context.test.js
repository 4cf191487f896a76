// AsyncLocalStorage: a handler sees the values of the code that pushed its event.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { child, turn, until } from './helper.js';

const storage = new AsyncLocalStorage();

for (const isolation of ['batch', 'event']) {
  test(`isolation '${isolation}': each listener sees the store of its push`, async () => {
    const seen = [];
    const e = new BatchEmitter({ isolation });
    e.on('x', (n) => seen.push([n, storage.getStore()]));
    storage.run('a', () => e.emit('x', 1));
    storage.run('b', () => e.emit('x', 2));
    storage.run('c', () => e.push('x', [3]));
    e.emit('x', 4);
    await until(() => seen.length === 4);
    assert.deepEqual(seen, [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
      [4, undefined],
    ]);
  });
}

test('async work of a listener keeps the store of the push', async () => {
  const e = new BatchEmitter();
  const seen = [];
  e.on('x', async () => {
    await null;
    seen.push(storage.getStore());
    setImmediate(() => seen.push(storage.getStore()));
  });
  storage.run('a', () => e.emit('x'));
  storage.run('b', () => e.emit('x'));
  await until(() => seen.length === 4);
  assert.deepEqual(seen, ['a', 'b', 'a', 'b']);
});

test('a replayed event is seen with the store of its push', async () => {
  const seen = [];
  const e = new BatchEmitter({ retain: true });
  storage.run('a', () => e.emit('x', 1));
  storage.run('b', () => e.emit('x', 2));
  await turn();
  storage.run('late', () => e.on('x', (n) => seen.push([n, storage.getStore()])));
  await turn();
  assert.deepEqual(seen, [
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('under direct a retained event keeps its store as well', async () => {
  const seen = [];
  const e = new BatchEmitter({ policy: 'direct', retain: true });
  storage.run('a', () => e.emit('x', 1));
  storage.run('late', () => e.on('x', (n) => seen.push([n, storage.getStore()])));
  await turn();
  assert.deepEqual(seen, [[1, 'a']]);
});

test('a batch handler sees the store of the first of its events', async () => {
  const seen = [];
  const e = new BatchEmitter();
  e.onBatch('x', (items) => seen.push([items, storage.getStore()]));
  e.on('x', (n) => seen.push([n, storage.getStore()]));
  storage.run('a', () => e.emit('x', 1));
  storage.run('b', () => e.emit('x', 2));
  await turn();
  assert.deepEqual(seen, [
    [[1, 2], 'a'],
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('enterWith counts as use', async () => {
  const { lines } = await child(`
    import { AsyncLocalStorage } from 'node:async_hooks';
    import { BatchEmitter } from 'millrace';
    const storage = new AsyncLocalStorage();
    const e = new BatchEmitter();
    e.on('x', (n) => console.log(n, storage.getStore()));
    setImmediate(() => {
      storage.enterWith('a');
      e.emit('x', 1);
    });
    setImmediate(() => {
      storage.enterWith('b');
      e.emit('x', 2);
    });
  `);
  assert.deepEqual(lines, ['1 a', '2 b']);
});

const counting = (options, use) => `
  import { AsyncLocalStorage, createHook } from 'node:async_hooks';
  import { BatchEmitter } from 'millrace';
  let captured = 0;
  createHook({ init: (_id, type) => void (type === 'MillraceEvent' && captured++) }).enable();
  const storage = new AsyncLocalStorage();
  const e = new BatchEmitter(${options});
  e.on('x', () => {});
  for (let i = 0; i < 100; i++) e.emit('x', i);
  ${use}
  for (let i = 0; i < 10; i++) e.emit('x', i);
  setImmediate(() => console.log(captured));
`;

test('before any storage is in use nothing is captured, afterwards every event is', async () => {
  assert.deepEqual((await child(counting('{}', 'storage.run(1, () => {});'))).lines, ['10']);
});

test("context 'on' always captures, 'off' never does", async () => {
  assert.deepEqual((await child(counting("{ context: 'on' }", ''))).lines, ['110']);
  const off = await child(counting("{ context: 'off' }", 'storage.run(1, () => {});'));
  assert.deepEqual(off.lines, ['0']);
});

test('the methods of AsyncLocalStorage are the original ones once it is in use', async () => {
  const { lines } = await child(`
    import { AsyncLocalStorage } from 'node:async_hooks';
    const { run, enterWith } = AsyncLocalStorage.prototype;
    await import('millrace');
    const storage = new AsyncLocalStorage();
    console.log(storage.run(1, (a, b) => [storage.getStore(), a, b].join(), 2, 3));
    const now = AsyncLocalStorage.prototype;
    console.log(now.run === run, now.enterWith === enterWith);
  `);
  assert.deepEqual(lines, ['1,2,3', 'true true']);
});

test('a wrapper that somebody else put on AsyncLocalStorage stays', async () => {
  const { lines } = await child(`
    import { AsyncLocalStorage } from 'node:async_hooks';
    await import('millrace');
    const before = AsyncLocalStorage.prototype.run;
    let calls = 0;
    function theirs(...args) {
      calls++;
      return Reflect.apply(before, this, args);
    }
    AsyncLocalStorage.prototype.run = theirs;
    const storage = new AsyncLocalStorage();
    console.log(storage.run('a', () => storage.getStore()), storage.run('b', () => storage.getStore()));
    console.log(calls, AsyncLocalStorage.prototype.run === theirs);
  `);
  assert.deepEqual(lines, ['a b', '2 true']);
});
