// Messages with and without keys while members come and leave: what each member must get, on random operations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { stillClock } from '../../../base/test/clocks.js';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { openHall, range } from './hall.js';

const rooms = ['x', 'y'];
const classes = ['high', 'normal', 'low'];

/** Publishes at random in one turn, and notes for each peer what was published to it, in order. */
class Turn {
  #count = 0;

  constructor(random, hub, peers) {
    this.random = random;
    this.hub = hub;
    this.sent = new Map(peers.map((peer) => [peer, []]));
    this.peers = peers;
  }

  pick(list) {
    return list[this.random(list.length)];
  }

  step() {
    const dice = this.random(10);
    const peer = this.pick(this.peers);
    const room = this.pick(rooms);
    if (dice < 1) this.hub.join(peer.server, room);
    else if (dice < 2) this.hub.leave(peer.server, room);
    else this.publish(dice === 9, peer, room);
  }

  publish(isDirect, peer, room) {
    const key = this.random(3) === 0 ? undefined : this.random(2);
    const priority = this.pick(classes);
    const except = this.random(3) === 0 ? peer.server : undefined;
    const target = isDirect ? 'own' : room;
    const data = `${target} ${key} ${priority} ${this.#count++}`;
    if (isDirect) {
      if (this.hub.send(peer.server, data, { key, priority })) this.sent.get(peer).push(data);
      return;
    }
    const members = new Set(this.hub.members(room));
    this.hub.publish(room, data, { key, priority, ...(except && { except }) });
    for (const other of this.peers) {
      if (members.has(other.server) && other.server !== except) this.sent.get(other).push(data);
    }
  }
}

const topicOf = (data) => data.split(' ').slice(0, 2).join(' ');
const classOf = (data) => classes.indexOf(data.split(' ')[2]);
const numberOf = (data) => Number(data.split(' ')[3]);
const hasKey = (data) => !data.includes('undefined');

/** First fault in the messages that a member has received, against those published to it; null if there is none. */
function fault(sent, received) {
  if (new Set(received).size < received.length) return 'something came twice';
  const strange = received.find((data) => !sent.includes(data));
  if (strange !== undefined) return `${strange} was not for it`;
  const latest = new Map(sent.filter(hasKey).map((data) => [topicOf(data), data]));
  for (const data of sent.filter((one) => !hasKey(one) || latest.get(topicOf(one)) === one)) {
    if (!received.includes(data)) return `${data} did not come`;
  }
  // Of a topic no older message follows a newer one of its class.
  const plain = received.filter((data) => !hasKey(data));
  for (const list of [
    plain,
    ...[...latest.keys()].map((topic) => received.filter((data) => topicOf(data) === topic)),
  ]) {
    for (const priority of range(3)) {
      const numbers = list.filter((data) => classOf(data) === priority).map(numberOf);
      const sorted = numbers.toSorted((a, b) => a - b);
      if (String(numbers) !== String(sorted)) return `the order of ${list}`;
    }
  }
  const order = received.map(classOf);
  return String(order) === String(order.toSorted()) ? null : 'the order of classes';
}

test('each member gets the latest message of each key and all others, while members come and leave', async (t) => {
  const hall = await openHall(t);
  const peers = await hall.connectMany(4);
  // Nothing is old, and no client lags behind, however slow the machine is.
  stillClock(t);
  const hub = new Rooms();
  let superseded = 0;
  for (const seed of seeds(60)) {
    const turn = new Turn(randomNumbers(seed), hub, peers);
    for (const peer of peers) for (const room of rooms) hub.join(peer.server, room);
    for (let n = 0; n < 25; n++) turn.step();
    for (const [n, peer] of peers.entries()) {
      const received = await peer.take();
      const wrong = fault(turn.sent.get(peer), received);
      assert.equal(wrong, null, `seed ${seed}, member ${n}: ${wrong}\n${received.join('\n')}`);
    }
    superseded = hub.stats().superseded;
    assert.equal(hub.stats().queued, 0);
  }
  assert.ok(superseded > 100, `${superseded}`);
});
