/** What a guard costs a server that has time: `hello world`, 100 connections, each sends its next request when it has its answer. */
import { ClosedLoop } from '../lib/closed-loop.js';
import { countRequests } from '../lib/counts.js';
import { mean, share } from '../lib/statistics.js';

const title = 'idle overhead';
const connections = 100;
/** Requests that take some tens of ms. */
const slice = 2000;
const [ours, peer] = ['millrace', 'unprotected'];
const noWorse = 0.95;

const rates = [
  { metric: 'good_per_s', unit: '1/s', better: 'higher' },
  { metric: 'cpu_us_per_req', unit: 'us', better: 'lower' },
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
  for (const what of rates) {
    const values = (subject) => rate.map((round) => round[subject][what.metric]);
    bench.add({ case: title, peer, ...what }, values(ours), values(peer), noWorse);
  }
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
  const counted = (subject) => (flags) => command(subject, { flags });
  const commands = { [ours]: counted(ours), [peer]: counted(peer) };
  const addCounts = await countRequests(bench, title, commands);
  addCounts({ case: title }, ours, peer);
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
