/** What Millrace costs when idle: start, memory, wake-ups: `make bench NAME=footprint`. */
import { runBench } from '../lib/bench.js';
import { allowedDescriptors, memory, wakeups } from './connections.js';
import { imports, startNode } from './imports.js';

const metrics = {
  start_ms: { unit: 'ms', better: 'lower' },
  rss_mb: { unit: 'MB', better: 'lower' },
  rss_bytes: { unit: 'B', better: 'lower' },
  heap_bytes: { unit: 'B', better: 'lower' },
  wakeups: { unit: '1', better: 'lower' },
};
const connections = 10_000;
const spareDescriptors = 100;
/** In two seconds, of all threads; the timer that ends them is one. */
const mostWakeups = 10;

await runBench('footprint', async (bench) => {
  const { quick } = bench;

  function add(samples, title, [ours, peer], names) {
    const values = (arm, metric) => samples.map((round) => round[arm][metric]);
    for (const metric of names) {
      const what = { case: title, metric, peer, ...metrics[metric] };
      bench.add(what, values(ours, metric), values(peer, metric));
    }
  }

  const starts = { none: () => startNode([]) };
  for (const name of imports) starts[name] = () => startNode(['--import', name]);
  const size = { rounds: quick ? 6 : 51, warmup: 1 };
  const started = await bench.rounds('import', starts, size);
  for (const name of imports) {
    add(started, `import ${name}`, [name, 'none'], ['start_ms', 'rss_mb']);
  }

  const few = { rounds: quick ? 6 : 9, warmup: 0 };
  const arms = (names, measure, count) =>
    Object.fromEntries(names.map((name) => [name, () => measure(name, count)]));
  if (allowedDescriptors() < connections + spareDescriptors) {
    bench.note(
      `no connections were held: they need ${connections + spareDescriptors} file descriptors, and a process may have ` +
        `${allowedDescriptors()} here (ulimit -Hn)`,
    );
    return;
  }
  const title = '10k connections';
  const held = await bench.rounds(
    title,
    arms(['ws', 'rooms', 'install'], memory, connections),
    few,
  );
  add(held, title, ['rooms', 'ws'], ['rss_bytes', 'heap_bytes']);
  add(held, `${title} install`, ['install', 'ws'], ['rss_bytes', 'heap_bytes']);

  const idle = await bench.rounds('1k idle', arms(['rooms', 'install'], wakeups, 1000), few);
  for (const [arm, name] of [
    ['rooms', '1k idle'],
    ['install', '1k idle install'],
  ]) {
    const what = { case: name, metric: 'wakeups', peer: null, ...metrics.wakeups };
    bench.add(
      what,
      idle.map((round) => round[arm].wakeups),
      mostWakeups,
      1,
    );
  }
});
