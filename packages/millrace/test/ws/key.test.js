// Messages with a key: in the queue of the rooms, and in the backlog of a slow member.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { stillClock } from '../../../base/test/clocks.js';
import { openHall, range, stall, texts, turn } from './hall.js';

/** Sockets in room `x`. Nothing gets old, and no client lags behind, however slow the machine is. */
async function setUp(t, members, options, hallOptions) {
  stillClock(t);
  const hall = await openHall(t, hallOptions);
  const peers = await hall.connectMany(members);
  const rooms = new Rooms(options);
  for (const { server } of peers) rooms.join(server, 'x');
  return { hall, peers, rooms };
}

describe('messages with a key in one turn', () => {
  test('leave as the latest, in the place of the first', async (t) => {
    const { peers, rooms } = await setUp(t, 2);
    rooms.publish('x', 'a1', { key: 'a' });
    rooms.publish('x', 'b1', { key: 'b' });
    rooms.publish('x', 'plain');
    rooms.publish('x', 'a2', { key: 'a' });
    rooms.publish('x', Buffer.from('b2'), { key: 'b' });
    for (const peer of peers) {
      assert.deepEqual(await peer.take(), ['a2', Buffer.from('b2'), 'plain']);
    }
    const { superseded, deliveries, queued } = rooms.stats();
    assert.deepEqual([superseded, deliveries, queued], [2, 6, 0]);
  });

  test('are apart by room, and by socket', async (t) => {
    const { peers, rooms } = await setUp(t, 2);
    const [one] = peers;
    rooms.join(one.server, 'y');
    rooms.publish('x', 'x', { key: 1 });
    rooms.publish('y', 'y1', { key: 1 });
    rooms.send(one.server, 'own1', { key: 1 });
    rooms.publish('y', 'y2', { key: 1 });
    rooms.send(one.server, 'own2', { key: 1 });
    assert.deepEqual(await one.take(), ['x', 'y2', 'own2']);
    assert.deepEqual(await peers[1].take(), ['x']);
  });

  test('of another class leave with their class', async (t) => {
    const { peers, rooms } = await setUp(t, 1);
    rooms.publish('x', 'a1', { key: 'a', priority: 'low' });
    rooms.publish('x', 'b1', { key: 'b', priority: 'high' });
    rooms.publish('x', 'plain');
    rooms.publish('x', 'a2', { key: 'a', priority: 'high' });
    rooms.publish('x', 'b2', { key: 'b', priority: 'low' });
    assert.deepEqual(await peers[0].take(), ['a2', 'plain', 'b2']);
  });

  test('reach everybody for whom they are, whoever else they leave out', async (t) => {
    const { peers, rooms } = await setUp(t, 3);
    const [one, two, three] = peers;
    rooms.publish('x', 'first', { key: 'k', except: one.server });
    rooms.publish('x', 'second', { key: 'k', except: one.server });
    rooms.publish('x', 'third', { key: 'k', except: two.server });
    rooms.publish('x', 'fourth', { key: 'k', except: two.server });
    assert.deepEqual(await one.take(), ['fourth']);
    assert.deepEqual(await two.take(), ['second']);
    assert.deepEqual(await three.take(), ['second', 'fourth']);
    rooms.publish('x', 'fifth', { key: 'k', except: one.server });
    rooms.publish('x', 'sixth', { key: 'k' });
    for (const peer of peers) assert.deepEqual(await peer.take(), ['sixth']);
  });

  test('reach who joined before the newer one, and who left before it', async (t) => {
    const { peers, rooms, hall } = await setUp(t, 2);
    const [stays, leaves] = peers;
    const comes = await hall.connect();
    rooms.publish('x', 'older', { key: 'k' });
    rooms.leave(leaves.server, 'x');
    rooms.join(comes.server, 'x');
    rooms.publish('x', 'newer', { key: 'k' });
    rooms.publish('x', 'newest', { key: 'k' });
    assert.deepEqual(await stays.take(), ['older', 'newest']);
    assert.deepEqual(await leaves.take(), ['older']);
    assert.deepEqual(await comes.take(), ['newest']);
    assert.equal(rooms.stats().superseded, 1);
  });

  test('do not keep a socket from its end', async (t) => {
    const { peers, rooms } = await setUp(t, 2);
    const [stays, ends] = peers;
    for (const priority of ['normal', 'high']) {
      rooms.publish('x', `older ${priority}`, { key: 1 });
      rooms.publish('x', `other ${priority}`, { key: 2 });
      if (priority === 'normal') rooms.end(ends.server, 4000);
      rooms.publish('x', `newer ${priority}`, { key: 1, priority });
      rooms.publish('x', `newest ${priority}`, { key: 1, priority });
      await turn();
    }
    assert.equal(await ends.closed, 4000);
    assert.deepEqual(ends.received, ['older normal', 'other normal']);
    const wanted = ['older normal', 'other normal', 'newest normal', 'newest high', 'other high'];
    assert.deepEqual(await stays.take(), wanted);
  });

  test('of any type are keys, also under direct, where none is superseded', async (t) => {
    const { peers, rooms } = await setUp(t, 1);
    for (const key of [null, 0, Number.NaN, {}, Symbol('k')]) {
      rooms.publish('x', 'older', { key });
      rooms.publish('x', String(key), { key });
    }
    assert.deepEqual(await peers[0].take(), ['null', '0', 'NaN', '[object Object]', 'Symbol(k)']);
    rooms.set({ policy: 'direct' });
    rooms.publish('x', 'one', { key: 1 });
    rooms.publish('x', 'two', { key: 1 });
    assert.deepEqual(await peers[0].take(), ['one', 'two']);
  });
});

