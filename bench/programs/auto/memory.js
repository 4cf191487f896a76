/**
 * Memory that auto adds to an idle `hello world`: what only this process has, which is what another process would cost as well; and what it
 * has in memory, which is more, as each part of Node.js that is used for the first time comes from the file of its program.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf, startChild } from '../../lib/child.js';

const server = new URL('./server.js', import.meta.url);
/** Features begin 0.1 s after the start. */
const settleMs = 1500;

/** Memory of the server, started with these options of Node.js and this mode of auto. */
export async function idleMemory(flags, mode = '') {
  const child = await startChild(commandOf(server, [], flags), { env: { MILLRACE: mode } });
  try {
    await sleep(settleMs);
    const sizes = readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8');
    const mb = (name) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(sizes)[1]) * 1024e-6;
    return { rss_mb: mb('Rss'), private_mb: mb('Private_Clean') + mb('Private_Dirty') };
  } finally {
    await child.stop();
  }
}
