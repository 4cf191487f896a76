/** What auto mode, observe mode, the dashboard and metrics cost: `make bench NAME=auto`. */
import { obstacle } from '../guard/syscalls.js';
import { runBench } from '../lib/bench.js';
import { compareDashboard } from './dashboard.js';
import { compareHello } from './hello.js';
import { compareMemory } from './memory.js';
import { measureScrapes } from './scrape.js';
import { compareStarts } from './start.js';

await runBench('auto', async (bench) => {
  await compareStarts(bench);
  await compareMemory(bench);
  await compareHello(bench, bench.quick ? null : obstacle());
  await compareDashboard(bench);
  await measureScrapes(bench);
});
