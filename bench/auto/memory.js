/**
 * Memory that auto adds to an idle `hello world`: what only this process has, which is what another process would cost as well; and what it
 * has in memory, which is more, as each part of Node.js that is used for the first time comes from the file of its program.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const server = fileURLToPath(new URL('./server.js', import.meta.url));
const auto = ['--import', 'millrace/auto'];
/** Features begin 0.1 s after the start. */
const settleMs = 1500;
const mostAddedMb = 3;
/** Less is the page that one process happens to use more than another. */
const leastMb = 0.1;

async function idle(execArgv) {
  const child = fork(server, { execArgv, env: { ...process.env, MILLRACE: '' } });
  try {
    await once(child, 'message');
    await sleep(settleMs);
    const sizes = readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8');
    const mb = (name) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(sizes)[1]) * 1024e-6;
    return { rss_mb: mb('Rss'), private_mb: mb('Private_Clean') + mb('Private_Dirty') };
  } finally {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
}

/** Adds `idle auto`. */
export async function compareMemory(bench) {
  const arms = { none: () => idle([]), auto: () => idle(auto) };
  const rounds = await bench.rounds('idle', arms, { rounds: bench.quick ? 9 : 31, warmup: 0 });
  const values = (arm, of) => rounds.map((round) => round[arm][of]);
  const mb = { case: 'idle auto', unit: 'MB', better: 'lower' };
  const [ours, theirs] = ['auto', 'none'].map((arm) => values(arm, 'private_mb'));
  const added = ours.map((each, i) => Math.max(leastMb, each - theirs[i]));
  bench.add({ ...mb, metric: 'added_private_mb', peer: null }, added, mostAddedMb, 1);
  const peer = { ...mb, metric: 'rss_mb', peer: 'none' };
  bench.add(peer, values('auto', 'rss_mb'), values('none', 'rss_mb'));
}
