/** What it costs to start a process with millrace/auto. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { randomFrom, shuffled } from '../lib/random.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** Starts of an arm in a round, of which the least counts: what disturbs a start only adds to it. */
const startsInRound = 5;
/** Less is the difference of two starts without anything. */
const leastMs = 0.1;

/** All by their paths: to find a package by its name costs the same whatever is in it. */
const { resolve } = createRequire(import.meta.url);
const preloads = {
  none: [],
  'import auto': ['--import', import.meta.resolve('millrace/auto')],
  'import empty': ['--import', import.meta.resolve('./empty.js')],
  'require auto': ['--require', resolve('millrace/auto')],
  'require empty': ['--require', resolve('./empty.cjs')],
};

/** CPU time in ms, user and system, that a process has taken when its application begins. */
async function startOnce(options) {
  const env = { ...process.env };
  for (const name of Object.keys(env)) if (/^(MILLRACE|NODE_OPTIONS)/.test(name)) delete env[name];
  const child = spawn(process.execPath, [...options, './program.cjs'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let micros = '';
  child.stdout.on('data', (text) => {
    micros += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`node ${options.join(' ')} ended with ${code}`);
  return Number(micros) / 1000;
}

/** Adds `start import` and `start require`. */
export async function compareStarts(bench) {
  const title = 'start';
  const random = randomFrom(bench.seed);
  // Interleaved within a round too: each arm sees the same of what else the machine does.
  const arms = { all: () => startAll(random) };
  const samples = await bench.rounds(title, arms, { rounds: bench.quick ? 8 : 60, warmup: 1 });
  const values = (arm) => samples.map(({ all }) => all[arm]);
  for (const way of ['import', 'require']) {
    const [ours, empty] = [values(`${way} auto`), values(`${way} empty`)];
    const what = { case: `start ${way}`, metric: 'start_cpu_ms', unit: 'ms', better: 'lower' };
    bench.add({ ...what, peer: 'empty module' }, ours, empty);
    bench.add({ ...what, peer: 'none' }, ours, values('none'));
  }
  addAdded(bench, samples);
}

/**
 * CPU time added to a process without any module: that of an empty module under --require is too little to be compared with. No round is
 * left out: where a start with a module took no longer than one without, it counts as one that took `leastMs` longer.
 */
function addAdded(bench, samples) {
  const added = (arm) => samples.map(({ all }) => Math.max(leastMs, all[arm] - all.none));
  const what = { metric: 'added_cpu_ms', unit: 'ms', better: 'lower' };
  const named = { case: 'start import', peer: 'empty module', ...what };
  bench.add(named, added('import auto'), added('import empty'), 0.5);
}

async function startAll(random) {
  const all = Object.fromEntries(Object.keys(preloads).map((arm) => [arm, []]));
  for (let i = 0; i < startsInRound; i++) {
    for (const [arm, options] of shuffled(Object.entries(preloads), random)) {
      all[arm].push(await startOnce(options));
    }
  }
  return Object.fromEntries(Object.entries(all).map(([arm, each]) => [arm, Math.min(...each)]));
}
