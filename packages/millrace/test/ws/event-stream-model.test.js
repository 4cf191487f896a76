/** Random turns of rooms whose members are sockets and event streams, against a model so simple that it is right at sight. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { openStreams } from './event-streams.js';
import { openHall, randomFrom, range, turn } from './hall.js';

const priorities = ['high', 'normal', 'low'];
const ways = ['http', 'http/1.0', 'https', 'h2c'];
const names = range(6).map((n) => `room ${n}`);
const last = 'the last';

/** Members of all kinds: `connection` as rooms know it, and `received()` when the client has read all. */
async function openMembers(t) {
  const hall = await openHall(t);
  const peers = await hall.connectMany(8);
  const members = peers.map((peer) => ({
    connection: peer.server,
    async received() {
      await peer.until((received) => received.at(-1) === last);
      return peer.received.slice(0, -1);
    },
  }));
  for (const way of ways) {
    const { connect } = await openStreams(t, way, (response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.flushHeaders();
    });
    for (const _ of range(3)) {
      const { response, reader } = await connect();
      members.push({
        connection: response,
        async received() {
          await reader.until(({ texts }) => texts.at(-1) === last);
          return reader.texts.slice(0, -1);
        },
      });
    }
  }
  return members;
}

for (const seed of [1, 2, 3]) {
  test(`sockets and streams get what the model says, seed ${seed}`, async (t) => {
    const random = randomFrom(seed);
    const pick = (list) => list[Math.floor(random() * list.length)];
    const members = await openMembers(t);
    const all = range(members.length);
    const rooms = new Rooms({ maxDeferral: 3_600_000 });
    const inRoom = new Map(names.map((name) => [name, new Set()]));
    const queued = all.map(() => []);
    const expected = all.map(() => []);
    const leave = () => {
      queued.forEach((messages, member) => {
        for (const priority of priorities) {
          const some = messages.filter((message) => message.priority === priority);
          expected[member].push(...some.map(({ text }) => text));
        }
        messages.length = 0;
      });
    };
    let number = 0;
    const text = () => `${number++}${random() < 0.2 ? '\nand a line' : ''}`;
    const actions = [
      function join() {
        const [member, name] = [pick(all), pick(names)];
        const isNew = !inRoom.get(name).has(member);
        assert.equal(rooms.join(members[member].connection, name), isNew);
        inRoom.get(name).add(member);
      },
      function leaveRoom() {
        const [member, name] = [pick(all), pick(names)];
        assert.equal(
          rooms.leave(members[member].connection, name),
          inRoom.get(name).delete(member),
        );
      },
      function publish() {
        const message = { text: text(), priority: pick(priorities) };
        const [name, except] = [pick(names), random() < 0.2 ? pick(all) : undefined];
        const options = { priority: message.priority, except: members[except]?.connection };
        const receivers = [...inRoom.get(name)].filter((member) => member !== except);
        assert.equal(rooms.publish(name, message.text, options), receivers.length);
        for (const member of receivers) queued[member].push(message);
      },
      function send() {
        const message = { text: text(), priority: pick(priorities) };
        const member = pick(all);
        rooms.send(members[member].connection, message.text, { priority: message.priority });
        queued[member].push(message);
      },
    ];
    const [join, leaveRoom, publish, send] = actions;
    const odds = [join, join, leaveRoom, publish, publish, publish, publish, send];
    for (const _ of range(150)) {
      for (const __ of range(Math.floor(random() * 30))) pick(odds)();
      await turn();
      leave();
    }
    for (const { connection } of members) rooms.send(connection, last);
    rooms.close();
    const received = await Promise.all(members.map((member) => member.received()));
    assert.deepEqual(received, expected);
    assert.ok(expected.every((texts) => texts.length > 50));
  });
}
