// Late listeners: events that found no handler, kept for one that registers later.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { stillClock } from '../../../base/test/clocks.js';
import { recorder, turn, until } from './helper.js';

/** An emitter that has three retained events, `x` 1 to 3. */
async function withThree(options) {
  const e = new BatchEmitter({ retain: true, ...options });
  for (const n of [1, 2, 3]) e.emit('x', n);
  await turn();
  assert.equal(e.stats().retained.count, 3);
  return e;
}

test('without retain an event without a listener is gone, and counted', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter();
  e.emit('x', 1);
  await turn();
  e.on('x', on('x'));
  await turn();
  assert.deepEqual(log, []);
  assert.equal(e.stats().unhandled, 1);
  assert.equal(e.stats().retained.held, 0);
});

test('a late listener gets what was retained, in order, at the end of the turn', async () => {
  const { log, on } = recorder();
  const e = await withThree();
  e.on('x', on('x'));
  assert.deepEqual(log, [], 'registering runs no listener');
  await turn();
  assert.deepEqual(log, [
    ['x', 1],
    ['x', 2],
    ['x', 3],
  ]);
  const { count, held, replayed, expired } = e.stats().retained;
  assert.deepEqual(
    { count, held, replayed, expired },
    { count: 0, held: 3, replayed: 3, expired: 0 },
  );
});

test('retained events come before any newer event of their type', async () => {
  const { log, on } = recorder();
  const e = await withThree();
  e.emit('x', 4);
  e.on('x', on('x'));
  e.emit('x', 5);
  await turn();
  assert.deepEqual(
    log.map(([, n]) => n),
    [1, 2, 3, 4, 5],
  );
});

test("'first' goes to all listeners that are there by then, and to none after", async () => {
  const { log, on } = recorder();
  const e = await withThree();
  e.on('x', on('a'));
  e.on('x', on('b'));
  await turn();
  e.on('x', on('c'));
  await turn();
  assert.deepEqual(log, [
    ['a', 1],
    ['b', 1],
    ['a', 2],
    ['b', 2],
    ['a', 3],
    ['b', 3],
  ]);
});

test("'each' goes to every listener that comes within the age, once", async () => {
  const { log, on } = recorder();
  const e = await withThree({ retain: { replay: 'each' } });
  e.on('x', on('a'));
  await turn();
  e.on('x', on('b'));
  await turn();
  assert.deepEqual(log, [
    ['a', 1],
    ['a', 2],
    ['a', 3],
    ['b', 1],
    ['b', 2],
    ['b', 3],
  ]);
  assert.equal(e.stats().retained.count, 3);
  e.close();
  assert.equal(e.stats().retained.expired, 0, 'a listener got them: nothing was lost');
});

test('a late once listener gets one event; the rest stays', async () => {
  for (const replay of ['first', 'each']) {
    const { log, on } = recorder();
    const e = await withThree({ retain: { replay } });
    e.once('x', on('once'));
    await turn();
    assert.deepEqual(log, [['once', 1]], replay);
    assert.equal(e.listenerCount('x'), 0);
    assert.equal(e.stats().retained.count, replay === 'first' ? 2 : 3);
  }
});

test('a listener that events.once registers is a late listener', async () => {
  const e = await withThree();
  assert.deepEqual(await once(e, 'x'), [1]);
  assert.deepEqual(await once(e, 'x'), [2]);
});

test('prepended listeners are late listeners too, and come first', async () => {
  const { log, on } = recorder();
  const e = await withThree();
  e.on('x', on('on'));
  e.prependListener('x', on('prepended'));
  e.prependOnceListener('x', on('prepended once'));
  await turn();
  assert.deepEqual(
    log.map(([name]) => name),
    ['prepended once', 'prepended', 'on', 'prepended', 'on', 'prepended', 'on'],
  );
});

test('a batch handler can be the late handler', async () => {
  const items = [];
  const e = await withThree();
  e.onBatch('x', (some, { type }) => items.push(type, ...some));
  await turn();
  assert.deepEqual(
    items.filter((item) => item !== 'x'),
    [1, 2, 3],
  );
});

test('a listener that vanishes before the replay gets nothing, and the events stay', async () => {
  const { log, on } = recorder();
  const e = await withThree();
  const f = on('f');
  e.on('x', f).off('x', f);
  await turn();
  assert.deepEqual(log, []);
  assert.equal(e.stats().retained.count, 3);
});

