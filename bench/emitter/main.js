/** What an event costs: `make bench NAME=emitter`. */
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { Refused } from '../lib/refused.js';

const arm = new URL('./arm.js', import.meta.url);
const cost = { metric: 'ns_per_event', unit: 'ns', better: 'lower' };
const share = { metric: 'delivered_share', unit: '1', better: 'higher' };

/** The least that `ahead` has to be: at most 1.5 times, and at most 3 times, the peer's time. */
const targets = { direct: { 'node:events': 1 / 1.5 }, adaptive: { 'millrace direct': 1 / 3 } };
/** What it may cost to keep an event and to deliver it later, ns. */
const lateBoundNs = 2000;

await runBench('emitter', async (bench) => {
  const size = { rounds: bench.quick ? 9 : 31, warmup: 1 };

  /** Measures subjects in one case; gives a function from subject and metric to the rounds' values. */
  async function measure(title, name, subjects) {
    const arms = subjects.map((subject) => [subject, () => runArm(arm, [name, subject])]);
    const rounds = await bench.rounds(title, Object.fromEntries(arms), size);
    return (subject, metric) => rounds.map((round) => round[subject][metric]);
  }

  async function compare(name, ours, peers) {
    const values = await measure(name, name, [ours, ...peers]);
    for (const subject of [ours, ...peers]) {
      if (values(subject, 'delivered_share').every((delivered) => delivered === 1)) continue;
      throw new Refused(`in the case '${name}' a listener of ${subject} did not get every event`);
    }
    for (const peer of peers) {
      const target = targets[name][peer];
      const [a, b] = [values(ours, 'ns_per_event'), values(peer, 'ns_per_event')];
      bench.add({ case: name, peer, ...cost }, a, b, target);
    }
  }

  await compare('direct', 'millrace direct', ['node:events', 'eventemitter3']);
  await compare('adaptive', 'millrace adaptive', [
    'millrace direct',
    'node:events',
    'eventemitter3',
  ]);

  const title = 'late listener';
  const late = await measure(title, 'late', ['millrace retaining', 'node:events']);
  const kept = late('millrace retaining', 'delivered_share');
  bench.add(
    { case: title, peer: null, ...cost },
    late('millrace retaining', 'ns_per_event'),
    lateBoundNs,
    1,
  );
  bench.add({ case: title, peer: null, ...share }, kept, 1, 1);
  const lost = (values) => Math.round((1 - Math.min(...values)) * 1000);
  bench.note(
    `late listener: of 1,000 events that come before their listener, millrace loses ${lost(kept)}, ` +
      `node:events loses ${lost(late('node:events', 'delivered_share'))}`,
  );
});
