/** Values of another realm: those of a vm context, and under Jest all that Node.js itself makes. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import { underPressure } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import { monitor } from '@millrace/monitor';
import { lineChunks, Pool } from '@millrace/pool';
import fastify from 'fastify';
import { batch } from 'millrace';
import { listen } from '../../guard/test/cached/shapes.js';
import { readOptions, toPath } from '../../millrace/dist/fs/arguments.js';
import { isTree } from '../../nats/dist/events/record.js';
import { packValues, unpack } from '../../nats/dist/socket-io/record.js';
import realm from '../dist/realm.cjs';

const foreign = (code) => vm.runInNewContext(code);

describe('isError', () => {
  const errors = {
    'an Error': new Error('x'),
    'a DOMException': new DOMException('x'),
    'what inherits from Error': Object.create(Error.prototype),
    'a foreign Error': foreign('new Error("x")'),
    'a foreign subclass with a name of its own': foreign(
      `new (class extends TypeError { get [Symbol.toStringTag]() { return 'Mine' } })()`,
    ),
    'a foreign DOMException': Object.setPrototypeOf(
      new DOMException('x'),
      foreign(
        'Object.assign(Object.create(Error.prototype), { [Symbol.toStringTag]: "DOMException" })',
      ),
    ),
  };
  for (const [name, value] of Object.entries(errors)) {
    test(`recognises ${name}`, () => assert.equal(realm.isError(value), true));
  }
  test('takes nothing else for one', () => {
    const others = [undefined, null, 'x', 1, {}, { message: 'x', stack: 'y' }, [], () => {}];
    for (const value of others) assert.equal(realm.isError(value), false);
  });
});

test('isURL recognises what Node.js takes for one', () => {
  const { href, protocol } = new URL('file:///a');
  for (const value of [new URL('file:///a'), { href, protocol }]) assert.ok(realm.isURL(value));
  const options = { href, protocol, auth: null, path: '/a' };
  for (const value of ['file:///a', {}, null, options]) assert.ok(!realm.isURL(value));
});

describe('batch()', () => {
  test('rejects the call whose result is an error', async () => {
    const failure = foreign('new Error("failed")');
    const call = batch(async (items) => items.map((item) => (item === 1 ? failure : item)));
    const results = await Promise.allSettled([call(1), call(2)]);
    assert.deepEqual(results, [
      { status: 'rejected', reason: failure },
      { status: 'fulfilled', value: 2 },
    ]);
  });

  test('takes a signal of another class', async () => {
    class Signal extends EventTarget {
      aborted = false;
      reason = undefined;
    }
    const signal = new Signal();
    const call = batch(async (items) => items)(1, { signal });
    Object.assign(signal, { aborted: true, reason: new Error('enough') });
    signal.dispatchEvent(new Event('abort'));
    await assert.rejects(call, { message: 'enough' });
  });
});

test('millrace/fs understands paths and options', () => {
  assert.equal(toPath(foreign('new Uint8Array([47, 97])')), '/a');
  assert.equal(readOptions(foreign('({ encoding: "utf8" })')).encoding, 'utf8');
  assert.equal(readOptions(foreign('new (class { encoding = "utf8" })()')), null);
});

test('a task that fails keeps the properties of its error', async (t) => {
  const pool = new Pool({ filename: new URL('foreign-error.js', import.meta.url), maxThreads: 1 });
  t.after(() => pool.destroy());
  await assert.rejects(pool.run(), { name: 'RangeError', message: 'too far', code: 'E_FAR' });
});

test('cached() keeps bytes', async (t) => {
  const bytes = foreign('new Uint8Array([111, 107])');
  const { get } = await listen(t, createServer(cached((_, res) => res.end(bytes), { ttl: 60 })));
  assert.deepEqual([(await get('/')).text, (await get('/')).text], ['ok', 'ok']);
});

test('the Fastify plugin takes an error as customError', async (t) => {
  const app = fastify();
  t.after(() => app.close());
  await app.register(underPressure, { customError: foreign('new Error("busy")') });
});

test('health() tells the message of a source that throws', (t) => {
  const watch = monitor({ tasks: { broken: () => foreign('throw new Error("gone")') } });
  t.after(() => watch.stop());
  assert.deepEqual(watch.health().tasks, { broken: { error: 'gone' } });
});

test('lineChunks() takes bytes, also as the delimiter', async () => {
  const source = [foreign('new Uint8Array([97, 59, 98])')];
  const delimiter = foreign('new Uint8Array([59])');
  const texts = [];
  for await (const { data } of lineChunks(source, { delimiter }))
    texts.push(String(Buffer.from(data)));
  assert.deepEqual(texts, ['a;b']);
});

test('values for other nodes are told as JSON where that is the same', () => {
  assert.ok(isTree(foreign('({ a: [1, { b: null }] })')));
  for (const code of [
    'new Map()',
    'new Date()',
    'new (class {})()',
    'new (class extends Array {})()',
  ]) {
    assert.ok(!isTree(foreign(code)), code);
  }
});

test('bytes stay bytes on their way to other nodes of socket.io', () => {
  const { head } = unpack(packValues({ kind: 'x', data: foreign('new ArrayBuffer(2)') }));
  assert.deepEqual(head.data, Buffer.alloc(2));
});
