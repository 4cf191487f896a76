/** `end` closes a socket once it has everything that was published to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, range, stall, texts } from './hall.js';

/** Two sockets in room `x`. */
async function setUp(t, options) {
  const hall = await openHall(t);
  const peers = await hall.connectMany(2);
  const rooms = new Rooms(options);
  t.after(() => rooms.close());
  for (const { server } of peers) rooms.join(server, 'x');
  const reasons = peers.map(
    ({ client }) =>
      new Promise((resolve) => client.on('close', (code, reason) => resolve(`${code} ${reason}`))),
  );
  return { peers, rooms, reasons };
}

test('messages published before arrive before the close', async (t) => {
  const { peers, rooms, reasons } = await setUp(t);
  const [a, b] = peers;
  rooms.publish('x', '1');
  rooms.send(a.server, '2');
  assert.equal(rooms.end(a.server, 4001, 'enough'), true);
  assert.equal(rooms.end(a.server, 4002, 'the first counts'), true);
  assert.equal(await reasons[0], '4001 enough');
  assert.deepEqual(a.received, ['1', '2']);
  assert.deepEqual(a.errors, []);
  assert.equal(rooms.end(a.server), false);
  rooms.publish('x', '3');
  assert.deepEqual(await b.take(), ['1', '3']);
});

test('with nothing queued the socket closes at once', async (t) => {
  const { peers, rooms, reasons } = await setUp(t);
  const [a] = peers;
  assert.equal(rooms.end(a.server), true);
  assert.equal(a.server.readyState, 2);
  assert.equal(rooms.send(a.server, 'too late'), false);
  assert.equal(await reasons[0], '1005 ');
  assert.deepEqual(a.received, []);
});

test('all batches of a flush leave first', async (t) => {
  const { peers, rooms, reasons } = await setUp(t, { maxBatch: 2 });
  for (const n of range(7)) rooms.publish('x', `${n}`);
  rooms.end(peers[0].server, 1000);
  rooms.flush();
  assert.equal(await reasons[0], '1000 ');
  assert.deepEqual(peers[0].received, range(7).map(String));
});

test('a hold is waited for', async (t) => {
  const { peers, rooms, reasons } = await setUp(t, { policy: 'fixed', maxDelay: 60_000 });
  const [a] = peers;
  rooms.publish('x', '1');
  rooms.end(a.server, 1000);
  assert.deepEqual(await a.take(), []);
  assert.equal(a.server.readyState, 1);
  rooms.flush();
  assert.equal(await reasons[0], '1000 ');
  assert.deepEqual(a.received, ['1']);
});

for (const closes of [false, true]) {
  test(`a slow socket gets its backlog first${closes ? ', even if the rooms are closed' : ''}`, async (t) => {
    const { peers, rooms, reasons } = await setUp(t);
    const [a] = peers;
    await stall(a);
    for (const n of range(5)) rooms.publish('x', `${n}`);
    rooms.end(a.server, 1000, 'done');
    rooms.flush();
    if (closes) rooms.close();
    assert.equal(a.server.readyState, 1);
    a.client.resume();
    assert.equal(await reasons[0], '1000 done');
    assert.deepEqual(texts(a.received), range(5).map(String));
  });
}

test('close of the rooms closes those that were ended, after what is queued', async (t) => {
  const { peers, rooms, reasons } = await setUp(t, { policy: 'fixed', maxDelay: 60_000 });
  rooms.publish('x', '1');
  rooms.end(peers[0].server, 1000);
  rooms.close();
  assert.equal(await reasons[0], '1000 ');
  assert.deepEqual(peers[0].received, ['1']);
  assert.deepEqual(await peers[1].take(), ['1']);
});
