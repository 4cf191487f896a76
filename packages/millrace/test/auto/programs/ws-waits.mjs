/**
 * A server that blocks its thread until its clients, which live in a worker thread, have got what it has sent; then it learns in the
 * turn of a send that a connection is reset. Prints what its callbacks and listeners were called with, in order.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { WebSocket, WebSocketServer } from 'ws';
import { stateOf } from './fan-out.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));
/** Ms after which nobody is going to answer any more. */
const most = 600_000;

if (isMainThread) await serve();
else clients(workerData);

/** Counts what clients have received and, for a client that is told to reset its connection, that it has done so. */
function clients({ url, counts }) {
  const add = (n) => {
    Atomics.add(counts, n, 1);
    Atomics.notify(counts, n);
  };
  for (let n = 0; n < counts.length; n++) {
    const client = new WebSocket(`${url}/${n}`);
    client.on('message', (data) => {
      if (String(data) !== 'reset') return add(n);
      client._socket.resetAndDestroy();
      client._socket.once('close', () => add(n));
    });
    client.on('error', () => {});
  }
  parentPort.once('message', () => process.exit());
}

async function serve() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const counts = new Int32Array(new SharedArrayBuffer(8));
  const url = `ws://127.0.0.1:${server.address().port}`;
  const worker = new Worker(process.argv[1], { workerData: { url, counts } });
  const sockets = [];
  while (server.clients.size < counts.length) {
    const [socket, { url }] = await once(server, 'connection');
    sockets[Number(url.slice(1))] = socket;
  }
  while (stateOf('ws') === 'waiting') await turn();
  /** Blocks until the client has counted that many. */
  const wait = (n, count) => {
    for (let seen = 0; seen < count; seen = Atomics.load(counts, n)) {
      if (Atomics.wait(counts, n, seen, most) === 'timed-out') throw new Error(`${n}: no answer`);
    }
  };
  // A turn that brings several, so that those of the next one are gathered.
  for (const socket of sockets) for (const text of 'ab') socket.send(text);
  await turn();

  // The first frame of a turn, on each socket.
  for (const socket of sockets) socket.send('first');
  for (const n of sockets.keys()) wait(n, 3);
  await turn();

  // Connections that are reset while the thread is blocked: one sent a frame in its last turn, the other several.
  const logs = [];
  for (const [n, texts] of ['c', 'cd'].entries()) {
    const socket = sockets[n];
    const log = [];
    const note =
      (name) =>
      (...args) =>
        log.push([name, ...args.map((arg) => arg?.code ?? arg)]);
    socket.on('error', note('error'));
    socket.on('close', note('close'));
    for (const text of texts) socket.send(text);
    await turn();
    socket.send('reset');
    wait(n, 4 + texts.length);
    await new Promise((resolve) => process.nextTick(resolve));
    for (const text of '123') {
      socket.send(text, note(text));
      process.nextTick(note(`tick ${text}`));
    }
    setImmediate(note('immediate'));
    while (socket.readyState !== WebSocket.CLOSED) await turn();
    await turn();
    logs.push(log);
  }
  console.log(JSON.stringify({ logs, state: stateOf('ws') }));
  worker.postMessage('end');
  server.close();
}
