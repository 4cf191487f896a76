/** CPU time of an otherwise idle process whose dashboard is looked at, or not. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const program = new URL('./idle.js', import.meta.url);
const settleMs = 1500;

/** The share of a core that the process takes. */
export async function cpuShare(args, isOpen, seconds) {
  const child = fork(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const viewer = new AbortController();
  try {
    const [{ url }] = await once(child, 'message');
    const received = isOpen ? view(`${url}api/events`, viewer.signal) : null;
    await sleep(settleMs);
    const [before, start] = [await cpuMs(child), performance.now()];
    await sleep(seconds * 1000);
    const share = ((await cpuMs(child)) - before) / (performance.now() - start);
    viewer.abort();
    if (isOpen && (await received) === 0) throw new Error('the dashboard has told nothing');
    return { cpu_share: share };
  } finally {
    viewer.abort();
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
}

/** Reads the process's own counter: the kernel's for other processes has a grain of hundredths of a second on some machines. */
async function cpuMs(child) {
  child.send('cpu');
  const [ms] = await once(child, 'message');
  return ms;
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
