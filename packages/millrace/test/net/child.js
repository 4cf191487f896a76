/**
 * A process that writes to a port and then ends in some way: `node child.js PORT HOW ARM`. Three writes in one turn, so
 * that with coalescing two of them are held when it ends.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { arms } from './pair.js';

const [port, how, arm] = process.argv.slice(2);

const ways = {
  'process.exit()': () => process.exit(3),
  'exit in a later tick': () => process.nextTick(() => process.exit(3)),
  'an uncaught error': () => {
    throw new Error('uncaught on purpose');
  },
  'an unhandled rejection': () => void Promise.reject(new Error('unhandled on purpose')),
  'an empty loop': (socket) => socket.unref(),
  SIGKILL: () => process.kill(process.pid, 'SIGKILL'),
  reallyExit: () => process.reallyExit(3),
  abort: () => process.abort(),
  'writes on exit': (socket) => {
    process.on('exit', () => {
      for (const text of ['3', '4', '5']) socket.write(text);
    });
    process.exit(3);
  },
};

if (how === 'a worker that exits') {
  const args = [port, 'process.exit()', arm];
  await once(new Worker(new URL(import.meta.url), { argv: args }), 'exit');
} else {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  arms[arm](socket);
  // In a turn of its own, like work that a timer starts.
  setTimeout(() => {
    for (const text of ['0', '1', '2']) socket.write(text);
    ways[how](socket);
  });
}
