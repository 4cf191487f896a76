/** CPU time of a scrape: by `collect()`, and with the text of prom-client. */
import { runArm } from '../lib/arm.js';

const arm = new URL('./scrape-arm.js', import.meta.url);
/** CPU ms that a scrape may take, by emitters and batches. */
const most = { 1: { collect: 1, text: 2 }, 100: { collect: 10, text: 20 } };

/** Adds `scrape` and `scrape 100`. */
export async function measureScrapes(bench) {
  for (const [objects, bounds] of Object.entries(most)) {
    const title = objects === '1' ? 'scrape' : `scrape ${objects}`;
    const rounds = await bench.rounds(
      title,
      { millrace: () => runArm(arm, [objects]) },
      { rounds: bench.quick ? 6 : 21, warmup: 1 },
    );
    for (const [way, bound] of Object.entries(bounds)) {
      const metric = way === 'collect' ? 'collect_cpu_ms' : 'text_cpu_ms';
      const what = { case: title, metric, unit: 'ms', better: 'lower', peer: null };
      const values = rounds.map(({ millrace }) => millrace[way]);
      bench.add(what, values, bound, 1);
    }
  }
}
