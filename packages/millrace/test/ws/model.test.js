/** Random turns against a model so simple that it is right at sight. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openHall, randomFrom, range, turn } from './hall.js';

const priorities = ['high', 'normal', 'low'];
const names = range(8).map((n) => `room ${n}`);

/** Every message is given to its receivers at once; what leaves together is sorted by class. */
class Model {
  #members = new Map(names.map((name) => [name, new Set()]));
  /** Per peer: what is queued, and what it has received. */
  #queued;
  received;

  constructor(count) {
    this.#queued = range(count).map(() => []);
    this.received = range(count).map(() => []);
  }

  join(peer, name) {
    this.#members.get(name).add(peer);
  }

  leave(peer, name) {
    for (const each of name === undefined ? names : [name]) this.#members.get(each).delete(peer);
  }

  /** Returns the number of receivers. */
  publish(name, text, priority, except) {
    const receivers = [...this.#members.get(name)].filter((peer) => peer !== except);
    for (const peer of receivers) this.send(peer, text, priority);
    return receivers.length;
  }

  send(peer, text, priority) {
    this.#queued[peer].push({ text, priority });
  }

  /** Everything queued leaves. */
  flush() {
    this.#queued.forEach((queued, peer) => {
      for (const priority of priorities) {
        const texts = queued.filter((message) => message.priority === priority);
        this.received[peer].push(...texts.map(({ text }) => text));
      }
      queued.length = 0;
    });
  }
}

/** `turns` turns of random calls to rooms and model. `leaves(turnHadHigh)` says whether a turn's end is a flush. */
async function play(t, { seed, options, turns = 150, leaves = () => true }) {
  const random = randomFrom(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const hall = await openHall(t);
  const peers = await hall.connectMany(20);
  const rooms = new Rooms({ maxDeferral: 3_600_000, ...options });
  const model = new Model(peers.length);
  const all = range(peers.length);
  let number = 0;
  let high = false;

  const actions = {
    join() {
      const [peer, name] = [pick(all), pick(names)];
      rooms.join(peers[peer].server, name);
      model.join(peer, name);
    },
    leave() {
      const [peer, name] = [pick(all), random() < 0.1 ? undefined : pick(names)];
      rooms.leave(peers[peer].server, name);
      model.leave(peer, name);
    },
    publish() {
      const [name, priority] = [pick(names), pick(priorities)];
      const except = random() < 0.2 ? pick(all) : undefined;
      const text = `${number++}`;
      // What is for nobody is not queued, and so ends no hold.
      high ||= priority === 'high' && rooms.size(name) > 0;
      const count = rooms.publish(name, text, { priority, except: peers[except]?.server });
      assert.equal(count, model.publish(name, text, priority, except));
    },
    send() {
      const [peer, priority] = [pick(all), pick(priorities)];
      const text = `${number++}`;
      rooms.send(peers[peer].server, text, { priority });
      model.send(peer, text, priority);
      high ||= priority === 'high';
    },
    flush() {
      rooms.flush();
      model.flush();
      high = false;
    },
  };
  const { join, leave, publish, send, flush } = actions;
  const odds = [...Array(6).fill(join), ...Array(4).fill(leave), ...Array(9).fill(publish), send];
  for (let n = 0; n < turns; n++) {
    const calls = Math.floor(random() * 40);
    for (let call = 0; call < calls; call++) pick(odds)();
    if (random() < 0.1) flush();
    await turn();
    if (leaves(high)) {
      model.flush();
      high = false;
    }
  }
  rooms.close();
  model.flush();
  const received = await Promise.all(peers.map((peer) => peer.take()));
  return { received, expected: model.received };
}

for (const seed of [1, 2, 3, 4]) {
  test(`end of turn, seed ${seed}`, async (t) => {
    const { received, expected } = await play(t, { seed });
    assert.deepEqual(received, expected);
    assert.ok(expected.flat().length > 3000);
  });

  test(`held until HIGH or a flush, seed ${seed}`, async (t) => {
    const options = { policy: 'fixed', maxDelay: 60_000, maxBatch: 1_000_000 };
    const { received, expected } = await play(t, { seed, options, leaves: (high) => high });
    assert.deepEqual(received, expected);
  });

  test(`batches of three: each message once, first in first out in its class, seed ${seed}`, async (t) => {
    const { received, expected } = await play(t, { seed, options: { maxBatch: 3 } });
    const inOrder = (texts) => texts.map(Number).sort((a, b) => a - b);
    assert.deepEqual(received.map(inOrder), expected.map(inOrder));
  });
}

test('direct: as if each message had been written where it was published', async (t) => {
  const random = randomFrom(5);
  const hall = await openHall(t);
  const peers = await hall.connectMany(5);
  const rooms = new Rooms({ policy: 'direct' });
  const members = new Set();
  const expected = peers.map(() => []);
  for (const n of range(2000)) {
    const peer = Math.floor(random() * peers.length);
    if (random() < 0.5) {
      rooms.publish('x', `${n}`, { priority: priorities[n % 3] });
      for (const member of members) expected[member].push(`${n}`);
    } else if (members.delete(peer)) {
      rooms.leave(peers[peer].server, 'x');
    } else {
      members.add(peer);
      rooms.join(peers[peer].server, 'x');
    }
    if (n % 100 === 0) await turn();
  }
  assert.deepEqual(await Promise.all(peers.map((peer) => peer.take())), expected);
});
