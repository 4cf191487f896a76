// How many files a message of a room goes through, from its publisher to the sockets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from 'millrace/ws';
import { watchRoute } from '../../../base/test/route.js';
import { openHall, turn } from './hall.js';

const most = 10;

test(`a warm publish() goes through at most ${most} files`, async (t) => {
  const hall = await openHall(t);
  const peers = await hall.connectMany(2);
  const rooms = new Rooms();
  for (const { server } of peers) rooms.join(server, 'x');
  const round = async (text) => {
    rooms.publish('x', text);
    await turn();
  };
  for (let n = 0; n < 40; n++) await round(`message ${n}`);

  const end = watchRoute();
  await round('the last');
  const files = end();
  const route = files.join(', ');
  t.diagnostic(route);
  for (const peer of peers) assert.equal((await peer.take()).at(-1), 'the last');
  assert.ok(files.includes('millrace/ws/rooms.js') && files.length <= most, route);
});
