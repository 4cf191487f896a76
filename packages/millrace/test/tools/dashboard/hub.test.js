// Limits: of processes, of viewers, and of what a slow viewer is owed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { until } from '../../../../../scripts/lib/program-tests.js';
import { Backoff } from '../../../dist/tools/dashboard/feed.js';
import { History, Viewer } from '../../../dist/tools/dashboard/history.js';
import { Hub, mostMembers } from '../../../dist/tools/dashboard/hub.js';
import { ask, serve, watch } from './support.js';

const link = { sample: async () => null, switch: async () => [], dropped: 0, close() {} };
const info = (pid) => ({ id: `${pid}`, pid, thread: 0, role: 'worker', title: 'made up' });

test('a process that has ended is forgotten after a while, unless it is there again', async () => {
  const hub = new Hub(10);
  hub.leave(hub.join(info(1), [], link));
  hub.leave(hub.join(info(2), [], link));
  const again = hub.join(info(2), [], link);
  await until(() => hub.members.length === 1);
  assert.deepEqual(hub.members, [again]);
});

test('nobody takes the place of a process that is there', () => {
  const hub = new Hub();
  const first = hub.join(info(1), [], link);
  assert.equal(hub.join(info(1), [], link), null);
  assert.deepEqual(hub.members, [first]);
});

test('with as many processes as may be, one that has ended makes room; else there is none', () => {
  const hub = new Hub();
  const members = Array.from({ length: mostMembers }, (_, n) => hub.join(info(n + 1), [], link));
  assert.equal(hub.join(info(9999), [], link), null);
  hub.leave(members[5]);
  assert.notEqual(hub.join(info(9999), [], link), null);
  assert.equal(hub.members.length, mostMembers);
  assert.equal(hub.join(info(10_000), [], link), null);
});

test('a feed that is sent away at once comes back ever later, one that was there at once', () => {
  const backoff = new Backoff();
  const waits = Array.from({ length: 7 }, () => backoff.next(20));
  assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 8000, 10_000]);
  assert.equal(backoff.next(60_000), 250);
  assert.equal(backoff.next(0), 500);
});

test('16 viewers, and no more until one goes', async (t) => {
  const dashboard = await serve(t);
  const viewers = await Promise.all(Array.from({ length: 16 }, () => watch(t, dashboard)));
  const refused = await ask(dashboard, '/api/events');
  assert.equal(refused.status, 503);
  assert.match(refused.body.error, /16 viewers/);
  assert.equal(refused.headers.connection, 'close');
  viewers[0].close();
  await until(async () => (await watch(t, dashboard)).status === 200);
});

/** A viewer on a real connection, whose other end reads only when it is told to. */
async function slowViewer(t, history) {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const socket = connect(server.address().port, '127.0.0.1').pause();
  t.after(() => socket.destroy());
  const asked = once(server, 'request');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [, response] = await asked;
  const viewer = new Viewer(response, history, 'boot', {}, undefined);
  return { socket, response, viewer };
}

/** One event of 64 KB. */
const event = (at = Date.now()) => ({ kind: 'mark', at, data: { text: 'x'.repeat(65_536) } });

test('for a viewer that does not read nothing piles up, and it gets it all later', async (t) => {
  const history = new History();
  const { socket, response, viewer } = await slowViewer(t, history);
  const pile = [];
  for (let n = 0; n < 400; n += 1) {
    history.add(event());
    viewer.send();
    if (n % 20 === 0) await new Promise(setImmediate);
    pile.push(response.writableLength);
  }
  // One piece of 50 events may be on its way.
  assert.ok(pile.at(-1) > 0, 'it was read after all');
  assert.equal(pile.at(-1), pile.at(-2));
  assert.ok(Math.max(...pile) < 55 * 65_536, String(Math.max(...pile)));
  let read = '';
  socket.on('data', (chunk) => {
    read += chunk.toString('latin1').replaceAll('x', '');
  });
  socket.resume();
  await until(() => read.includes('id: boot-399'));
  assert.equal(read.match(/^id: /gm).length, 400);
});

test('a viewer keeps nothing of a forgotten process: one of its name is sent in full', async (t) => {
  const history = new History();
  const { socket, viewer } = await slowViewer(t, history);
  let read = '';
  socket.on('data', (chunk) => {
    read += chunk;
  });
  const sample = () => ({
    ...{ kind: 'sample', process: '1', at: Date.now() },
    ...{ names: ['a', 'b'], row: Float64Array.of(1, 2) },
  });
  const forgotten = { kind: 'forgotten', at: Date.now(), data: { id: '1' } };
  for (const event of [sample(), sample(), forgotten, sample()]) history.add(event);
  viewer.send();
  socket.resume();
  const values = () => read.match(/(?<="values":)\{[^}]*\}/g) ?? [];
  await until(() => values().length === 3);
  assert.deepEqual(
    values().map((text) => JSON.parse(text)),
    [{ a: 1, b: 2 }, {}, { a: 1, b: 2 }],
  );
});

test('a viewer for which it is too late is disconnected', async (t) => {
  const history = new History();
  const { socket, response, viewer } = await slowViewer(t, history);
  while (!response.writableNeedDrain) {
    history.add(event());
    viewer.send();
    await new Promise(setImmediate);
  }
  // One that it has not got goes.
  history.add(event());
  history.clear();
  history.add(event());
  viewer.send();
  assert.equal(response.destroyed, false);
  socket.resume();
  await once(socket, 'close');
});
