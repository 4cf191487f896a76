/**
 * Arm of one round: `node replacement-arm.js PLAN` kills processes of a cluster, as `kill -9` does, and sends how long it took until their
 * replacements listened, how long a bare server takes to start, and what became of requests that were under way.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../packages/lab/run/up.js';
import { get, Pool } from '../../lib/http-client.js';
import { startServer } from '../../lib/load.js';
import { median } from '../../lib/statistics.js';
import { work } from '../guard/work.js';
import { replacement } from './work.js';

/** @typedef {{ subject: string, perMs: number }} Plan */
const plan = JSON.parse(process.argv[2]);
const file = (name) => fileURLToPath(new URL(`./${name}.js`, import.meta.url));
const steps = Math.round((replacement.taskUs / 1000) * plan.perMs);
// The primary does not know the port that processes of a cluster get for 0.
const port = await freePort();
let wrong = null;

const primary = fork(file('replacing-primary'), [plan.subject, `${steps}`, `${port}`]);
/** Processes of the cluster that listen. */
const pids = new Set();
let heard = () => {};
primary.on('message', ({ pid }) => {
  pids.add(pid);
  heard(pid);
});
const died = once(primary, 'exit').then(([code, signal]) => {
  throw new Error(`the primary ended with ${signal ?? code}`);
});
died.catch(() => {});

/** The next process that listens. */
const listening = () =>
  Promise.race([
    new Promise((resolve) => {
      heard = resolve;
    }),
    died,
  ]);

/** Kills a process. @returns ms until another one listens, and which */
async function replace(pid) {
  pids.delete(pid);
  const next = listening();
  const start = performance.now();
  process.kill(pid, 'SIGKILL');
  const replacing = await next;
  return { ms: performance.now() - start, replacing };
}

async function bareStart() {
  const start = performance.now();
  const { stop } = await startServer({
    command: [process.execPath, file('replaced-server'), `${steps}`, '0'],
  });
  const ms = performance.now() - start;
  await stop();
  return ms;
}

while (pids.size < replacement.processes) await listening();
const bare = [];
const replaced = [];
for (let i = 0; i < replacement.kills; i++) {
  bare.push(await bareStart());
  const [pid] = pids;
  replaced.push((await replace(pid)).ms);
}
const loss = await killUnderLoad();
const ended = once(primary, 'exit');
primary.disconnect();
await ended;
const [bareMs, ms] = [median(bare), median(replaced)];
process.send({
  replacement_ms: ms,
  replacement_ratio: ms / bareMs,
  bare_ms: bareMs,
  ...loss,
  wrong,
});
process.disconnect();

/** Clients ask, each one request after the other on its connection. Counts what was answered, and by whom what was not. */
async function killUnderLoad() {
  const base = work(steps);
  const counts = { answered: 0, of_killed: 0, of_survivors: 0, of_nobody: 0 };
  const seen = new Set();
  let killed = null;
  let isOver = false;
  let next = 0;

  function visit(pool) {
    /** The process at the other end, once it has answered. */
    let pid = null;
    return new Promise((resolve) => {
      ask();
      function ask() {
        if (isOver) return resolve();
        const number = next++;
        pool.request(get(`/${number}`), (status, body) => {
          if (status === 200) {
            const [from, result] = body.split(' ').map(Number);
            if (result !== base + number) wrong ??= `request ${number} was answered ${body}`;
            pid = from;
            seen.add(from);
            counts.answered++;
          } else {
            if (pid === null) counts.of_nobody++;
            else if (pid === killed) counts.of_killed++;
            else counts.of_survivors++;
            pid = null;
          }
          ask();
        });
      }
    });
  }

  const pools = Array.from({ length: replacement.connections }, () => new Pool(port));
  const visitors = Promise.all(pools.map(visit));
  while (seen.size < replacement.processes) await sleep(10);
  await sleep(200);
  [killed] = pids;
  const { replacing } = await Promise.race([replace(killed), died]);
  // Connections that were kept stay where they are; those of the process that died have moved.
  await sleep(300);
  isOver = true;
  // A connection that was on its way to the process that died may stay without an answer.
  await Promise.race([visitors, sleep(10_000)]);
  for (const pool of pools) pool.close();
  await visitors;
  if (!pids.has(replacing)) wrong ??= 'the replacement is not one of the cluster';
  return counts;
}