for (const perMessageDeflate of [false, true]) {
  describe(`messages with a key for a slow member, ${perMessageDeflate ? '' : 'not '}compressed`, () => {
    test('wait as the latest of each, the others as ever', async (t) => {
      const { peers, rooms } = await setUp(t, 2, {}, { perMessageDeflate });
      const [slow, healthy] = peers;
      slow.client.pause();
      rooms.publish('x', 'first', { key: 'first' });
      // More than a window.
      rooms.publish('x', Buffer.alloc(20_000));
      rooms.publish('x', 'plain 1');
      for (const n of range(50)) {
        for (const key of ['a', 'b']) rooms.publish('x', `${key}${n}`, { key });
        await healthy.until((received) => received.at(-1) === `b${n}`);
      }
      rooms.publish('x', 'plain 2');
      rooms.publish('x', 'a high', { key: 'a', priority: 'high' });
      await healthy.until((received) => received.at(-1) === 'plain 2');
      const { slowSuperseded } = rooms.stats();
      assert.equal(slowSuperseded, 2 * 49 + 1);
      slow.client.resume();
      await slow.until((received) => received.includes('plain 2'));
      assert.deepEqual(texts(slow.received), ['first', 'a high', 'plain 1', 'b49', 'plain 2']);
    });
  });
}

