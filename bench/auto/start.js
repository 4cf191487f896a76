/** What it costs to start a process with millrace/auto. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** Starts of an arm in a round, of which the least counts: what disturbs a start only adds to it. */
const startsInRound = 5;

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
  // One after the other within a round too: each arm sees the same of what else the machine does.
  const arms = { all: startAll };
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

/** What is added to a process without any: that of an empty module under --require is too little to be compared with. */
function addAdded(bench, samples) {
  const added = (arm) => samples.map(({ all }) => all[arm] - all.none);
  const what = { metric: 'added_cpu_ms', unit: 'ms', better: 'lower' };
  const [ours, empty] = [added('import auto'), added('import empty')];
  const counted = ours.map((_, i) => i).filter((i) => ours[i] > 0 && empty[i] > 0);
  const leftOut = samples.length - counted.length;
  if (leftOut > 0) {
    bench.note(
      `start import: added_cpu_ms is without ${leftOut} of ${samples.length} rounds, in which a start with a module took no longer than one without`,
    );
  }
  if (counted.length === 0) return;
  const kept = (all) => counted.map((i) => all[i]);
  const named = { case: 'start import', peer: 'empty module', ...what };
  bench.add(named, kept(ours), kept(empty), 0.5);
}

async function startAll() {
  const all = Object.fromEntries(Object.keys(preloads).map((arm) => [arm, []]));
  for (let i = 0; i < startsInRound; i++) {
    for (const [arm, options] of Object.entries(preloads)) all[arm].push(await startOnce(options));
  }
  return Object.fromEntries(Object.entries(all).map(([arm, each]) => [arm, Math.min(...each)]));
}
