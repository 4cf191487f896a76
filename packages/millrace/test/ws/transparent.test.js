/** The gathering of `millrace/auto`: an application sees what it sees with ws as it is, and only the writes are fewer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { install } from 'millrace/ws';
import { Sender, WebSocket } from 'ws';
import { beginBroadcast, endBroadcast, installAutomatically } from '../../dist/ws/transparent.js';
import { openHall, range, stall, turn } from './hall.js';

/** `count` peers, the gathering of auto in force until the test ends. */
async function setUp(t, count) {
  const hall = await openHall(t);
  const installation = installAutomatically(WebSocket, {});
  t.after(() => installation.uninstall());
  return { installation, peers: await hall.connectMany(count) };
}

/** Turns with several frames for each socket: after the first one there is a demand, after the second frames of a turn are gathered. */
async function warm(peers) {
  for (const _ of range(2)) {
    for (const text of ['a', 'b', 'c']) for (const { server } of peers) server.send(text);
    for (const peer of peers) assert.deepEqual(await peer.take(), ['a', 'b', 'c']);
  }
}

test('the first frame of a turn leaves inside send; the others wait where the last turn had several too', async (t) => {
  const { installation, peers } = await setUp(t, 1);
  const [peer] = peers;
  /** Writes after each of so many frames, and at the end of their turn. */
  const writesOf = async (frames) => {
    const { writes } = installation.stats();
    const counts = range(frames).map((n) => {
      peer.server.send(`${n}`);
      return installation.stats().writes - writes;
    });
    await turn();
    assert.deepEqual(
      await peer.take(),
      range(frames).map((n) => `${n}`),
    );
    return [...counts, installation.stats().writes - writes];
  };
  assert.deepEqual(await writesOf(3), [1, 2, 3, 3]);
  assert.deepEqual(await writesOf(4), [1, 1, 1, 1, 2]);
  assert.deepEqual(await writesOf(1), [1, 1]);
  assert.deepEqual(await writesOf(2), [1, 2, 2]);
  assert.deepEqual(await writesOf(2), [1, 1, 2]);
});

test('while a broadcast runs, the first frames wait too, and leave at its end', async (t) => {
  const { installation, peers } = await setUp(t, 3);
  const writes = () => installation.stats().writes;
  await warm(peers);
  const before = writes();
  beginBroadcast();
  for (const { server } of peers) server.send('1');
  assert.equal(writes() - before, 0);
  // Another one within it, which ends first.
  beginBroadcast();
  peers[0].server.send('2');
  endBroadcast();
  assert.equal(writes() - before, 3);
  peers[0].server.send('3');
  assert.equal(writes() - before, 3);
  endBroadcast();
  assert.equal(writes() - before, 4);
  for (const [n, expected] of [['1', '2', '3'], ['1'], ['1']].entries()) {
    assert.deepEqual(await peers[n].take(), expected);
  }
  await turn();
  beginBroadcast();
  peers[1].server.send('alone in the turn before');
  assert.equal(writes() - before, 5);
  endBroadcast();
  assert.deepEqual(await peers[1].take(), ['alone in the turn before']);
});

test('a broadcast to many sockets leaves in portions of 256', async (t) => {
  const { installation, peers } = await setUp(t, 300);
  await warm(peers);
  const { writes } = installation.stats();
  beginBroadcast();
  const counts = peers.map(({ server }) => {
    server.send('1');
    return installation.stats().writes - writes;
  });
  assert.deepEqual([counts[254], counts[255], counts[298], counts[299]], [0, 256, 256, 256]);
  endBroadcast();
  assert.equal(installation.stats().writes - writes, 300);
  for (const peer of peers) assert.deepEqual(await peer.take(), ['1']);
});