describe('a member that does not read', () => {
  test('costs no more than its keys, and stays', async (t) => {
    const { peers, rooms } = await setUp(t, 1, { maxPending: 64 * 1024 * 1024 });
    const [slow] = peers;
    await stall(slow);
    const base = slow.server.bufferedAmount;
    // Classes that change leave empty places, which must not add up either.
    for (const n of range(200)) {
      const priority = n % 2 === 0 ? 'low' : 'normal';
      for (const key of range(100)) {
        rooms.publish('x', `${key}:${n}`.padEnd(100, '.'), { key, priority });
      }
      rooms.flush();
    }
    assert.equal(rooms.stats().slowSuperseded, 199 * 100);
    assert.equal(rooms.stats().slowClosed, 0);
    // The ping is all that was added.
    assert.ok(slow.server.bufferedAmount < base + 100);
    slow.client.resume();
    await slow.until((received) => texts(received).length === 100);
    assert.ok(texts(slow.received).every((text) => text.includes(':199.')));
  });

  test('has at most one window of them on its way, from the first on', async (t) => {
    const { peers, rooms } = await setUp(t, 2);
    const [slow, healthy] = peers;
    slow.client.pause();
    const sentTo = (peer) => peer.socket.bytesWritten;
    const before = sentTo(slow);
    for (const n of range(100)) {
      for (const key of range(20)) rooms.publish('x', `${key}:${n}`.padEnd(98, '.'), { key });
      await healthy.take();
    }
    // 2 KiB, the pings, and a message that reaches beyond the window.
    assert.ok(sentTo(slow) - before < 3000, `${sentTo(slow) - before}`);
    slow.client.resume();
    await slow.until((received) => received.at(-1)?.startsWith('19:99'));
    const last = new Map(texts(slow.received).map((text) => text.split('.')[0].split(':')));
    assert.deepEqual(new Set(last.values()), new Set(['99']));
    assert.ok(slow.received.length < 400, `${slow.received.length}`);
  });

  for (const act of ['close', 'end']) {
    test(`gets all that is left when ${act === 'close' ? 'the rooms are closed' : 'it is ended'}`, async (t) => {
      const { peers, rooms } = await setUp(t, 2);
      const [slow, healthy] = peers;
      slow.client.pause();
      for (const key of range(400)) rooms.publish('x', `${key}`.padEnd(98, '.'), { key });
      await healthy.take();
      if (act === 'close') rooms.close();
      else rooms.end(slow.server);
      slow.client.resume();
      if (act === 'end') await slow.closed;
      await slow.until((received) => received.length === 400);
    });
  }
});

describe('maxLag', () => {
  test('is measured by pings, which only members with keyed messages get', async (t) => {
    const { peers, rooms } = await setUp(t, 1);
    const [{ client }] = peers;
    let pings = 0;
    client.on('ping', () => pings++);
    rooms.publish('x', 'plain');
    await peers[0].take();
    assert.equal(pings, 1);
    const asked = once(client, 'ping');
    rooms.publish('x', 'keyed', { key: 1 });
    assert.match(String((await asked)[0]), /^millrace \d+$/);
    assert.deepEqual(await peers[0].take(), ['keyed']);
  });

  test('0 sends no pings and keeps nothing back', async (t) => {
    const { peers, rooms } = await setUp(t, 1, { maxLag: 0 });
    const [{ client, socket }] = peers;
    client.on('ping', () => assert.fail('a ping'));
    client.pause();
    for (const n of range(100)) {
      for (const key of range(20)) rooms.publish('x', `${key}:${n}`.padEnd(98, '.'), { key });
      rooms.flush();
      await turn();
    }
    assert.ok(socket.bytesWritten > 200_000);
    client.resume();
    await peers[0].until((received) => received.length === 2000);
  });

  test('makes no member slow: more than maxPending leaves as without it', async (t) => {
    const { peers, rooms } = await setUp(t, 2, { maxPending: 20_000 });
    const [slow, healthy] = peers;
    slow.client.pause();
    rooms.publish('x', 'keyed', { key: 1 });
    for (const n of range(20)) {
      rooms.publish('x', `${n}`.padEnd(10_000, '.'));
      await healthy.take();
    }
    assert.equal(rooms.stats().slowClosed, 0);
    slow.client.resume();
    await slow.until((received) => received.length === 21);
    assert.deepEqual(
      slow.received.slice(1).map((text) => Number.parseInt(text, 10)),
      range(20),
    );
  });

  test('is refused out of its range', () => {
    assert.throws(() => new Rooms({ maxLag: -1 }), { code: 'MILLRACE_E_INVALID_OPTION' });
    assert.throws(() => new Rooms({ maxLag: 60_001 }), { code: 'MILLRACE_E_INVALID_OPTION' });
  });
});
