/**
 * A socket.io server whose program looks into its broadcasts while they go from client to client, and 20 clients in a worker thread. Prints
 * in order what its listeners have seen, what each client has received, how often the program has blocked its thread until all clients had
 * a broadcast, and how many frames have waited for the end of their broadcast.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Server } from 'socket.io';
import { WebSocket } from 'ws';
import { frameCounter, queuedTogether, stateOf, unwritten } from './fan-out.js';

const count = 20;
/** Ms after which nobody is going to answer any more. */
const most = 600_000;
const sizes = [1, 5, 20];
const turn = () => new Promise((resolve) => setImmediate(resolve));

if (isMainThread) await serve();
else clients(workerData);

/**
 * Clients of Engine.IO 4, which connect one after the other. They count events, and the last fence; one that is told to reset its
 * connection does so before it counts that.
 */
function clients({ url, events, fences }) {
  const received = [];
  const connect = () => {
    const n = received.push([]) - 1;
    const client = new WebSocket(`${url}&n=${n}`);
    const add = () => {
      Atomics.add(events, n, 1);
      Atomics.notify(events, n);
    };
    client.on('message', (data) => {
      const text = String(data);
      if (text[0] === '0') client.send('40');
      if (text.startsWith('40') && received.length < count) connect();
      const [, id, json] = /^42(\d*)(.*)/.exec(text) ?? [];
      if (json === undefined) return;
      received[n].push(text);
      const [event, number] = JSON.parse(json);
      if (id !== '') client.send(`43${id}["${n}"]`);
      if (event === 'fence') Atomics.store(fences, n, number);
      else if (event !== 'reset') add();
      else client._socket.resetAndDestroy().once('close', add);
    });
    client.on('error', () => {});
  };
  connect();
  parentPort.once('message', () => parentPort.postMessage(received));
}

