import { once } from 'node:events';
import { endChild, startChild } from './child.js';

/**
 * Starts one of the servers as a child process.
 *
 * @param {string} name see servers/index.js
 * @param {number} iterations what a request costs
 * @returns {Promise<{ port: number, pid: number, exited: Promise<string | number>, end: () => Promise<void> }>} once it listens
 */
export async function startServer(name, iterations) {
  const child = startChild('../servers/process.js', [name, iterations]);
  const started = await Promise.race([once(child, 'message'), child.exited]);
  if (!Array.isArray(started)) {
    throw new Error(`the server ${name} ended with ${started} before it listened`);
  }
  const [{ port }] = started;
  return { port, pid: child.pid, exited: child.exited, end: () => endChild(child) };
}
