/** Bad input: refused with a message that helps, and nothing has changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall } from './hall.js';

const option = 'MILLRACE_E_INVALID_OPTION';
const argument = 'MILLRACE_E_INVALID_ARGUMENT';

/** What an error must say: each of the words. */
const refusal = (code, words) => (error) => {
  assert.equal(error.name, 'MillraceError');
  assert.equal(error.code, code, error.message);
  for (const word of words) assert.ok(error.message.includes(word), error.message);
  return true;
};

const badQueueOptions = [
  [{ policy: 'fast' }, "'policy'", '"fast"', "'direct', 'fixed', 'adaptive'"],
  [{ policy: null }, "'policy'", 'null'],
  [{ maxBatch: 0 }, "'maxBatch'", '0', 'an integer from 1 to 1000000'],
  [{ maxBatch: 1.5 }, "'maxBatch'", '1.5', 'an integer'],
  [{ maxBatch: '10' }, "'maxBatch'", '"10"', 'an integer'],
  [{ maxDelay: -1 }, "'maxDelay'", '-1', 'from 0 to 60000'],
  [{ maxDelay: Number.NaN }, "'maxDelay'", 'NaN'],
  [{ threshold: -1 }, "'threshold'", '-1'],
  [{ hold: 'never' }, "'hold'", '"never"', "'tuned', 'always'"],
  [{ maxQueue: 0 }, "'maxQueue'", '0', 'from 1 to 100000000'],
  [{ maxQueueBytes: 0 }, "'maxQueueBytes'", '0'],
  [{ maxDeferral: 3_600_001 }, "'maxDeferral'", '3600001', 'from 0 to 3600000'],
  [{ order: 'type' }, "'order'", 'known are policy'],
  [{ maxdelay: 1 }, "'maxdelay'", 'known are policy'],
  [null, 'must be an object', 'null'],
  [[], 'must be an object', 'an array of 0'],
  ['fixed', 'must be an object', '"fixed"'],
];

const badRoomsOptions = [
  ...badQueueOptions,
  [{ maxPending: 0 }, "'maxPending'", '0', 'an integer from 1 to 2^53 - 1'],
  [{ maxPending: 1.5 }, "'maxPending'", '1.5'],
  [{ maxPending: Number.POSITIVE_INFINITY }, "'maxPending'", 'Infinity'],
  [{ maxPending: '1mb' }, "'maxPending'", '"1mb"'],
  [{ slow: 'wait' }, "'slow'", '"wait"', "'close', 'drop-low', 'drop-normal'"],
  [{ slow: null }, "'slow'", 'null'],
  [{ onSlow: 'log' }, "'onSlow'", '"log"', 'a function'],
  [{ onSlow: null }, "'onSlow'", 'null'],
];

test('the constructor refuses bad options', () => {
  for (const [options, ...words] of badRoomsOptions) {
    assert.throws(() => new Rooms(options), refusal(option, words));
  }
});

test('undefined counts as not given', () => {
  new Rooms(undefined);
  new Rooms({ maxPending: undefined, slow: undefined, onSlow: undefined, policy: undefined });
});

test('set refuses bad options and options that are fixed', async (t) => {
  const hall = await openHall(t);
  const a = await hall.connect();
  const rooms = new Rooms({ policy: 'fixed', maxDelay: 60_000 });
  t.after(() => rooms.close());
  rooms.join(a.server, 'x');
  rooms.publish('x', '1');
  const fixed = ['maxPending', 'slow', 'onSlow'].map((name) => [{ [name]: 1 }, `'${name}'`]);
  for (const [options, ...words] of [...badQueueOptions, ...fixed]) {
    // The good option of the same call must not be taken either.
    const given =
      Array.isArray(options) || typeof options !== 'object' ? options : withGood(options);
    assert.throws(() => rooms.set(given), refusal(option, words));
  }
  assert.throws(() => rooms.set(undefined), refusal(option, ['undefined']));
  assert.deepEqual(await a.take(), []);
  assert.equal(rooms.stats().queued, 1);
});

const withGood = (options) => (options === null ? null : { policy: 'direct', ...options });

