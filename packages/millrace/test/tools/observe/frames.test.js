/** Frames of WebSockets, and what `ws` saves of them in truth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observe } from 'millrace/observe';
import { install } from 'millrace/ws';
import WebSocket from 'ws';
import OldWebSocket from 'ws-7';
import { hall } from './hall.js';
import { turnOver } from './sockets.js';

const bytes = Buffer.from('bytes');
const changing = Buffer.alloc(5);
/** What each of 5 sockets sends in a turn. */
const cases = {
  'the same text three times over': { send: () => ['a', 'b', 'c'], saved: [12, 10] },
  'equal texts that are made for each': { send: () => [`${Math.PI} ${bytes}`], saved: [4, 0] },
  'a text of its own': { send: (i) => [`text ${i}`], saved: [0, 0] },
  'the same bytes': { send: () => [bytes, bytes], saved: [9, 5] },
  'equal bytes that are made for each': {
    send: () => [Buffer.from('equal')],
    saved: [4, 0],
  },
  'equal texts from bytes': { send: () => [`${bytes}`, `${bytes}`], saved: [9, 5] },
  'one Buffer with other bytes for each': {
    send(i) {
      changing.fill(i);
      return [changing];
    },
    saved: [0, 0],
  },
  'a text and the same bytes': { send: () => [`${bytes}`, bytes], saved: [8, 5] },
  nothing: { send: () => [], saved: [0, 0] },
};

for (const [name, { send, saved }] of Object.entries(cases)) {
  test(`${name}: the reported saving is the actual one`, async (t) => {
    const observation = observe();
    t.after(() => observation.stop());
    const { sockets, got } = await hall(t, 5);
    const play = async () => {
      sockets.forEach((socket, i) => {
        for (const each of send(i)) socket.send(each);
      });
      await turnOver();
    };
    await play();
    const { frames, contents, writes, others, sockets: seen } = observation.report().frames;
    assert.equal(seen, 5);
    assert.equal(others, 0);
    assert.deepEqual([frames - contents, frames - writes], saved);
    // Frames are no writes for `net` to gather.
    assert.equal(observation.report().writes.saved, 0);
    const before = got.messages;
    const installation = install(WebSocket);
    t.after(() => installation.uninstall());
    await play();
    const truth = installation.stats();
    assert.deepEqual([truth.frames - truth.encoded, truth.frames - truth.writes], saved);
    while (got.messages < before + truth.frames) await turnOver();
  });
}

test('frames that are alone in their turn, and bursts, are distinguished', async (t) => {
  const observation = observe();
  t.after(() => observation.stop());
  const { sockets } = await hall(t, 3);
  for (let i = 0; i < 2; i++) {
    sockets.forEach((socket, j) => {
      socket.send(`of its own ${j}`);
    });
    await turnOver();
  }
  assert.deepEqual(figuresOf(observation), [6, 6, 1]);
  // The same to two, and then four to one.
  for (const socket of sockets.slice(1)) socket.send('the same');
  await turnOver();
  for (let i = 0; i < 4; i++) sockets[0].send(`burst ${i}`);
  await turnOver();
  assert.deepEqual(figuresOf(observation), [12, 6, 4]);
});

function figuresOf(observation) {
  const { frames, lone, mostOnSocket } = observation.report().frames;
  return [frames, lone, mostOnSocket];
}

test('frames of ws 7 count as those of ws 8', async (t) => {
  const observation = observe();
  t.after(() => observation.stop());
  const { sockets } = await hall(t, 2, { Server: OldWebSocket.Server });
  for (const each of sockets) each.send('a');
  await turnOver();
  const { frames } = observation.report();
  assert.deepEqual([frames.sockets, frames.frames, frames.contents, frames.others], [2, 2, 1, 0]);
});

test('frames of clients and compressed ones are not for ws to gather', async (t) => {
  const observation = observe();
  t.after(() => observation.stop());
  const { sockets } = await hall(t, 2, { perMessageDeflate: { threshold: 0 } });
  for (const each of sockets) each.ping();
  await turnOver();
  const { frames, others } = observation.report().frames;
  assert.equal(frames, 0);
  assert.ok(others >= 2);
});
