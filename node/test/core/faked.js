/** Runs a scene under fake timers: `node faked.js sinon|node:test SCENE`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { mock } from 'node:test';
import { BatchEmitter, batch } from 'millrace';
import { guard } from 'millrace/guard';
import { Pool } from 'millrace/pool';
import { Rooms } from 'millrace/ws';
import sinon from 'sinon';
import { WebSocket, WebSocketServer } from 'ws';

const fakes = {
  // The streams of Node.js itself need the true nextTick.
  sinon: (scene) =>
    sinon.useFakeTimers({ toNotFake: ['guard', 'rooms'].includes(scene) ? ['nextTick'] : [] }),
  'node:test': () => mock.timers.enable(),
};

/** Each is set up on true timers, and returns what runs under fake ones. */
const scenes = {};

const { now } = performance;
const realMs = now.bind(performance);
const doubled = async (items) => items.map((item) => 2 * item);

scenes.batch = () => {
  const plain = batch(doubled);
  const held = batch(doubled, { policy: 'fixed', maxDelay: 5 });
  return async () => {
    assert.deepEqual(await Promise.all([plain(1), plain(2), held(3), held(4)]), [2, 4, 6, 8]);
    assert.equal(held.stats().trigger.delay, 1);
  };
};

scenes.emitter = () => async () => {
  const turn = new BatchEmitter();
  const held = new BatchEmitter({ policy: 'fixed', maxDelay: 5 });
  const seen = Promise.all([once(turn, 'a'), once(held, 'a')]);
  turn.emit('a', 1);
  held.emit('a', 2);
  assert.deepEqual(await seen, [[1], [2]]);

  const error = await new Promise((onLost) => {
    new BatchEmitter({ retain: { maxAge: 5 }, onLost }).emit('nobody');
  });
  assert.equal(error.code, 'MILLRACE_E_EXPIRED');
};

scenes.guard = async () => {
  const server = createServer((_, res) => {
    const end = realMs() + 20;
    while (realMs() < end);
    res.end();
  });
  const protection = guard(server, { maxWait: 60_000 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const status = () =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent: false };
      get(options, (res) => res.resume().on('end', () => resolve(res.statusCode))).on(
        'error',
        reject,
      );
    });
  return async () => {
    const statuses = await Promise.all(Array.from({ length: 8 }, status));
    assert.deepEqual(statuses, Array(8).fill(200));
    assert.ok(protection.stats().classes.normal.waited > 0);
  };
};

scenes.pool = () => {
  const pool = new Pool({ filename: new URL('doubles.js', import.meta.url).href, maxThreads: 1 });
  return async () => {
    assert.deepEqual(await Promise.all([1, 2, 3].map((n) => pool.run(n))), [2, 4, 6]);
  };
};

scenes.rooms = async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const rooms = new Rooms({ maxDelay: 5, policy: 'fixed' });
  server.on('connection', (socket) => rooms.join(socket, 'lobby'));
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  await Promise.all([once(client, 'open'), once(server, 'connection')]);
  return async () => {
    const message = once(client, 'message');
    rooms.publish('lobby', 'hello');
    assert.equal(String((await message)[0]), 'hello');
  };
};

const [, , kind, scene] = process.argv;
// What waits on a timer that keeps no process alive is waited for.
const alive = createServer().listen(0, '127.0.0.1');
await once(alive, 'listening');
const play = await scenes[scene]();
fakes[kind](scene);
await play();
process.exit();