test('a listener that throws during the replay is reported for that event alone', async () => {
  const { log, on } = recorder();
  const e = await withThree();
  e.on('error', (error) => log.push(['error', error.message]));
  e.on('x', (n) => {
    if (n === 2) throw new Error('two');
    log.push(['first', n]);
  });
  e.on('x', on('second'));
  await turn();
  assert.deepEqual(log, [
    ['first', 1],
    ['second', 1],
    ['error', 'two'],
    ['first', 3],
    ['second', 3],
  ]);
  assert.equal(e.stats().errors, 1);
});

test('this is the emitter in a replayed listener', async () => {
  const e = await withThree();
  const seen = [];
  e.on('x', function () {
    seen.push(this === e);
  });
  await turn();
  assert.deepEqual(seen, [true, true, true]);
});

test('retention of one type is no other’s', async () => {
  const e = new BatchEmitter();
  e.configure('x', { retain: true });
  e.emit('x', 1);
  e.emit('y', 2);
  await turn();
  assert.equal(e.stats().retained.count, 1);
  assert.equal(e.stats().unhandled, 1);
});

test("'error' is never retained", () => {
  const e = new BatchEmitter({ retain: true });
  assert.throws(() => e.emit('error', new Error('bad')), /bad/);
  assert.equal(e.stats().retained.count, 0);
});

test('retained is not queued: it takes no room there', async () => {
  const e = await withThree({ maxQueue: 3 });
  assert.equal(e.queued(), 0);
  for (const n of [4, 5, 6]) assert.equal(e.emit('x', n), true);
  assert.equal(e.queued(), 3);
  await turn();
  assert.equal(e.stats().retained.count, 6);
});

test('an event that reaches its age expires, and its age is not that of younger ones', async (t) => {
  const clock = stillClock(t);
  const lost = [];
  const e = new BatchEmitter({
    retain: { maxAge: 20 },
    onLost: (error, type, args) => lost.push([error.code, type, ...args]),
  });
  e.emit('x', 1);
  await turn();
  clock.pass(15);
  e.emit('x', 2);
  await turn();
  clock.pass(5);
  await until(() => lost.length > 0);
  assert.equal(e.stats().retained.count, 1);
  clock.pass(15);
  await until(() => lost.length > 1);
  assert.deepEqual(lost, [
    ['MILLRACE_E_EXPIRED', 'x', 1],
    ['MILLRACE_E_EXPIRED', 'x', 2],
  ]);
  assert.equal(e.stats().retained.expired, 2);
  assert.equal(e.stats().retained.count, 0);
});

test('after the age a late listener gets nothing', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ retain: { maxAge: 1 }, onLost: () => {} });
  e.emit('x', 1);
  await until(() => e.stats().retained.expired === 1);
  e.on('x', on('x'));
  await turn();
  assert.deepEqual(log, []);
});

test('turning retention off lets what is kept expire at once', async () => {
  const lost = [];
  const e = await withThree({ onLost: (error, type, args) => lost.push([error.code, ...args]) });
  e.configure('x', { retain: false });
  assert.deepEqual(lost, [
    ['MILLRACE_E_EXPIRED', 1],
    ['MILLRACE_E_EXPIRED', 2],
    ['MILLRACE_E_EXPIRED', 3],
  ]);
});

test('under direct events are retained and replayed as well', async () => {
  const { log, on } = recorder();
  const e = new BatchEmitter({ policy: 'direct', retain: true });
  assert.equal(e.emit('x', 1), true, 'retained');
  e.on('x', on('x'));
  assert.equal(e.emit('x', 2), true);
  assert.deepEqual(log, [
    ['x', 1],
    ['x', 2],
  ]);
});

test('several thousand types with retained events are kept and replayed', async () => {
  const e = new BatchEmitter({ retain: true });
  const types = 5000;
  for (let i = 0; i < types; i++) e.emit(`type ${i}`, i);
  await turn();
  await until(() => e.queued() === 0);
  assert.equal(e.stats().retained.count, types);
  let sum = 0;
  for (let i = 0; i < types; i++) e.once(`type ${i}`, (n) => (sum += n));
  await turn();
  assert.equal(e.stats().retained.count, 0);
  assert.equal(sum, (types * (types - 1)) / 2);
});

test('events that a replaced handler retains anew go to the handler that replaces it', async () => {
  const e = new BatchEmitter({ policy: 'direct', retain: true });
  const got = [];
  e.emit('x', 1);
  const second = (n) => got.push(`second ${n}`);
  const first = (n) => {
    got.push(`first ${n}`);
    e.off('x', first);
    e.emit('x', 2);
    e.on('x', second);
  };
  e.on('x', first);
  await turn();
  await turn();
  assert.deepEqual(got, ['first 1', 'second 2']);
  e.close();
});