test('content that many sockets are sent is encoded once, at once and later', async (t) => {
  const { installation, peers } = await setUp(t, 4);
  await warm(peers);
  const before = installation.stats();
  const options = { fin: true, rsv1: false, mask: false, readOnly: false, opcode: 1 };
  const encoded = Sender.frame(Buffer.from('encoded'), options);
  for (const n of range(3)) for (const { server } of peers) server.send(`${n}`);
  for (const { server } of peers) server._sender.sendFrame(encoded);
  const inside = installation.stats();
  assert.deepEqual(
    [inside.frames - before.frames, inside.encoded - before.encoded],
    [4 * peers.length, 4],
  );
  assert.equal(inside.writes - before.writes, peers.length);
  for (const peer of peers) assert.deepEqual(await peer.take(), ['0', '1', '2', 'encoded']);
  assert.equal(installation.stats().writes - before.writes, 2 * peers.length);
});

test('the encoded content of a turn is bounded: after 16 MB, content is encoded again', async (t) => {
  const { installation, peers } = await setUp(t, 18);
  const { encoded } = installation.stats();
  peers[0].server.send('same');
  for (const { server } of peers.slice(1, -1))
    server.send(`${installation.stats().frames}`.padEnd(1 << 20));
  assert.equal(installation.stats().encoded - encoded, 17);
  peers.at(-1).server.send('same');
  assert.equal(installation.stats().encoded - encoded, 18);
  assert.deepEqual(await peers.at(-1).take(), ['same']);
  for (const peer of peers.slice(1, -1)) await peer.until((received) => received.length === 1);
});

/** Each callback, tick and microtask of a turn that uses the sockets in all ways, in order. */
async function orderOf(peers) {
  await warm(peers);
  const [{ server: one }, { server: other }] = peers;
  const log = [];
  const note =
    (name) =>
    (...args) =>
      log.push([name, ...args]);
  const twice = note('same function');
  one.send('1', note('1'));
  process.nextTick(note('tick 1'));
  other.send('1', note('1, other'));
  one.send('2', twice);
  process.nextTick(() => {
    log.push(['tick 2']);
    one.send('3', note('3'));
    process.nextTick(note('tick 3'));
  });
  one.send('4', twice);
  queueMicrotask(note('microtask'));
  one.ping('5', false, note('ping'));
  one.send('6', { fin: false }, note('6'));
  one.send('7', { fin: true }, note('7'));
  other.send(Buffer.from('8'), note('8, other'));
  one.send('9');
  one.send('10', note('10'));
  process.nextTick(note('tick 4'));
  setImmediate(() => log.push(['immediate']));
  await turn();
  one.send('11', note('11'));
  one.send('12', note('12'));
  await null;
  await null;
  log.push(['microtasks']);
  one.send('13', note('13'));
  await new Promise((resolve) => process.nextTick(resolve));
  log.push(['tick 5']);
  await turn();
  await Promise.all(peers.map((peer) => peer.fence()));
  return log;
}

test('callbacks come in the tick in which they come with ws as it is', async (t) => {
  const hall = await openHall(t);
  const expected = await orderOf(await hall.connectMany(2));
  const { peers, installation } = await setUp(t, 2);
  assert.deepEqual(await orderOf(peers), expected);
  const { frames, writes } = installation.stats();
  assert.ok(writes < frames);
});

test('bufferedAmount and bytesWritten count each frame at once', async (t) => {
  const { peers, installation } = await setUp(t, 1);
  const [{ server, socket }] = peers;
  await warm(peers);
  const { bytesWritten } = socket;
  const { writes } = installation.stats();
  for (const n of range(5)) server.send(`${n}`);
  assert.equal(installation.stats().writes - writes, 1, 'some are gathered');
  assert.equal(socket.bytesWritten - bytesWritten, 15);
  assert.equal((await peers[0].take()).length, 5);
  for (const n of range(5)) server.send(`${n}`);
  await stall(peers[0]);
  let amount = server.bufferedAmount;
  assert.ok(amount > 0);
  for (const text of ['123', '456', '789']) {
    server.send(text);
    amount += 5;
    assert.equal(server.bufferedAmount, amount);
  }
});

test('an application that sends until bufferedAmount grows sees it grow', async (t) => {
  const { peers } = await setUp(t, 1);
  const [peer] = peers;
  await warm(peers);
  peer.client.pause();
  let sent = 0;
  while (peer.server.bufferedAmount === 0) peer.server.send(`${sent++}`.padEnd(600));
  peer.client.resume();
  await peer.until((received) => received.length === sent);
  assert.deepEqual(peer.received.map(Number), range(sent));
});

