/** The worth of taking the connections of a turn together: `make bench NAME=accept`. */
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';

const arm = new URL('./arm.js', import.meta.url);
const metrics = [
  { metric: 'cpu_us_per_connection', unit: 'us', better: 'lower' },
  { metric: 'connections_per_call', unit: '1', better: 'higher' },
  { metric: 'p50_ms', unit: 'ms', better: 'lower' },
  { metric: 'p99_ms', unit: 'ms', better: 'lower' },
];
const peer = 'plain';

await runBench('accept', async (bench) => {
  for (const title of ['net 500', 'ws 500']) {
    const subjects = [peer, 'batched', 'held 5'];
    const rounds = await bench.rounds(
      title,
      Object.fromEntries(subjects.map((name) => [name, () => runArm(arm, [title, name])])),
      { rounds: bench.quick ? 7 : 21, warmup: 1 },
    );
    for (const subject of ['batched', 'held 5']) {
      for (const what of metrics) {
        const [ours, theirs] = [subject, peer].map((name) =>
          rounds.map((round) => round[name][what.metric]),
        );
        bench.add({ case: `${title} ${subject}`, peer, backend: 'js', ...what }, ours, theirs);
      }
    }
  }
});
