/** Connections that wait in the primary, without processes: what a process would tell is told by the test. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Dispatch } from '../dist/dispatch.js';
import { Listener, Listeners } from '../dist/listeners.js';

const place = { address: '127.0.0.1', port: 0, backlog: 511, flags: 0 };
let processes = 0;

/** Of a process: what it is told. */
const fake = (state = 'ready') => {
  const told = [];
  return {
    id: ++processes,
    slot: 1,
    state,
    connections: 0,
    told,
    tell: (body) => void told.push(body),
  };
};

const connection = (id, key = null) => {
  const socket = { _handle: null, isClosed: false };
  socket.closed = new Promise((resolve) => {
    socket.destroy = () => {
      socket.isClosed = true;
      resolve();
    };
  });
  return { id, socket, key, head: null, at: performance.now() };
};

const handed = ({ told }) =>
  told.filter(({ type }) => type === 'connection').map((body) => body.connection);

/** Resolves when it has been told that. */
async function toldOf(process, type, id) {
  const is = (body) => body.type === type && body.connection === id;
  while (!process.told.some(is)) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('a connection that waits for too long is closed', async () => {
  const dispatch = new Dispatch({ lookInterval: 1, maxWaitMs: 5 });
  const waiting = [connection(1), connection(2)];
  for (const each of waiting) dispatch.offer(each);
  assert.equal(dispatch.waiting, 2);
  const timer = setInterval(() => {}, 1000);
  await Promise.all(waiting.map(({ socket }) => socket.closed));
  clearInterval(timer);
  assert.deepEqual([dispatch.waiting, dispatch.refused], [0, 2]);
});

for (const key of [null, 'client']) {
  test(`a process that did not get a connection is asked, and gets it later, ${key ?? 'anybody'}`, async (t) => {
    const timer = setInterval(() => {}, 1000);
    t.after(() => clearInterval(timer));
    const dispatch = new Dispatch({ lookInterval: 1 });
    const process = fake();
    dispatch.join(process, 7);
    dispatch.offer(connection(1, key));
    dispatch.offer(connection(2, key));
    await toldOf(process, 'got', 1);
    assert.deepEqual(process.told.at(-1), { type: 'got', connection: 1, server: 7 });
    assert.equal(dispatch.didMiss(process, 1), true);
    assert.equal(dispatch.didMiss(process, 1), false);
    // Not at once.
    assert.deepEqual([handed(process), dispatch.waiting], [[1], 2]);
    while (handed(process).length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    dispatch.took(process, 1);
    dispatch.took(process, 2);
    assert.deepEqual([handed(process), dispatch.waiting], [[1, 1, 2], 0]);
    assert.equal(process.connections, 2);
    dispatch.close();
  });
}

test('a connection that one process did not get goes to another one that has room', () => {
  const dispatch = new Dispatch();
  const [first, second] = [fake(), fake()];
  dispatch.join(first, 0);
  dispatch.join(second, 0);
  dispatch.offer(connection(1));
  dispatch.didMiss(first, 1);
  dispatch.offer(connection(2));
  assert.deepEqual([handed(first), handed(second)], [[1], [1]]);
  dispatch.took(second, 1);
  assert.deepEqual(handed(second), [1, 2]);
  dispatch.close();
});

test('beyond the limit connections are closed, those whose head is not there yet among them', async (t) => {
  const listener = new Listener({ by: 'header', name: 'x-id' }, 2);
  await listener.open(place);
  t.after(() => listener.close());
  const { port } = listener.name;
  const open = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  await open();
  const second = await open();
  second.write('GET / HTTP/1.1\r\n\r\n');
  while (listener.dispatch.waiting < 1) await new Promise(setImmediate);
  assert.equal(listener.waiting, 2);
  const third = await open();
  third.resume();
  await once(third, 'close');
  assert.deepEqual([listener.waiting, listener.dispatch.refused], [2, 1]);
});

test('a process that drains may listen, and is handed nothing', async (t) => {
  const listeners = new Listeners(null, false);
  t.after(() => listeners.close());
  const query = { server: 0, isMain: false, addressType: 4, tickets: null, ...place };
  assert.equal(listeners.address, null);
  const process = fake('draining');
  await listeners.join(process, query);
  assert.equal(process.told[0].errno, 0);
  const { port } = listeners.address;
  assert.equal(port, process.told[0].address.port);
  const client = connect(port, '127.0.0.1');
  t.after(() => client.destroy());
  while (listeners.waiting < 1) await new Promise(setImmediate);
  assert.equal(process.told.length, 1);
  const next = fake();
  await listeners.join(next, query);
  assert.equal(handed(next).length, 1);
});

test('a socket that is open only after close() is closed again', async () => {
  const first = new Listeners(null, false);
  const opening = first.openMain(place);
  first.close();
  await assert.rejects(opening, /after close\(\)/);
  assert.equal(first.address, null);
});
