/** Members that do not read: bounded in bytes, and nobody else waits for them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { beforeEach, test } from 'node:test';
import timers from 'node:timers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { hold, openHall, range, stall, texts, turn } from './hall.js';

/** Timers of a second, by which rooms judge and end slow members. They run when a test says so: a second of a busy machine says nothing. */
const seconds = new Set();
const { setTimeout, clearTimeout } = timers;
timers.setTimeout = (run, ms, ...args) => {
  if (ms !== 1000) return setTimeout(run, ms, ...args);
  const timer = { run, unref: () => timer };
  seconds.add(timer);
  return timer;
};
timers.clearTimeout = (timer) => void (seconds.delete(timer) || clearTimeout(timer));
// They take those functions when they are loaded.
const { Rooms } = await import('millrace/ws');
const { stillClock } = await import('../../../base/test/clocks.js');

/** Runs the timers that are set now. */
function passSecond() {
  for (const timer of [...seconds]) if (seconds.delete(timer)) timer.run();
}

beforeEach(() => seconds.clear());

/** Bytes of a frame whose text is `tag` and padding; the header of 4 bytes is part of it. */
const frameBytes = 4096;
const text = (tag) => tag.padEnd(frameBytes - 4, '.');
const tags = (received) => texts(received).map((message) => message.replace(/\.+$/, ''));
const numbered = (letter, from, to) =>
  range(to)
    .slice(from)
    .map((n) => letter + n);

/** A stalled and a healthy socket in room `x`, of which the stalled one may leave `frames` frames untaken. */
async function setUp(t, { frames, slow = 'close', ...options }) {
  const hall = await openHall(t, options);
  const [stalled, healthy] = await hall.connectMany(2);
  await stall(stalled);
  const told = [];
  const base = stalled.server.bufferedAmount;
  const maxPending = base + frames * frameBytes;
  const rooms = new Rooms({
    maxPending,
    slow,
    maxDeferral: 3_600_000,
    onSlow: (info) => told.push(info),
  });
  for (const { server } of [stalled, healthy]) rooms.join(server, 'x');
  return { stalled, healthy, rooms, told, base, maxPending };
}

/** Publishes one message a turn and waits for the healthy member to have it: it never waits for the other. */
async function publishEach({ rooms, healthy }, letters, count, priority) {
  for (const tag of numbered(letters, 0, count)) {
    rooms.publish('x', text(tag), { priority });
    assert.deepEqual(tags(await healthy.take()), [tag]);
  }
}

test("'close' closes with 1013 and says so once", async (t) => {
  const hall = await setUp(t, { frames: 10 });
  const { stalled, rooms, told, maxPending } = hall;
  await publishEach(hall, 'n', 11);
  stalled.client.resume();
  assert.equal(await stalled.closed, 1013);
  assert.deepEqual(texts(stalled.received), []);
  await publishEach(hall, 'more', 10);
  assert.equal(told.length, 1);
  const { pendingBytes, ...info } = told[0];
  assert.deepEqual(info, { socket: stalled.server, action: 'closed', frames: 11, priority: null });
  assert.equal(pendingBytes, maxPending + frameBytes);
  assert.equal(rooms.stats().slowClosed, 1);
  assert.deepEqual(rooms.stats().dropped, { high: 0, normal: 11, low: 0 });
});

test('a member that does not even read its close is ended without it', async (t) => {
  const hall = await setUp(t, { frames: 10 });
  const closed = once(hall.stalled.server, 'close');
  await publishEach(hall, 'n', 11);
  passSecond();
  await closed;
  assert.equal(hall.rooms.size('x'), 1);
  assert.equal(hall.rooms.stats().members, 1);
});

test('exactly at the bound nobody is slow', async (t) => {
  const hall = await setUp(t, { frames: 10 });
  await publishEach(hall, 'n', 10);
  assert.equal(hall.told.length, 0);
  hall.stalled.client.resume();
  await hall.stalled.until((received) => texts(received).length === 10);
  assert.deepEqual(tags(hall.stalled.received), numbered('n', 0, 10));
});

