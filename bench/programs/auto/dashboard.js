/** CPU time of an otherwise idle process whose dashboard is looked at, or not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf, startChild } from '../../lib/child.js';

const program = new URL('./idle.js', import.meta.url);
const settleMs = 1500;

/**
 * The share of a core that the process takes.
 *
 * @param {string[]} args
 * @param {boolean} isOpen whether the dashboard is looked at
 * @param {number} seconds
 * @param {object} [how] options of its start: `flags` of Node.js, and `env`
 */
export async function cpuShare(args, isOpen, seconds, { flags, env } = {}) {
  const child = await startChild(commandOf(program, args, flags), { output: 'ignore', env });
  // The process's own counter: the kernel's for other processes has a grain of hundredths of a second on some machines.
  const cpuMs = () => child.ask('cpu');
  const viewer = new AbortController();
  try {
    const received = isOpen ? view(`${child.first.url}api/events`, viewer.signal) : null;
    await sleep(settleMs);
    const [before, start] = [await cpuMs(), performance.now()];
    await sleep(seconds * 1000);
    const share = ((await cpuMs()) - before) / (performance.now() - start);
    viewer.abort();
    if (isOpen && (await received) === 0) throw new Error('the dashboard has told nothing');
    return { cpu_share: share };
  } finally {
    viewer.abort();
    await child.stop();
  }
}

/** Bytes that came until the end. */
async function view(url, signal) {
  let bytes = 0;
  try {
    const { body } = await fetch(url, { signal });
    for await (const chunk of body) bytes += chunk.length;
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
  }
  return bytes;
}
