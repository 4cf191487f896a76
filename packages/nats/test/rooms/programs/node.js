/** A node with real sockets, in a process of its own: it does what the test asks, and keeps what its members receive. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { wallClock } from '../../../../base/test/clocks.js';
import { Hall } from '../../../../millrace/test/ws/hall.js';
import { answer, say } from '../../talk.js';
import { roomsAcross } from '../fleet.js';

// As on a machine whose clock is wrong.
const skewMs = Number(process.env.SKEW_MS || 0);
const { now } = wallClock;
wallClock.now = () => now() + skewMs;

const changes = [];
const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const hall = new Hall(server);
const rooms = roomsAcross({
  broker: process.env.BROKER,
  heartbeat: 100,
  onPresence: (change) => changes.push(change),
  ...JSON.parse(process.env.OPTIONS || '{}'),
});
const failure = await rooms.ready().then(
  () => null,
  ({ code }) => code,
);
say({ node: rooms.stats().across.node, failure });

const peers = [];
answer({
  async join({ room, presence }) {
    const peer = await hall.connect();
    peers.push(peer);
    rooms.join(peer.server, room, presence);
    await rooms.ready();
  },
  /** Messages `from` to `to` - 1, some in each turn. */
  async publish({ room, from = 0, to, perTurn = 10 }) {
    for (let n = from; n < to; n++) {
      rooms.publish(room, `${n}`);
      if (n % perTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  },
  acknowledged: () => rooms.acknowledged(),
  received: () => peers.map(({ received }) => received.map(Number)),
  count: () => peers.map(({ received }) => received.length),
  leave: ({ peer }) => peers[peer].client.close(),
  presence: ({ room }) => rooms.presence(room),
  changes: () => changes.splice(0),
  fleet: () => rooms.stats().across,
  async close() {
    rooms.close();
    await rooms.closed();
    for (const { client } of peers) client.terminate();
    server.close();
  },
});
