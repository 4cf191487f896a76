/** What grouping calls is worth: `make bench NAME=batch`. */
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { Refused } from '../lib/refused.js';
import { ensureResults } from '../lib/results.js';
import { inserts } from './cases.js';

const arm = new URL('./arm.js', import.meta.url);
const rate = { metric: 'items_per_s', unit: '1/s', better: 'higher' };

await runBench('batch', async (bench) => {
  const size = { rounds: bench.quick ? 9 : 31, warmup: 1 };
  ensureResults();

  /** Measures each subject once a round, and compares them in pairs. */
  async function compare(title, name, pairs) {
    const subjects = [...new Set(pairs.flatMap(({ ours, peer }) => [ours, peer]))];
    const arms = subjects.map((subject) => [subject, () => runArm(arm, [name, subject, title])]);
    const rounds = await bench.rounds(title, Object.fromEntries(arms), size);
    for (const subject of subjects) {
      if (rounds.every((round) => round[subject].complete)) continue;
      throw new Refused(`in the case '${title}' ${subject} did not do all of its work`);
    }
    const values = (subject) => rounds.map((round) => round[subject].items_per_s);
    for (const { ours, peer, target } of pairs) {
      bench.add({ case: title, peer, ...rate }, values(ours), values(peer), target);
    }
  }

  await compare('keys 1000', 'keys', [
    { ours: 'millrace', peer: 'dataloader' },
    { ours: 'millrace with keys', peer: 'dataloader cache' },
    { ours: 'millrace', peer: 'unbatched' },
  ]);
  for (const [title, { target }] of Object.entries(inserts)) {
    await compare(title, 'insert', [{ ours: 'millrace', peer: 'unbatched', target }]);
  }
});