test("'drop-low' drops the oldest LOW and keeps the others in order", async (t) => {
  const hall = await setUp(t, { frames: 150, slow: 'drop-low' });
  const { stalled, healthy, rooms, told, maxPending } = hall;
  for (const n of range(60)) {
    rooms.publish('x', text(`l${n}`), { priority: 'low' });
    rooms.publish('x', text(`n${n}`));
    rooms.publish('x', text(`h${n}`), { priority: 'high' });
    assert.deepEqual(tags(await healthy.take()), [`h${n}`, `n${n}`, `l${n}`]);
  }
  assert.deepEqual(rooms.stats().dropped, { high: 0, normal: 0, low: 30 });
  assert.equal(
    told.reduce((sum, { frames }) => sum + frames, 0),
    30,
  );
  for (const { socket, action, priority, pendingBytes } of told) {
    assert.deepEqual([socket, action, priority], [stalled.server, 'dropped', 'low']);
    assert.ok(pendingBytes > maxPending && pendingBytes <= maxPending + 3 * frameBytes);
  }
  stalled.client.resume();
  await stalled.until((received) => texts(received).length === 150);
  assert.deepEqual(tags(stalled.received), [
    ...numbered('h', 0, 60),
    ...numbered('n', 0, 60),
    ...numbered('l', 30, 60),
  ]);
  rooms.publish('x', 'as before');
  assert.deepEqual((await stalled.take()).at(-1), 'as before');
});

test('messages for a slow member age with `maxDeferral`: with 0 they leave by arrival', async (t) => {
  const { stalled, healthy, rooms } = await setUp(t, { frames: 100 });
  const expected = [];
  for (const n of range(20)) {
    for (const [letter, priority] of [
      ['l', 'low'],
      ['n', 'normal'],
      ['h', 'high'],
    ]) {
      rooms.publish('x', text(letter + n), { priority });
      assert.deepEqual(tags(await healthy.take()), [letter + n]);
      expected.push(letter + n);
    }
  }
  rooms.set({ maxDeferral: 0 });
  stalled.client.resume();
  await stalled.until((received) => texts(received).length === expected.length);
  assert.deepEqual(tags(stalled.received), expected);
});

test("'drop-low' closes when only others are left", async (t) => {
  const hall = await setUp(t, { frames: 10, slow: 'drop-low' });
  await publishEach(hall, 'l', 5, 'low');
  await publishEach(hall, 'n', 11);
  const actions = hall.told.map(({ action, frames }) => `${action} ${frames}`);
  assert.deepEqual(actions, [...Array(5).fill('dropped 1'), 'closed 11']);
  hall.stalled.client.resume();
  assert.equal(await hall.stalled.closed, 1013);
});

test("'drop-normal' drops LOW, then NORMAL, and never HIGH", async (t) => {
  const hall = await setUp(t, { frames: 100, slow: 'drop-normal' });
  const { stalled, rooms, told } = hall;
  await publishEach(hall, 'n', 60);
  await publishEach(hall, 'l', 60, 'low');
  await publishEach(hall, 'h', 50, 'high');
  assert.deepEqual(rooms.stats().dropped, { high: 0, normal: 10, low: 60 });
  assert.ok(told.every(({ action }) => action === 'dropped'));
  assert.deepEqual([...new Set(told.map(({ priority }) => priority))], ['low', 'normal']);
  stalled.client.resume();
  await stalled.until((received) => texts(received).length === 100);
  assert.deepEqual(tags(stalled.received), [...numbered('h', 0, 50), ...numbered('n', 10, 60)]);
});

test("'drop-normal' closes when only HIGH is left", async (t) => {
  const hall = await setUp(t, { frames: 10, slow: 'drop-normal' });
  await publishEach(hall, 'n', 3);
  await publishEach(hall, 'h', 11, 'high');
  assert.equal(hall.told.at(-1).action, 'closed');
  hall.stalled.client.resume();
  assert.equal(await hall.stalled.closed, 1013);
});

/** A socket whose turn has left 8 MiB untaken, of which 1,000 bytes may be. Members are judged by a clock that the test moves. */
async function setUpLarge(t, stop = () => {}) {
  const clock = stillClock(t);
  const hall = await openHall(t);
  const peer = await hall.connect();
  stop(peer);
  const told = [];
  const rooms = new Rooms({ maxPending: 1000, onSlow: (info) => told.push(info) });
  rooms.join(peer.server, 'x');
  const parts = range(32).map((n) => String(n % 10).repeat(256 * 1024));
  for (const part of parts) rooms.publish('x', part);
  await turn();
  assert.equal(seconds.size, 1);
  const pass = (ms) => {
    clock.pass(ms);
    passSecond();
  };
  const arrives = async () => {
    await peer.until((received) => received.length === parts.length);
    assert.deepEqual(peer.received, parts);
    pass(1000);
    await turn();
    assert.deepEqual(told, []);
    assert.equal(rooms.stats().slowClosed, 0);
  };
  return { peer, rooms, told, parts, pass, arrives };
}

