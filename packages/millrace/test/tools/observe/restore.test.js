/** What is replaced is given back, and whoever replaces it before or after is not disturbed. */
import assert from 'node:assert/strict';
import dns from 'node:dns';
import { EventEmitter } from 'node:events';
import fs, { promises } from 'node:fs';
import * as namespace from 'node:fs/promises';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { observe, startObserving } from 'millrace/observe';
import WebSocket from 'ws';
import { hall } from './hall.js';
import { turnOver } from './sockets.js';

const sender = WebSocket.Sender ?? (await import('ws')).Sender;

/** All that may be replaced. */
const watched = [
  [Socket.prototype, ['_write', '_writev', 'setNoDelay', 'write', 'connect']],
  [promises, ['readFile', 'appendFile', 'writeFile', 'open', 'stat', 'lstat']],
  [fs, ['readFile', 'open', 'read', 'close', 'stat', 'lstat', 'fstat']],
  [dns, ['lookup']],
  [dns.promises, ['lookup']],
  [EventEmitter.prototype, ['emit', 'on', 'addListener', 'prependListener']],
  [process, ['dlopen']],
  [sender.prototype, ['send', 'sendFrame']],
];

const descriptors = () =>
  watched.map(([target, names]) =>
    names.map((name) => Object.getOwnPropertyDescriptor(target, name)),
  );

test('stop() restores each descriptor, and is idempotent', async (t) => {
  const before = descriptors();
  const observation = observe();
  const { sockets } = await hall(t, 1);
  sockets[0].send('a');
  await turnOver();
  for (const [target, name] of [
    [Socket.prototype, '_write'],
    [promises, 'readFile'],
    [sender.prototype, 'sendFrame'],
  ]) {
    const index = watched.findIndex(([each]) => each === target);
    const original = before[index][watched[index][1].indexOf(name)].value;
    assert.notEqual(target[name], original);
    assert.equal(target[name].name, original.name);
    assert.equal(target[name].length, original.length);
  }
  observation.stop();
  observation.stop();
  assert.deepEqual(descriptors(), before);
  assert.equal(namespace.readFile, promises.readFile);
});

test('observe mode gives back what ends a process', () => {
  const owned = () =>
    ['kill', 'abort'].map((name) => Object.getOwnPropertyDescriptor(process, name));
  const before = owned();
  const observation = startObserving();
  const { kill, abort } = process;
  assert.ok(kill !== before[0].value && abort !== before[1].value);
  assert.deepEqual([kill.name, kill.length], ['kill', before[0].value.length]);
  observation.stop();
  assert.deepEqual(owned(), before);
});

test('without a connection nothing of node:net is touched but connect()', () => {
  const before = descriptors()[0].slice(0, 4);
  const observation = observe();
  assert.deepEqual(descriptors()[0].slice(0, 4), before);
  observation.stop();
});

test('an application that replaces the same before and after goes on', async (t) => {
  const { _write } = Socket.prototype;
  const { readFile } = promises;
  t.after(() => Object.assign(Socket.prototype, { _write }));
  t.after(() => Object.assign(promises, { readFile }));
  const calls = { before: 0, after: 0, reads: 0 };
  Socket.prototype._write = function (...args) {
    calls.before++;
    return _write.apply(this, args);
  };
  const observation = observe();
  const { sockets, got } = await hall(t, 1);
  const observed = Socket.prototype._write;
  Socket.prototype._write = function (...args) {
    calls.after++;
    return observed.apply(this, args);
  };
  const observedRead = promises.readFile;
  promises.readFile = (...args) => {
    calls.reads++;
    return observedRead(...args);
  };
  sockets[0]._socket.write(Buffer.from([0x81, 1, 0x61]));
  await promises.readFile(import.meta.filename);
  observation.stop();
  const { writes } = observation.report().writes;
  const { reads } = observation.report().files;
  sockets[0]._socket.write(Buffer.from([0x81, 1, 0x61]));
  await promises.readFile(import.meta.filename);
  while (got.messages < 2) await turnOver();
  assert.ok(calls.before >= 2);
  assert.equal(calls.after, 2);
  // Node.js 20 loads modules by it.
  assert.ok(calls.reads >= 2);
  assert.deepEqual([observation.report().writes.writes, reads], [writes, 1]);
});

test('two observations at once see the same', async (t) => {
  const [first, second] = [observe(), observe()];
  const { sockets } = await hall(t, 2);
  for (const socket of sockets) socket.send('a');
  await turnOver();
  first.stop();
  for (const socket of sockets) socket.send('b');
  await turnOver();
  second.stop();
  for (const socket of sockets) socket.send('c');
  await turnOver();
  assert.deepEqual([first.report().frames.frames, second.report().frames.frames], [2, 4]);
});
