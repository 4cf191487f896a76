/**
 * A socket.io server, with an adapter of its own if the argument is 'own-adapter', and 12 clients in a process without
 * auto. Prints what each client has received, its acknowledgements in order, and how often frames left together.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Server } from 'socket.io';
import { Adapter } from 'socket.io-adapter';
import { io as connect } from 'socket.io-client';
import { queuedTogether, stateOf, unwritten } from './fan-out.js';

/** One of each kind: of three kinds for the one room, and of four for the other. */
const count = 12;
const sizes = [1, 6, 25];
const turn = () => new Promise((resolve) => setImmediate(resolve));

if (process.argv[2] === 'clients') clients(process.argv[3]);
else await serve();

/** Sends what each client has received to the parent once all have received 'end'. */
function clients(url) {
  const received = Array.from({ length: count }, () => []);
  let left = count;
  for (const [n, list] of received.entries()) {
    const socket = connect(url, { transports: ['websocket'], forceNew: true, query: { n } });
    socket.onAny((...message) => {
      if (typeof message.at(-1) === 'function') message.pop()(list.length);
      if (message[0] !== 'end') list.push(message.join(' '));
      else if (--left === 0) process.send(received, () => process.exit());
    });
  }
}

async function serve() {
  const io = new Server({ serveClient: false, pingInterval: 3_600_000 });
  if (process.argv[2] === 'own-adapter') io.adapter(class OwnAdapter extends Adapter {});
  io.listen(0);
  const url = `http://127.0.0.1:${io.httpServer.address().port}`;
  const options = { env: { ...process.env, NODE_OPTIONS: '' }, execArgv: [] };
  const child = fork(process.argv[1], ['clients', url], options);
  const reported = once(child, 'message');
  const sockets = [];
  await new Promise((resolve) => {
    io.on('connection', (socket) => {
      sockets[Number(socket.handshake.query.n)] = socket;
      if (Object.keys(sockets).length === count) resolve();
    });
  });
  // Auto has been loaded some milliseconds after the first connection.
  while (stateOf('ws') === 'waiting') await turn();
  for (const [n, socket] of sockets.entries()) {
    if (n % 3 > 0) socket.join('room');
    if (n % 4 > 1) socket.join('corner');
  }
  const acknowledged = sockets.map(() => []);
  let number = 0;
  const emits = {
    'to all': () => io.volatile.emit('to all', number++),
    'to each': () => {
      for (const socket of sockets) socket.volatile.emit('to each', number++);
    },
    'kept, to all': () => io.emit('kept', number++),
    'text and bytes': () => {
      io.emit('text', number++);
      io.to('room').except('corner').emit('part', number++);
      io.emit('bytes', Buffer.from(`${number++}`));
      io.compress(false).emit('text', number++);
    },
    mixed() {
      io.emit('kept', number++);
      io.volatile.emit('volatile', number++);
      for (const [n, socket] of sockets.entries()) {
        const id = number++;
        socket.emit('acknowledged', id, (place) => acknowledged[n].push(`${id} at ${place}`));
      }
      io.volatile.emit('volatile', number++);
    },
  };
  /** Timing of the packets of a burst: within a turn, or from turn to turn. */
  const steps = {
    'at once': () => undefined,
    'in ticks': () => new Promise((resolve) => process.nextTick(resolve)),
    'in microtasks': () => Promise.resolve(),
    'in turns': turn,
  };
  for (const emit of Object.values(emits)) {
    for (const [name, step] of Object.entries(steps)) {
      for (const size of sizes) {
        // Twice: what a turn brings counts for the next one.
        for (let round = 0; round < 2; round++) {
          io.emit('burst', name, size);
          for (let n = 0; n < size; n++) {
            emit();
            const next = step();
            if (next !== undefined) await next;
          }
          await turn();
          await turn();
        }
        await Promise.all(sockets.map((socket) => socket.emitWithAck('fence')));
      }
    }
  }
  io.emit('end');
  const [received] = await reported;
  const result = {
    received,
    acknowledged,
    state: stateOf('ws'),
    unwritten: await unwritten(),
    queuedTogether: await queuedTogether(),
  };
  process.stdout.write(JSON.stringify(result), () => process.exit());
}
