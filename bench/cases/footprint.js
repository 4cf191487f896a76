/** Cost of Millrace in an idle process. */
import { armsOf } from '../lib/experiment.js';
import { allowedDescriptors, memory, wakeups } from '../programs/footprint/connections.js';
import { imports, startNode } from '../programs/footprint/imports.js';

const connections = 10_000;
const spareDescriptors = 100;
/** In two seconds, of all threads; the timer that ends them is one. */
const mostWakeups = 10;

export default {
  question: 'What Millrace costs when idle: start, memory, wake-ups',
  place: 190,
  rows: {
    '10k connections': ['10,000 WebSockets in rooms', ['rss_bytes', 'ws']],
    '10k connections install': ['the same, with `install`', ['rss_bytes', 'ws']],
  },
  *experiments(bench) {
    const { quick } = bench;
    const all = imports();
    yield {
      name: 'import',
      arms: {
        none: () => startNode([]),
        ...armsOf(all, (name) => () => startNode(['--import', name])),
      },
      rounds: quick ? 6 : 51,
      metrics: ['start_ms', 'rss_mb'],
      peers: { none: undefined },
      comparisons: all.map((name) => ({ case: `import ${name}`, ours: name })),
    };

    if (allowedDescriptors() < connections + spareDescriptors) {
      bench.note(
        `no connections were held: they need ${connections + spareDescriptors} file descriptors, and a process may have ` +
          `${allowedDescriptors()} here (ulimit -Hn)`,
      );
      return;
    }
    const few = { rounds: quick ? 6 : 9, warmup: 0 };
    yield {
      ...{ name: '10k connections', ...few },
      arms: armsOf(['ws', 'rooms', 'install'], (arm) => () => memory(arm, connections)),
      metrics: ['rss_bytes', 'heap_bytes'],
      peers: { ws: undefined },
      comparisons: [{ ours: 'rooms' }, { case: '10k connections install', ours: 'install' }],
    };
    yield {
      ...{ name: '1k idle', ...few },
      arms: armsOf(['rooms', 'install'], (arm) => () => wakeups(arm, 1000)),
      bounds: [['wakeups', mostWakeups]],
      comparisons: [{ ours: 'rooms' }, { case: '1k idle install', ours: 'install' }],
    };
  },
};
