/** What auto and observe cost a server for which they can do nothing: `hello world`, 100 connections, as fast as answers come. */
import { fileURLToPath } from 'node:url';
import { runArm } from '../lib/arm.js';
import { Refused } from '../lib/bench.js';
import { pinned } from '../lib/cores.js';

const arm = new URL('../guard/overhead-arm.js', import.meta.url);
const server = fileURLToPath(new URL('./server.js', import.meta.url));
const connections = 100;
/** The factor that each must reach at least, and the most memory that it may add. */
const bounds = { auto: { ahead: 0.98, addedMb: 3 }, observe: { ahead: 0.95, addedMb: 8 } };
/** Less is the page that one process happens to use more than another. */
const leastMb = 0.1;
/** So much space for new objects, in MB, that nothing is collected while they are counted. */
const young = 256;

const preload = ['--import', 'millrace/auto'];
const subjects = {
  none: { env: 'MILLRACE=', options: [] },
  auto: { env: 'MILLRACE=', options: preload },
  observe: { env: 'MILLRACE=observe', options: preload },
};

const cpu = { metric: 'cpu_us_per_req', unit: 'us', better: 'lower' };
const memory = { metric: 'added_rss_mb', unit: 'MB', better: 'lower', peer: null };
const counts = [
  { metric: 'syscalls_per_req', unit: '1', better: 'lower' },
  { metric: 'allocated_bytes_per_req', unit: 'B', better: 'lower' },
];

/** Adds `hello auto` and `hello observe`. @param {string | null} obstacle why system calls cannot be counted */
export async function compareHello(bench, obstacle) {
  const { quick } = bench;
  const { prefix, note } = pinned();
  bench.note(`hello: ${note}`);
  const timed = { connections, seconds: quick ? 1 : 2 };
  const rates = await measure(bench, timed, { rounds: quick ? 6 : 41, warmup: 1 }, prefix);
  const answered = (subject) => rates.map((round) => round[subject]);
  for (const subject of ['auto', 'observe']) {
    const title = `hello ${subject}`;
    const { ahead, addedMb } = bounds[subject];
    const per = (name) => answered(name).map(({ cpu_us_per_req }) => cpu_us_per_req);
    bench.add({ case: title, peer: 'none', ...cpu }, per(subject), per('none'), ahead);
    const added = rates.map((round) =>
      Math.max(leastMb, round[subject].stats.rss_mb - round.none.stats.rss_mb),
    );
    bench.add({ case: title, ...memory }, added, addedMb, 1);
  }
  if (!quick) await addCounts(bench, obstacle, prefix);
}

async function addCounts(bench, obstacle, prefix) {
  if (obstacle !== null) bench.note(`hello: system calls were not counted: ${obstacle}`);
  const flags = [`--min-semi-space-size=${young}`, `--max-semi-space-size=${young}`, '--expose-gc'];
  const plan = { connections, count: 20_000, syscalls: obstacle === null };
  const rounds = await measure(bench, plan, { rounds: 6, warmup: 0 }, prefix, flags);
  for (const what of obstacle === null ? counts : counts.slice(1)) {
    const values = (subject) => rounds.map((round) => round[subject][what.metric]);
    for (const subject of ['auto', 'observe']) {
      const named = { case: `hello ${subject}`, peer: 'none', ...what };
      bench.add(named, values(subject), values('none'));
    }
  }
}

async function measure(bench, plan, size, prefix, flags = []) {
  const arms = Object.entries(subjects).map(([subject, { env, options }]) => {
    const command = [...prefix, 'env', env, process.execPath, ...flags, ...options, server];
    return [subject, () => runArm(arm, [JSON.stringify({ ...plan, command })])];
  });
  const rounds = await bench.rounds('hello', Object.fromEntries(arms), size);
  for (const [subject, { wrong }] of rounds.flatMap(Object.entries)) {
    if (wrong) throw new Refused(`in the case 'hello', ${subject}: ${wrong}`);
  }
  return rounds;
}
