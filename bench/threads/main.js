/** What a ring is worth to threads that have events for JavaScript: `make bench NAME=threads`. */
import { api } from 'millrace/threads';
import { build, unable } from '../../packages/millrace/test/threads/build.js';
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { Refused } from '../lib/refused.js';
import { cases } from './cases.js';

const arm = new URL('./arm.js', import.meta.url);
const rate = { metric: 'events_per_s', unit: '1/s', better: 'higher' };
const ours = 'millrace';
const peer = 'threadsafe-function';
/** The least that `ahead` has to be. */
const targets = { 'batch 64': 6, saturated: 15 };

await runBench('threads', async (bench) => {
  try {
    api();
  } catch (error) {
    throw new Refused(error.message);
  }
  if (unable !== null) throw new Refused(`its addon cannot be built: ${unable}`);
  const addon = build(new URL('./addon.c', import.meta.url));
  const size = { rounds: bench.quick ? 9 : 31, warmup: 1 };
  for (const title of Object.keys(cases)) {
    const arms = Object.fromEntries(
      [ours, peer].map((subject) => [subject, () => runArm(arm, [title, subject, addon])]),
    );
    const rounds = await bench.rounds(title, arms, size);
    for (const subject of [ours, peer]) {
      const { wrong } = rounds.map((round) => round[subject]).find((each) => each.wrong) ?? {};
      if (wrong) throw new Refused(`in the case '${title}', ${subject}: ${wrong}`);
    }
    const values = (subject) => rounds.map((round) => round[subject].events_per_s);
    bench.add({ case: title, peer, ...rate }, values(ours), values(peer), targets[title]);
  }
});
