/** Rounds of random traffic to one client that now and then does not read: its backlog goes on by itself, to the last byte. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Rooms } from 'millrace/ws';
import { openHall, randomFrom, range, turn } from './hall.js';

const priorities = ['high', 'normal', 'low'];
const sizes = [10, 200, 5000, 15_000, 20_000, 70_000, 200_000];
/** Bytes that a round publishes: more than the buffers of the kernel. */
const roundBytes = 8_000_000;
/** Longer than any timer by which a backlog may be woken, so that those have run when this one has. */
const wakeMs = 50;

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Waits until the client has everything. False if it stalls: nothing is under way to it, it has handled what was, every timer
 * that could wake the rest has run, and still nothing has come.
 */
async function arrives(peer, count) {
  for (let before = -1; peer.received.length < count; ) {
    await later(wakeMs);
    if (peer.server.bufferedAmount > 0) continue;
    await peer.fence();
    const isIdle = peer.server.bufferedAmount === 0 && peer.received.length === before;
    if (isIdle && before < count) return false;
    before = peer.received.length;
  }
  return true;
}

/** One round. The messages of a class arrive in order; between classes the order is that of the queue and of the backlog. */
async function round(hall, rooms, random, clientOptions) {
  const below = (n) => Math.floor(random() * n);
  const peer = await hall.connect(clientOptions);
  rooms.join(peer.server, 'x');
  const published = { high: 0, normal: 0, low: 0 };
  let messages = 0;
  peer.socket.setNoDelay(true);
  peer.client.pause();
  for (let bytes = 0; bytes < roundBytes; ) {
    for (let left = 1 + below(30); left > 0; left--) {
      const priority = priorities[below(3)];
      const size = sizes[below(sizes.length)];
      rooms.publish('x', `${priority} ${published[priority]++} `.padEnd(size, '.'), { priority });
      messages++;
      bytes += size;
    }
    await turn();
    if (below(10) > 0) continue;
    peer.client.resume();
    await later(below(4));
    if (below(2) === 0) peer.client.pause();
  }
  peer.client.resume();
  const isWhole = await arrives(peer, messages);
  const { received } = peer;
  for (const priority of priorities) {
    const own = received.filter((text) => text.startsWith(priority));
    const numbers = own.map((text) => Number(text.split(' ', 2)[1]));
    assert.deepEqual(numbers, range(numbers.length), `${priority} messages are in order`);
  }
  assert.deepEqual(peer.errors, []);
  assert.equal(peer.closeCode, null);
  const closed = once(peer.server, 'close');
  peer.client.terminate();
  await closed;
  hall.peers.length = 0;
  return { isWhole, arrived: received.length, messages };
}

/** Kinds of connections whose backlogs are woken in different ways. */
export const kinds = {
  plain: {},
  deflate: { perMessageDeflate: true },
  // The stream takes more than a piece of a backlog without ever asking to wait.
  'plain with a large stream buffer': { highWaterMark: 1024 * 1024 },
};

/** Plays `rounds` rounds and asserts that none of them stalls. */
export async function play(t, kind, rounds, seed) {
  const { perMessageDeflate = false, highWaterMark } = kinds[kind];
  const server = createServer({ highWaterMark });
  const hall = await openHall(t, { perMessageDeflate }, server);
  const all = new Rooms({ maxPending: 64 * 1024 * 1024 });
  t.after(() => all.close());
  for (const n of range(rounds)) {
    const of = `round ${n} of seed ${seed}`;
    const result = await round(hall, all, randomFrom(seed + n), { perMessageDeflate });
    assert.ok(result.isWhole, `${of} stalls: ${result.arrived} of ${result.messages} have come`);
  }
  assert.equal(all.stats().slowClosed, 0);
}
