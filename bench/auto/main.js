/** What auto mode, observe mode, the dashboard and metrics cost: `make bench NAME=auto`. */
import { runBench } from '../lib/bench.js';
import { compareCosts } from './cost.js';
import { compareDashboard } from './dashboard.js';
import { compareMemory } from './memory.js';
import { measureScrapes } from './scrape.js';
import { compareStarts } from './start.js';

await runBench('auto', async (bench) => {
  await compareStarts(bench);
  await compareMemory(bench);
  await compareCosts(bench);
  await compareDashboard(bench);
  await measureScrapes(bench);
});
