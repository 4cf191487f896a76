/** Memory that auto adds to an idle `hello world`. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const server = fileURLToPath(new URL('./server.js', import.meta.url));
const auto = ['--import', 'millrace/auto'];
/** Auto starts its monitor 0.1 s after the start. */
const settleMs = 1500;
const mostAddedMb = 3;
/** Less is the page that one process happens to use more than another. */
const leastMb = 0.1;

async function idle(execArgv) {
  const child = fork(server, { execArgv, env: { ...process.env, MILLRACE: '' } });
  try {
    await once(child, 'message');
    await sleep(settleMs);
    child.send('stats');
    const [{ rss_mb }] = await once(child, 'message');
    return { rss_mb };
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
  const added = rounds.map((round) => Math.max(leastMb, round.auto.rss_mb - round.none.rss_mb));
  const what = { metric: 'added_rss_mb', unit: 'MB', better: 'lower', peer: null };
  bench.add({ case: 'idle auto', ...what }, added, mostAddedMb, 1);
}
