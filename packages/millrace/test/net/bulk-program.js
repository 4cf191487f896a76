/**
 * A process or a worker with enlarged sockets: `node bulk-program.js HOW [PORT]`. It ends as HOW says while they are open and
 * busy, or tells the digest of what it got.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { enlarge } from 'millrace/net';
import { chunksOf, digestOf, found, send } from './bulk.js';

const [how, port] = process.argv.slice(2);

const ways = {
  'process.exit()': () => process.exit(3),
  'an uncaught error': () => {
    throw new Error('uncaught on purpose');
  },
  wait: () => parentPort.postMessage('ready'),
};

if (how === 'digest') {
  const socket = connect(Number(port), '127.0.0.1');
  const enlarged = enlarge(socket);
  const chunks = [];
  let active = false;
  for await (const chunk of socket) {
    chunks.push(chunk);
    active ||= enlarged.active;
  }
  parentPort.postMessage({ digest: digestOf(chunks), active });
} else if (how === 'a worker that exits' && isMainThread) {
  const [code] = await once(
    new Worker(new URL(import.meta.url), { argv: ['process.exit()'] }),
    'exit',
  );
  process.exit(code);
} else {
  let last;
  const server = createServer((peer) => {
    peer.on('error', () => {});
    enlarge(peer);
    send(peer, chunksOf(1 << 30));
    send(peer, chunksOf(1 << 30));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  for (let n = 0; n < 8; n++) {
    const socket = connect(Number(port ?? server.address().port), '127.0.0.1');
    last = socket;
    socket.on('error', () => {});
    const enlarged = enlarge(socket);
    await once(socket, 'connect');
    await found(enlarged);
    let chunks = 0;
    socket.on('data', () => {
      // One of each kind: paused, half-closed, reading.
      if (++chunks === 4 && n % 3 === 0) socket.pause();
      if (chunks === 4 && n % 3 === 1) socket.end();
    });
    await once(socket, 'data');
  }
  last.once('data', () => ways[how]());
}
