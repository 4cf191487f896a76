/** What a guard costs a server that has time: `hello world`, 100 connections, each sends its next request when it has its answer. */
import { runArm } from '../lib/arm.js';
import { Refused } from '../lib/bench.js';
import { mean, share } from '../lib/statistics.js';
import { ClosedLoop } from './closed-loop.js';
import { obstacle } from './syscalls.js';

const countArm = new URL('./count-arm.js', import.meta.url);
const title = 'idle overhead';
const connections = 100;
/** Requests that take some tens of ms. */
const slice = 2000;
const [ours, peer] = ['millrace', 'unprotected'];
const noWorse = 0.95;
/** So much space for new objects, in MB, that nothing is collected while they are counted: the heap grows by what was allocated. */
const young = 256;

const rates = [
  { metric: 'good_per_s', unit: '1/s', better: 'higher' },
  { metric: 'cpu_us_per_req', unit: 'us', better: 'lower' },
];
const counts = [
  { metric: 'syscalls_per_req', unit: '1', better: 'lower' },
  { metric: 'allocated_bytes_per_req', unit: 'B', better: 'lower' },
];

/** @param {(subject: string, options?: object) => string[]} command that starts a server */
export async function compareOverhead(bench, command) {
  const { quick } = bench;
  const servers = Object.fromEntries(
    [ours, peer].map((subject) => [subject, { command: command(subject) }]),
  );
  const load = (port) => new ClosedLoop(port, connections);
  const plan = { servers, load, slice, laps: 10, warmup: 10 };
  const rate = await bench.slices(title, plan, quick ? 12 : 30);
  add(rates, rate, noWorse);
  const [answers, shed] = ['answers', 'shed'].map((what) =>
    rate.map((round) => round[ours].load[what]),
  );
  const admitted = { case: title, metric: 'admitted', unit: '1', better: 'higher', peer: null };
  const shares = answers.map((count, i) => share(count, count + shed[i]));
  bench.add({ ...admitted, summary: mean }, shares, 1, 1);
  if (sum(shed) > 0)
    bench.note(
      `${title}: ${ours} answered ${sum(shed)} of ${sum(answers) + sum(shed)} requests with 503`,
    );

  // Counts have no target.
  if (quick) return;
  const why = obstacle();
  if (why !== null) bench.note(`${title}: system calls were not counted: ${why}`);
  const flags = [`--min-semi-space-size=${young}`, `--max-semi-space-size=${young}`, '--expose-gc'];
  const arms = [ours, peer].map((subject) => {
    const counted = { command: command(subject, { flags }), connections, count: 20_000 };
    return [
      subject,
      () => runArm(countArm, [JSON.stringify({ ...counted, syscalls: why === null })]),
    ];
  });
  const counted = await bench.rounds(title, Object.fromEntries(arms), { rounds: 6, warmup: 0 });
  for (const [subject, { wrong }] of counted.flatMap(Object.entries)) {
    if (wrong) throw new Refused(`in the case '${title}', ${subject}: ${wrong}`);
  }
  add(why === null ? counts : counts.slice(1), counted);

  function add(metrics, rounds, target) {
    for (const what of metrics) {
      const values = (subject) => rounds.map((round) => round[subject][what.metric]);
      bench.add({ case: title, peer, ...what }, values(ours), values(peer), target);
    }
  }
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