test('one write that is larger than every buffer is not slowness, where half of it is taken in a second', async (t) => {
  const { peer, parts, pass, arrives } = await setUpLarge(t);
  await peer.until((received) => received.length >= parts.length / 2);
  pass(1000);
  await arrives();
});

test('nor is it where the loop was blocked all the while', async (t) => {
  const { peer, pass, arrives } = await setUpLarge(t);
  assert.deepEqual(peer.received, []);
  pass(2000);
  assert.equal(seconds.size, 1);
  await arrives();
});

test('it is where less than half is taken', async (t) => {
  const { rooms, told, pass } = await setUpLarge(t, hold);
  pass(1000);
  await turn();
  assert.deepEqual(
    told.map(({ action }) => action),
    ['closed'],
  );
  assert.equal(rooms.stats().slowClosed, 1);
});

test('a member that leaves its room while it is slow still gets what was published before', async (t) => {
  const hall = await setUp(t, { frames: 50 });
  await publishEach(hall, 'n', 5);
  hall.rooms.publish('x', text('last'));
  hall.rooms.leave(hall.stalled.server);
  await turn();
  hall.stalled.client.resume();
  await hall.stalled.until((received) => texts(received).length === 6);
  assert.deepEqual(tags(hall.stalled.received), [...numbered('n', 0, 5), 'last']);
});

test('send obeys the same bound', async (t) => {
  const { stalled, rooms, told } = await setUp(t, { frames: 10 });
  for (const n of range(11)) {
    assert.equal(rooms.send(stalled.server, text(`s${n}`)), true);
    await turn();
  }
  assert.equal(told.length, 1);
  assert.equal(rooms.send(stalled.server, 'more'), false);
});

test('memory stays bounded while a slow member loses most of what is published', async (t) => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  const hall = await setUp(t, { frames: 200, slow: 'drop-low' });
  const { rooms, healthy } = hall;
  rooms.leave(healthy.server);
  gc();
  const before = process.memoryUsage().arrayBuffers;
  const published = 32 * 1024 * 1024;
  for (let bytes = 0; bytes < published; bytes += frameBytes * 64) {
    for (const tag of numbered('l', 0, 64)) rooms.publish('x', text(tag), { priority: 'low' });
    await turn();
  }
  // Twice: the first collection only hands the buffers over to be freed.
  gc();
  gc();
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(grown < 10 * 200 * frameBytes, `${grown} bytes`);
  assert.equal(rooms.stats().dropped.low, published / frameBytes - 200);
});

test('close leaves the backlog of a slow member to be taken, and its socket open', async (t) => {
  const hall = await setUp(t, { frames: 50 });
  const { stalled, rooms } = hall;
  const listeners = stalled.socket.listenerCount('drain');
  await publishEach(hall, 'n', 5);
  rooms.publish('x', text('last'));
  rooms.close();
  rooms.close();
  stalled.client.resume();
  await stalled.until((received) => texts(received).length === 6);
  assert.deepEqual(tags(stalled.received), [...numbered('n', 0, 5), 'last']);
  stalled.server.send('still open');
  await stalled.until((received) => received.at(-1) === 'still open');
  assert.equal(stalled.socket.listenerCount('drain'), listeners - 1);
});

for (const rooms of [1, 2]) {
  test(`one turn of more than a socket may leave untaken ends a client that never reads, in ${rooms} rooms`, async (t) => {
    const hall = await openHall(t);
    const [stalled] = await hall.connectMany(1);
    await stall(stalled);
    const told = [];
    const all = new Rooms({ maxPending: 64 * 1024, onSlow: (info) => told.push(info) });
    t.after(() => all.close());
    for (const n of range(rooms)) all.join(stalled.server, `r${n}`);
    const closed = new Promise((resolve) => stalled.server.once('close', resolve));
    const part = 'x'.repeat(256 * 1024);
    for (const n of range(120)) all.publish(`r${n % rooms}`, part);
    await turn();
    passSecond();
    await closed;
    assert.equal(told.length, 1);
    assert.equal(told[0].action, 'closed');
    assert.equal(all.stats().slowClosed, 1);
  });
}