const badNames = [undefined, null, 1, {}, [], Symbol('x'), () => {}];
const badData = [undefined, null, 1, true, {}, ['a'], Symbol('x'), () => {}, new Blob(['a'])];
const on = () => {};
const badSockets = [
  [undefined, 'undefined'],
  [null, 'null'],
  ['ws', '"ws"'],
  [{}, 'an object (Object)'],
  [{ readyState: 0, extensions: '' }, 'WebSocket of the ws package, version 8'],
  [{ on, readyState: 1, extensions: '' }, 'WebSocket of the ws package, version 8'],
  [{ on, readyState: 1, extensions: '', _socket: null }, 'WebSocket of the ws package, version 8'],
  [{ on, readyState: 1, extensions: '', _socket: {} }, 'WebSocket of the ws package, version 8'],
  [Object.create(null), 'no prototype'],
];
const badSendOptions = [
  [option, { priority: 'urgent' }, 'priority', '"urgent"', "'high', 'normal', 'low'"],
  [option, { priority: null }, 'priority', 'null'],
  [option, { priority: 'constructor' }, 'priority', '"constructor"'],
  [option, { binary: 'yes' }, 'binary', '"yes"', 'true or false'],
  [option, { binary: 1 }, 'binary', '1'],
  [option, { prio: 'high' }, "'prio'", 'known are priority, binary'],
  [option, 'high', 'must be an object', '"high"'],
  [option, null, 'must be an object', 'null'],
];

test('each method refuses bad arguments, and nothing changes', async (t) => {
  const hall = await openHall(t);
  const [a, stranger] = await hall.connectMany(2);
  const rooms = new Rooms({ policy: 'fixed', maxDelay: 60_000 });
  t.after(() => rooms.close());
  rooms.join(a.server, 'x');
  const before = rooms.stats();
  const listeners = (ws) => [ws.listenerCount('close'), ws._socket.listenerCount('drain')];
  const untouched = listeners(stranger.server);

  for (const name of badNames) {
    const refused = refusal(argument, ['the name of a room is', 'must be a string']);
    assert.throws(() => rooms.join(stranger.server, name), refused);
    assert.throws(() => rooms.publish(name, 'a'), refused);
    assert.throws(() => rooms.size(name), refused);
    assert.throws(() => rooms.members(name), refused);
    if (name === undefined) continue;
    assert.throws(() => rooms.leave(a.server, name), refused);
    assert.throws(() => rooms.leave(stranger.server, name), refused);
  }
  for (const data of badData) {
    const refused = refusal(argument, ['a message is', 'a string, a Buffer, a typed array']);
    assert.throws(() => rooms.publish('x', data), refused);
    assert.throws(() => rooms.publish('nowhere', data), refused);
    assert.throws(() => rooms.send(stranger.server, data), refused);
  }
  for (const [socket, ...words] of badSockets) {
    const refused = refusal(argument, ['the socket is', ...words]);
    assert.throws(() => rooms.join(socket, 'x'), refused);
    assert.throws(() => rooms.leave(socket, 'x'), refused);
    assert.throws(() => rooms.leave(socket), refused);
    assert.throws(() => rooms.send(socket, 'a'), refused);
    assert.throws(() => rooms.of(socket), refused);
    assert.throws(() => rooms.end(socket), refused);
    if (socket === undefined) continue;
    assert.throws(() => rooms.publish('x', 'a', { except: socket }), refused);
  }
  for (const [code, options, ...words] of badSendOptions) {
    assert.throws(() => rooms.publish('x', 'a', options), refusal(code, words));
    assert.throws(() => rooms.publish('nowhere', 'a', options), refusal(code, words));
    assert.throws(() => rooms.send(stranger.server, 'a', options), refusal(code, words));
  }
  assert.throws(
    () => rooms.send(a.server, 'a', { except: a.server }),
    refusal(option, ["'except'"]),
  );

  for (const code of [null, '1000', 999, 1004, 1005, 1006, 1015, 2999, 5000, 1000.5]) {
    const refused = refusal(argument, ['the close code is', '3000 to 4999']);
    assert.throws(() => rooms.end(a.server, code), refused);
    assert.throws(() => rooms.end(stranger.server, code), refused);
  }
  for (const reason of [null, 1, Buffer.from('bye'), 'x'.repeat(124), 'é'.repeat(62)]) {
    const refused = refusal(argument, ['the reason of a close is', 'at most 123 bytes']);
    assert.throws(() => rooms.end(a.server, 1000, reason), refused);
  }

  assert.deepEqual(rooms.stats(), before);
  assert.deepEqual(listeners(stranger.server), untouched);
  rooms.flush();
  assert.deepEqual(await a.take(), []);
});

test('options that are undefined count as not given', async (t) => {
  const hall = await openHall(t);
  const a = await hall.connect();
  const rooms = new Rooms();
  rooms.join(a.server, 'x');
  rooms.publish('x', '1', { priority: undefined, binary: undefined, except: undefined });
  rooms.send(a.server, '2', undefined);
  assert.deepEqual(await a.take(), ['1', '2']);
});