test("a turn's frames do not fill the stream, whatever they add up to: no drain is due", async (t) => {
  const { peers, installation } = await setUp(t, 1);
  const [peer] = peers;
  await warm(peers);
  let drains = 0;
  peer.socket.on('drain', () => drains++);
  const { writes } = installation.stats();
  const text = 'x'.repeat(peer.socket.writableHighWaterMark / 4);
  for (const _ of range(9)) peer.server.send(text);
  assert.equal(peer.socket.writableNeedDrain, false);
  assert.deepEqual(await peer.take(), Array(9).fill(text));
  assert.equal(drains, 0);
  assert.ok(installation.stats().writes - writes < 9);
});

/** For frames around the size of the stream's buffer: whether the stream counts as full after each, and how often it drains. */
async function fullness(peers) {
  await warm(peers);
  const [{ server, socket }] = peers;
  let drains = 0;
  socket.on('drain', () => drains++);
  const header = 4;
  const lengths = [-1, 0, 1].map((more) => socket.writableHighWaterMark - header + more);
  const seen = [];
  for (const length of [...lengths, 200_000]) {
    for (const data of ['x'.repeat(length), Buffer.alloc(length)]) {
      server.send(data);
      seen.push([socket.writableNeedDrain, drains]);
      await turn();
      seen.push([socket.writableNeedDrain, drains]);
    }
  }
  return seen;
}

test('a large frame fills the stream, which drains, as with ws as it is', async (t) => {
  const hall = await openHall(t);
  const expected = await fullness(await hall.connectMany(1));
  const { peers } = await setUp(t, 1);
  assert.deepEqual(await fullness(peers), expected);
  assert.ok(expected.some(([isFull]) => isFull));
});

test('a replaced write of a socket is called as by ws', async (t) => {
  const arms = [];
  for (const SetUp of [openHall, (t) => setUp(t, 1)]) {
    const set = await SetUp(t);
    const [peer] = set.peers.length > 0 ? set.peers : await set.connectMany(1);
    await warm([peer]);
    for (const text of ['0', '1', '2']) peer.server.send(text);
    const chunks = peer.writes();
    for (const text of ['3', '4', '5']) peer.server.send(text);
    await turn();
    // Before the ping by which the end of what was sent is known.
    arms.push([...chunks]);
    assert.deepEqual(await peer.take(), ['0', '1', '2', '3', '4', '5']);
    const { socket } = peer;
    socket.write = () => {
      throw new Error('injected: cannot write');
    };
    assert.throws(() => peer.server.send('6'), { message: 'injected: cannot write' });
    delete socket.write;
  }
  assert.deepEqual(arms[1], arms[0]);
});

test("an application's own install() comes in the place of what auto has installed", async (t) => {
  const { installation, peers } = await setUp(t, 1);
  const [{ server }] = peers;
  const { get } = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'bufferedAmount');
  assert.equal(installAutomatically(WebSocket, {}), installation);
  const own = install(WebSocket);
  t.after(() => own.uninstall());
  assert.notEqual(own, installation);
  assert.equal(installAutomatically(WebSocket, {}), null);
  assert.notEqual(
    Object.getOwnPropertyDescriptor(WebSocket.prototype, 'bufferedAmount').get,
    get,
    'its bufferedAmount is that of ws again',
  );
  installation.uninstall();
  server.send('1');
  assert.equal(own.stats().writes, 0, 'nothing leaves inside send');
  assert.deepEqual(await peers[0].take(), ['1']);
  own.uninstall();
  server.send('2');
  assert.deepEqual(await peers[0].take(), ['2']);
  assert.equal(own.stats().frames, 1);
});

test('with maxDelay it is the gathering of install(), which a program may notice', async (t) => {
  const hall = await openHall(t);
  const installation = installAutomatically(WebSocket, { maxDelay: 1 });
  t.after(() => installation.uninstall());
  const [peer] = await hall.connectMany(1);
  peer.server.send('1');
  assert.equal(installation.stats().writes, 0);
  await peer.until((received) => received.length === 1);
  assert.equal(installation.stats().writes, 1);
});
