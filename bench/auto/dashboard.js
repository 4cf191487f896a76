/** CPU time of an otherwise idle process whose dashboard is looked at, or not. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const program = new URL('./idle.js', import.meta.url);
/** Share of a core that an open dashboard may take. */
const mostShare = 0.01;
const settleMs = 1500;

/** The share of a core that the process takes. */
async function cpuShare(args, isOpen, seconds) {
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

/** Its own counter: that of the kernel for other processes goes in hundredths of a second here and there. */
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

/** Adds `dashboard open` and `dashboard closed`. */
export async function compareDashboard(bench) {
  const seconds = bench.quick ? 2 : 15;
  const arms = {
    none: () => cpuShare([], false, seconds),
    closed: () => cpuShare(['dashboard'], false, seconds),
    open: () => cpuShare(['dashboard'], true, seconds),
  };
  const rounds = await bench.rounds('dashboard', arms, {
    rounds: bench.quick ? 6 : 15,
    warmup: 0,
  });
  const shares = (arm) => rounds.map((round) => round[arm].cpu_share);
  const what = { metric: 'cpu_share', unit: '1', better: 'lower' };
  const open = { case: 'dashboard open', ...what };
  bench.add({ ...open, peer: null }, shares('open'), mostShare, 1);
  bench.add({ ...open, peer: 'none' }, shares('open'), shares('none'));
  const closed = { case: 'dashboard closed', peer: 'none', ...what };
  bench.add(closed, shares('closed'), shares('none'), 0.95);
}
