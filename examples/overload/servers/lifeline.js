import { Worker } from 'node:worker_threads';

const watch = `
  const { Socket } = require('node:net');
  const stdin = new Socket({ fd: 0 });
  const end = () => process.kill(process.pid, 'SIGKILL');
  stdin.on('close', end).on('error', end).resume();
`;

/**
 * Ends this process when its parent is gone, in whatever way it went: then stdin, a pipe, closes. A thread watches it,
 * because the loop of an overloaded server may not look at it for many seconds.
 */
export function endWithParent() {
  new Worker(watch, { eval: true, stdin: false }).unref();
}