async function serve() {
  const io = new Server({ serveClient: false, pingInterval: 3_600_000 });
  io.listen(0);
  const shared = () => new Int32Array(new SharedArrayBuffer(4 * count));
  const events = shared();
  const fences = shared();
  const url = `ws://127.0.0.1:${io.httpServer.address().port}/socket.io/?EIO=4&transport=websocket`;
  const worker = new Worker(process.argv[1], { workerData: { url, events, fences } });
  const log = [];
  const note = (...words) => log.push(words.join(' '));
  const sockets = [];
  await new Promise((resolve) => {
    io.on('connection', (socket) => {
      const n = Number(socket.handshake.query.n);
      sockets[n] = socket;
      socket.on('disconnect', (reason) => note(n, 'disconnected:', reason));
      if (Object.keys(sockets).length === count) resolve();
    });
  });
  while (stateOf('ws') === 'waiting') await turn();
  for (const [n, socket] of sockets.entries()) if (n % 2 === 0) socket.join('even');
  const raw = (n) => sockets[n].conn.transport.socket._socket;
  const open = () => [...sockets.keys()].filter((n) => sockets[n].connected);
  /** Blocks until clients have counted so many more events. */
  const wait = (ns, before, more) => {
    for (const n of ns) {
      for (let seen = 0; seen < before[n] + more; seen = Atomics.load(events, n)) {
        if (Atomics.wait(events, n, seen, most) === 'timed-out') throw new Error(`${n}: no answer`);
      }
    }
  };
  let number = 0;
  let fenced = 0;
  let waited = 0;
  const emit = (to = io) => to.emit('event', number++);
  const burst = (size, to) => {
    for (let n = 0; n < size; n++) emit(to);
  };
  /** Until all clients have got all that was sent. */
  const settle = async () => {
    io.emit('fence', ++fenced);
    do await turn();
    while (!open().every((n) => Atomics.load(fences, n) === fenced));
  };
  /** Calls `listen` with a function that adds listeners, runs the rest, and takes them away again. */
  const listening = async (size, ...listeners) => {
    for (const [emitter, event, listener] of listeners) emitter.on(event, listener);
    burst(size);
    await turn();
    await settle();
    for (const [emitter, event, listener] of listeners) emitter.off(event, listener);
  };
  /** `look` is called for a client before a broadcast is written to it. */
  const looking = async (size, looks) => {
    for (const [n, look] of looks) sockets[n].onAnyOutgoing(look);
    burst(size);
    await turn();
    for (const [n, look] of looks) if (sockets[n].connected) sockets[n].offAnyOutgoing(look);
    await settle();
  };
  const written = (...ns) => ns.map((n) => raw(n).bytesWritten).join(' ');
  const scenarios = {
    async 'the program waits for the first'(size) {
      const before = [...events];
      burst(size);
      wait(open(), before, 1);
      waited++;
      await settle();
    },
    'the connection tells of packets': (size) =>
      listening(
        size,
        [sockets[3].conn, 'packetCreate', ({ type }) => note('3 packet', type, written(2, 3))],
        [sockets[5].conn, 'flush', ({ length }) => note('5 flush', length, written(4, 5))],
        [sockets[8].conn, 'drain', () => note('8 drain', written(2, 8))],
        [sockets[11].conn.transport, 'drain', () => note('11 transport drain', written(11))],
        [sockets[12].conn.transport, 'ready', () => note('12 transport ready', written(13))],
      ),
    'the server tells of packets': (size) =>
      listening(
        size,
        [io.engine, 'drain', ({ id }) => note(sockets.findIndex(({ conn }) => conn.id === id))],
        [io.engine, 'flush', (_, { length }) => note('flush', length)],
      ),
    'the program looks at what is written': (size) =>
      looking(size, [[7, () => note('7', written(2, 7, 12))]]),
    'ticks in the loop': (size) =>
      looking(size, [
        [2, () => process.nextTick(note, '2 tick', written(2))],
        [
          9,
          () => {
            Promise.resolve().then(() => note('9 microtask', written(9)));
            process.nextTick(note, '9 tick', sockets[0].conn.transport.writable);
          },
        ],
      ]),
    'broadcasts in a broadcast': (size) => {
      let left = 3;
      return looking(size, [[9, () => left-- > 0 && emit(io.to('even').except(sockets[4].id))]]);
    },
    async 'an error in the loop'(size) {
      const look = (_, number) => {
        if (number % 2 === 1) throw new Error(`no ${number}`);
      };
      sockets[10].onAnyOutgoing(look);
      for (let n = 0; n < size; n++) {
        try {
          emit();
        } catch ({ message }) {
          note(message, written(9, 10, 11));
        }
      }
      sockets[10].offAnyOutgoing(look);
      await settle();
    },
    async 'volatile, to rooms, to each, and acknowledged'(size) {
      const replies = [];
      for (let n = 0; n < size; n++) {
        emit(n % 3 === 0 ? io : io.volatile);
        emit(io.to('even').except(sockets[6].id));
        sockets[n % count].emit('event', number++);
        replies.push(io.timeout(most).emitWithAck('event', number++));
      }
      await turn();
      const all = await Promise.all(replies);
      for (const each of all) note(each.sort());
      await settle();
    },
  };
  for (const [name, scenario] of Object.entries(scenarios)) {
    for (const size of sizes) {
      // Twice: what a turn brings counts for the next one.
      for (let round = 0; round < 2; round++) {
        note(name, size);
        await scenario(size);
      }
    }
  }

  /** Frames that waited when a broadcast had come to the last client. */
  let held = 0;
  const waiting = await frameCounter();
  const [first, last] = [sockets[0], sockets.at(-1)];
  // A turn that brings several for each.
  burst(10);
  await turn();
  await turn();
  first.onAnyOutgoing(() => (held -= waiting()));
  last.onAnyOutgoing(() => (held += waiting()));
  emit();
  first.offAnyOutgoing();
  last.offAnyOutgoing();
  await settle();

  for (const [n, size] of sizes.entries()) {
    note('disconnects in the loop', size);
    const [a, b, c] = [n, 3 + n, 16 + n];
    await looking(size, [
      [13 + n, () => sockets[13 + n].connected && sockets[13 + n].disconnect(true)],
      [10 + n, () => sockets[a].connected && sockets[a].disconnect(true)],
      [10 + n, () => sockets[c].connected && sockets[c].disconnect(true)],
      [10 + n, () => sockets[b].connected && sockets[b].disconnect()],
    ]);
  }
  for (const [n, size] of sizes.entries()) {
    note('a connection that is reset', size);
    const before = [...events];
    sockets[7 + n].emit('reset');
    wait([7 + n], before, 1);
    // As soon as its transport can send again.
    await new Promise((resolve) => process.nextTick(resolve));
    for (const to of [io, io.volatile]) {
      burst(size, to);
      process.nextTick(note, 'tick', open());
    }
    setImmediate(note, 'immediate', open());
    while (sockets[7 + n].connected) await turn();
    await settle();
  }
  const received = new Promise((resolve) => worker.once('message', resolve));
  worker.postMessage('end');
  const result = {
    log,
    waited,
    held,
    received: await received,
    state: stateOf('ws'),
    unwritten: await unwritten(),
    queuedTogether: await queuedTogether(),
  };
  process.stdout.write(JSON.stringify(result), () => process.exit());
}
