/**
 * One case of a benchmark whose arms are processes: Millrace and its peers, which do the same work.
 *
 * A module of arms is run as `node arm.js CASE SUBJECT …`, and sends one value per metric, and what was wrong with its results, or null.
 */
import { runArm } from './arm.js';
import { Refused } from './bench.js';

const ours = 'millrace';

/**
 * Measures the case, and adds the figures of each peer.
 *
 * @param {import('./bench.js').Bench} bench
 * @param {object} of
 * @param {string} of.title the case
 * @param {URL} of.arm the module
 * @param {(string | number)[]} of.args its further arguments
 * @param {Record<string, number | undefined>} of.peers each with the least that `ahead` has to be in the first metric; undefined: no target
 * @param {{ metric: string, unit: string, better: string }[]} of.metrics
 * @throws {Refused} when an arm reports a wrong result
 */
export async function comparePeers(bench, { title, arm, args, peers, metrics }) {
  const subjects = [ours, ...Object.keys(peers)];
  const arms = subjects.map((subject) => [subject, () => runArm(arm, [title, subject, ...args])]);
  const size = { rounds: bench.quick ? 9 : 31, warmup: 1 };
  const rounds = await bench.rounds(title, Object.fromEntries(arms), size);
  for (const subject of subjects) {
    const wrong = rounds.find((round) => round[subject].wrong !== null);
    if (wrong) throw new Refused(`in the case '${title}', ${subject}: ${wrong[subject].wrong}`);
  }
  for (const [peer, target] of Object.entries(peers)) {
    for (const metric of metrics) {
      const [mine, theirs] = [ours, peer].map((subject) =>
        rounds.map((round) => round[subject][metric.metric]),
      );
      const least = metric === metrics[0] ? target : undefined;
      bench.add({ case: title, peer, ...metric }, mine, theirs, least);
    }
  }
}
