/**
 * `make soak [SOAK_SECONDS=3600] [SEED=…] [MARKDOWN=docs/benchmarks/soak.md]`: the chat in several processes under load, with a fault every
 * minute. EVERY is the time from one fault to the next; PLAN=calm is one process without faults.
 */
import { addon } from './lib/addon.js';
import { run } from './lib/child.js';
import { exitWith } from './lib/failure.js';
import { root } from './lib/paths.js';
import { provision } from './lib/provision.js';
import { generator, millrace, packages, tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

const { PLAN, SOAK_SECONDS, EVERY, SEED, MARKDOWN } = process.env;

await runOrExit([
  tools('make', 'cmake', 'cc', 'python3'),
  packages(),
  millrace,
  addon,
  generator,
  provision(['nats-server', 'postgresql']),
]);
console.log();
const settings = {
  plan: PLAN,
  seconds: SOAK_SECONDS,
  every: EVERY,
  seed: SEED,
  markdown: MARKDOWN,
};
const args = Object.entries(settings).flatMap(([name, value]) =>
  value ? [`--${name}`, value] : [],
);
await run(process.execPath, ['examples/chat/soak/main.js', ...args], { cwd: root }).catch(exitWith);
