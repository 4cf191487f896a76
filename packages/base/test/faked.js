/** Runs a scene under fake timers: `node faked.js sinon|node:test SCENE`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { mock } from 'node:test';
import { guard } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import { natsRooms } from '@millrace/nats/rooms';
import { TaskClient, TaskWorker } from '@millrace/nats/tasks';
import { Pool } from '@millrace/pool';
import { BatchEmitter, batch } from 'millrace';
import { Rooms } from 'millrace/ws';
import sinon from 'sinon';
import { WebSocket, WebSocketServer } from 'ws';

const fakes = {
  // The streams of Node.js itself need the true nextTick.
  sinon: (scene) => {
    const isNetworked = !['batch', 'emitter', 'pool'].includes(scene);
    const toNotFake = isNetworked ? ['nextTick', 'queueMicrotask'] : [];
    // The client of NATS has some.
    return sinon.useFakeTimers({ toNotFake, shouldClearNativeTimers: true });
  },
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
  const ask = await asker(server);
  return async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    for (const { status } of answers) assert.equal(status, 200);
    assert.ok(protection.stats().classes.normal.waited > 0);
  };
};

scenes.cached = async () => {
  const counted = async (ttl) => {
    let runs = 0;
    const handler = cached((_, res) => res.end(`run ${++runs}`), { ttl });
    return { handler, ask: await asker(createServer(handler)) };
  };
  const kept = await counted(3600);
  const brief = await counted(1);
  return async (clock) => {
    await kept.ask();
    clock.tick(7_200_000);
    assert.equal((await kept.ask()).text, 'run 1');
    assert.equal(kept.handler.stats().hits, 1);
    // Only the true clock ends it.
    while ((await brief.ask()).text === 'run 1');
  };
};

/** Makes the server listen; returns a function that asks it on a connection of its own. */
async function asker(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  return async () => {
    const request = get({ host: '127.0.0.1', port, agent: false });
    const [response] = await once(request, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, text };
  };
}

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

scenes['rooms across machines'] = async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const across = natsRooms({ broker: process.env.BROKER, heartbeat: 100, durable: true });
  const [near, far] = [new Rooms({ across }), new Rooms({ across })];
  await Promise.all([near.ready(), far.ready()]);
  const accepted = once(server, 'connection');
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  const [[socket]] = await Promise.all([accepted, once(client, 'open')]);
  return async () => {
    far.join(socket, 'lobby', { id: 'me' });
    const message = once(client, 'message');
    near.publish('lobby', 'hello');
    await near.acknowledged();
    assert.equal(String((await message)[0]), 'hello');
    while (near.presence('lobby').length === 0) await turn();
    // Who leaves is told at the end of the turn.
    socket.terminate();
    while (near.presence('lobby').length === 1) await turn();
    for (const rooms of [near, far]) rooms.close();
    await Promise.all([near.closed(), far.closed()]);
  };
};

scenes['durable tasks'] = async () => {
  const settings = { broker: process.env.BROKER, stream: 'faked' };
  const filename = new URL('doubles.js', import.meta.url).href;
  const worker = new TaskWorker({ ...settings, filename, ackWait: 1000, backoff: [20] });
  const failing = new URL('fails-once.js', import.meta.url).href;
  const failed = { ...settings, stream: 'failing' };
  const other = new TaskWorker({ ...failed, filename: failing, backoff: [20] });
  await Promise.all([worker.ready(), other.ready()]);
  const clients = [new TaskClient(settings), new TaskClient(failed)];
  return async () => {
    assert.deepEqual(await Promise.all([1, 2, 3].map((n) => clients[0].run(n))), [2, 4, 6]);
    assert.equal(await clients[1].run(1), 'at last');
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all([worker.close(), other.close()]);
  };
};

const { setImmediate } = globalThis;
const turn = () => new Promise((resolve) => setImmediate(resolve));

const [, , kind, scene] = process.argv;
// What waits on a timer that keeps no process alive is waited for.
const alive = createServer().listen(0, '127.0.0.1');
await once(alive, 'listening');
const play = await scenes[scene]();
await play(fakes[kind](scene) ?? mock.timers);
process.exit();
