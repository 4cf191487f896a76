/** CPU time of an otherwise idle process whose dashboard is looked at, or not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf, startChild } from '../../lib/child.js';

const program = new URL('./idle.js', import.meta.url);
const settleMs = 1500;

/** The share of a core that the process takes. @param {import('node:child_process').ForkOptions} [how] options of its start */
export async function cpuShare(args, isOpen, seconds, how = {}) {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = fork(program, args, { ...how, stdio });
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
