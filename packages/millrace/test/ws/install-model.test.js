/** Random turns of an application with `install` against a model: to each socket everything, in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { install } from 'millrace/ws';
import { WebSocket } from 'ws';
import { installAutomatically } from '../../dist/ws/transparent.js';
import { openHall, randomFrom, range, turn } from './hall.js';

async function play(t, { seed, options = {}, turns = 120, by = install }) {
  const random = randomFrom(seed);
  const below = (n) => Math.floor(random() * n);
  const hall = await openHall(t);
  const peers = await hall.connectMany(12);
  const installation = by(WebSocket, options);
  t.after(() => installation.uninstall());
  /** What each client is to see, what it has seen, and the callbacks that each socket is to get. */
  const expected = peers.map(() => []);
  const seen = peers.map(() => []);
  const called = peers.map(() => []);
  peers.forEach(({ client }, n) => {
    client.on('message', (data, binary) => seen[n].push(`${binary ? 'b' : 't'} ${data}`));
    client.on('ping', (data) => seen[n].push(`ping ${data}`));
    client.on('pong', (data) => seen[n].push(`pong ${data}`));
  });
  let number = 0;
  const callbacks = peers.map(() => []);
  /** Of all sockets together. */
  const allCalled = [];
  /** A callback, or none, for the next send of a socket. */
  const callback = (n) => {
    if (random() < 0.7) return undefined;
    const id = number++;
    callbacks[n].push(id);
    return (error) => {
      called[n].push(error ?? id);
      allCalled.push(id);
    };
  };
  const scratch = Buffer.alloc(5000);

  function sendTo(n, kind, text) {
    const { server } = peers[n];
    if (kind === 'text') {
      server.send(text, callback(n));
      expected[n].push(`t ${text}`);
    } else if (kind === 'ping' || kind === 'pong') {
      server[kind](text.slice(0, 40));
      expected[n].push(`${kind} ${text.slice(0, 40)}`);
    } else if (kind === 'fragments') {
      const half = text.length >> 1;
      server.send(text.slice(0, half), { fin: false });
      server.send(text.slice(half), { fin: true }, callback(n));
      expected[n].push(`t ${text}`);
    } else if (kind === 'raw') {
      const frame = Buffer.from([0x81, 3, 0x72, 0x61, 0x77]);
      peers[n].socket.write(frame);
      expected[n].push('t raw');
    } else {
      // One buffer for everything: it changes again before the turn is over.
      const data = scratch.subarray(0, scratch.write(text));
      const binary = kind === 'binary';
      if (below(2) === 0) server.send(data, { binary }, callback(n));
      else server.send(new Uint8Array(data.buffer, data.byteOffset, data.length), { binary });
      expected[n].push(`${binary ? 'b' : 't'} ${text}`);
    }
  }

  const kinds = ['text', 'binary', 'bytes', 'ping', 'pong', 'fragments', 'raw'];
  for (const _ of range(turns)) {
    for (const _ of range(below(8))) {
      const size = random() < 0.05 ? 4000 : below(200);
      const text = `${number++} `.padEnd(size, '界'.repeat(below(2)) || '.').slice(0, 1500);
      const kind = kinds[below(random() < 0.7 ? 3 : kinds.length)];
      const to = random() < 0.6 ? range(12).filter((n) => n % 3 === number % 3) : [below(12)];
      for (const n of to) sendTo(n, kind, text);
    }
    if (random() < 0.8) await turn();
    else await new Promise((resolve) => process.nextTick(resolve));
  }
  for (const n of range(12)) sendTo(n, 'text', 'the end');
  await Promise.all(peers.map((peer) => peer.until((received) => received.at(-1) === 'the end')));
  await turn();
  for (const n of range(12)) {
    assert.deepEqual(seen[n], expected[n]);
    assert.deepEqual(called[n], callbacks[n]);
  }
  const { encoded, frames, writes } = installation.stats();
  assert.ok(encoded < frames);
  assert.ok(writes < frames);
  // Between sockets they come in the order of their sends with ws as it is, and so they do where nobody may notice.
  if (by === installAutomatically)
    assert.deepEqual(
      allCalled,
      allCalled.toSorted((a, b) => a - b),
    );
}

for (const seed of [1, 2, 3, 4]) {
  test(`seed ${seed}: everything arrives in order`, (t) => play(t, { seed }));
}
test('with little room for each socket', (t) =>
  play(t, { seed: 5, options: { maxPendingBytes: 300 } }));
test('held while the loop is busy', (t) => play(t, { seed: 6, options: { maxDelay: 3 } }));

for (const seed of [7, 8, 9]) {
  test(`seed ${seed}: as millrace/auto installs`, (t) =>
    play(t, { seed, by: installAutomatically }));
}
test('as millrace/auto installs, with little room for each socket', (t) =>
  play(t, { seed: 10, options: { maxPendingBytes: 300 }, by: installAutomatically }));
