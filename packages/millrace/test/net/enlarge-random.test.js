/** Random programs on enlarged sockets, many at a time: each reads what was sent to it, as far as it reads. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { coalesce, enlarge } from 'millrace/net';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { chunksOf, digestOf, send } from './bulk.js';
import { range, turn } from './pair.js';

const sizes = [4096, 10_000, 65_536, 262_144, 1 << 20];

function randomOptions(random) {
  const [a, b] = [sizes[random(5)], sizes[random(5)]];
  return {
    minRead: Math.min(a, b),
    maxRead: Math.max(a, b),
    growAfter: 1 + random(3),
    shrinkAfter: 1 + random(5),
    raiseAfter: 1 + random(3),
    receiveBuffer: [0, 100_000, undefined][random(3)],
    maxTurn: [0, undefined, 1 << 21][random(3)],
  };
}

/** What may happen to a socket at any moment. */
const steps = {
  enlarge: (it, random) => {
    it.enlarged = enlarge(it.socket, randomOptions(random));
  },
  off: (it) => it.enlarged.off(),
  stats: (it) => {
    const stats = it.enlarged.stats();
    if (stats !== null) assert.ok(stats.bytes <= it.socket.bytesRead);
  },
  pause: (it) => it.socket.pause(),
  resume: (it) => it.socket.resume(),
  'pause and resume': (it) => it.socket.pause().resume(),
  'stop the handle': (it) => {
    if (it.socket._handle?.reading) {
      it.socket._handle.readStop();
      it.socket._handle.reading = false;
    }
  },
  coalesce: (it) => coalesce(it.socket),
  write: (it) => it.socket.writable && it.socket.write('answer'),
  wait: turn,
  'wait long': async () => {
    for (let n = 0; n < 5; n++) await turn();
  },
};
const names = Object.keys(steps);

/** One connection: reads to the end, or destroys it on the way; returns how many bytes came, and their digest. */
async function run(server, seed, bytes, random, endEarly) {
  const socket = connect({ ...server.address(), allowHalfOpen: random(2) === 0 });
  socket.on('error', () => {});
  const it = { socket, enlarged: enlarge(socket, randomOptions(random)) };
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const ended = new Promise((resolve) => socket.once('end', resolve));
  const hash = createHash('sha256');
  let received = 0;
  const over = Promise.race([closed, ended]);
  await once(socket, 'connect');
  socket.write(`${seed} ${bytes}\n`);
  let here = random(3);
  socket.on('data', (chunk) => {
    hash.update(chunk);
    received += chunk.length;
    // Some steps from within the callback of a read.
    if (here-- > 0) steps[names[random(8)]](it, random);
  });
  for (let n = random(40); n > 0 && !socket.destroyed; n--) {
    await steps[names[random(names.length)]](it, random);
    here = random(3);
  }
  if (endEarly) {
    [() => socket.destroy(), () => socket.resetAndDestroy()][random(2)]();
  } else {
    here = 0;
    socket.resume();
    // What stopped the handle does not start it again.
    if (socket._handle?.reading === false) socket._read();
    await over;
    socket.end();
  }
  await closed;
  assert.equal(it.enlarged.active, false);
  return { received, digest: hash.digest('hex') };
}

test('random programs', async (t) => {
  const server = createServer((peer) => {
    peer.on('error', () => {});
    let asked = '';
    peer.on('data', (text) => {
      const before = asked.includes('\n');
      asked += text;
      if (before || !asked.includes('\n')) return;
      const [seed, bytes] = asked.split('\n')[0].split(' ').map(Number);
      send(peer, chunksOf(bytes, seed)).then(() => peer.end());
    });
    if (Math.random() < 0.5) enlarge(peer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  for (const seed of seeds(6)) {
    const random = randomNumbers(seed);
    await Promise.all(
      range(8).map(async (n) => {
        const mine = randomNumbers(seed * 8 + n);
        const bytes = 1 + random([2000, 3_000_000][random(2)]);
        const endEarly = random(4) === 0;
        const result = await run(server, seed, bytes, mine, endEarly);
        const message = `seed ${seed}, socket ${n}`;
        if (endEarly) assert.ok(result.received <= bytes, message);
        else assert.equal(result.digest, digestOf(chunksOf(bytes, seed)), message);
      }),
    );
  }
});
