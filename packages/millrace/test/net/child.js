/**
 * A process that writes to a port and then ends in some way: `node child.js PORT HOW`. It has a connection of each arm, in their order,
 * and writes three times to each in one turn, so that with coalescing two writes are held when it ends.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { arms } from './pair.js';

const [port, how] = process.argv.slice(2);

const ways = {
  'process.exit()': () => process.exit(3),
  'exit in a later tick': () => process.nextTick(() => process.exit(3)),
  'an uncaught error': () => {
    throw new Error('uncaught on purpose');
  },
  'an unhandled rejection': () => void Promise.reject(new Error('unhandled on purpose')),
  'an empty loop': (sockets) => {
    for (const socket of sockets) socket.unref();
  },
  SIGKILL: () => process.kill(process.pid, 'SIGKILL'),
  reallyExit: () => process.reallyExit(3),
  abort: () => process.abort(),
  'writes on exit': (sockets) => {
    process.on('exit', () => {
      for (const socket of sockets) for (const text of '345') socket.write(text);
    });
    process.exit(3);
  },
};

if (how === 'a worker that exits') {
  await once(new Worker(new URL(import.meta.url), { argv: [port, 'process.exit()'] }), 'exit');
} else {
  const sockets = [];
  for (const arm of Object.values(arms)) {
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    arm(socket);
    sockets.push(socket);
  }
  // In a turn of its own, like work that a timer starts.
  setTimeout(() => {
    for (const socket of sockets) for (const text of '012') socket.write(text);
    ways[how](sockets);
  });
}
