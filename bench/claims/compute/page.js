/**
 * Writes docs/research/compute-results.md from what the experiments of the compute service have found. `make experiment NAME=compute` does so at its
 * end; `node bench/claims/compute/page.js PATH...` takes files of results, or folders of them: the newest of each experiment.
 */
import { writeFileSync } from 'node:fs';
import { newestOf } from '../lib/newest.js';
import { computePage, EXPERIMENTS } from './tables.js';

const PAGE = new URL('../../../docs/research/compute-results.md', import.meta.url);

const all = newestOf(process.argv.slice(2)).filter(({ experiment }) =>
  EXPERIMENTS.includes(experiment),
);
if (all.length === 0) {
  console.error(
    `there are no results; name files or folders of those of ${EXPERIMENTS.join(', ')}`,
  );
  process.exit(2);
}
writeFileSync(PAGE, computePage(all));
