/** `node bench/run.js NAME`: runs the benchmark bench/cases/NAME.js; its options are in the environment. `make bench NAME=…` builds before. */
import { runBench } from './lib/bench.js';
import { load, paths } from './lib/benchmarks.js';

const [name] = process.argv.slice(2);
const path = paths().get(name);
if (path === undefined) {
  console.error(`there is no benchmark ${name}; there are ${[...paths().keys()].join(', ')}`);
  process.exit(2);
}
await runBench(name, await load(path));
