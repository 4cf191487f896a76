/** Measures the cost of millrace/auto at the start of a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { shuffled } from '@millrace/lab/stats';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** Starts of an arm in a round, of which the least counts: what disturbs a start only adds to it. */
const startsInRound = 5;

/** Preloads by names of packages, as users give them: to read their `exports` takes a part of Node.js that it loads for that. */
const preloads = {
  none: [],
  'import auto': ['--import', 'millrace/auto'],
  'import empty': ['--import', 'millrace-bench/empty'],
  'require auto': ['--require', 'millrace/auto'],
  'require empty': ['--require', 'millrace-bench/empty'],
};

/** CPU time, user and system, and time in ms that a process has taken when its application begins. */
async function startOnce(options, mode) {
  const env = { ...process.env };
  for (const name of Object.keys(env)) if (/^(MILLRACE|NODE_OPTIONS)/.test(name)) delete env[name];
  if (mode !== '') env.MILLRACE = mode;
  const child = spawn(process.execPath, [...options, './program.cjs'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`node ${options.join(' ')} ended with ${code}`);
  const [cpu, wall] = text.split(' ').map((micros) => Number(micros) / 1000);
  return { cpu, wall };
}

/**
 * Starts all arms some times, in random order: each sees the same of what else the machine does. The least counts: disturbances only add time.
 *
 * @param {() => number} random
 * @param {Record<string, string[]>} [arms] options of Node.js
 * @param {Record<string, string>} [modes] of auto, by arm; default: none
 */
export async function startAll(random, arms = preloads, modes = {}) {
  const all = Object.fromEntries(Object.keys(arms).map((arm) => [arm, []]));
  for (let i = 0; i < startsInRound; i++) {
    for (const [arm, options] of shuffled(Object.entries(arms), random)) {
      all[arm].push(await startOnce(options, modes[arm] ?? ''));
    }
  }
  const least = (each, what) => Math.min(...each.map((start) => start[what]));
  return Object.fromEntries(
    Object.entries(all).map(([arm, each]) => [
      arm,
      { cpu: least(each, 'cpu'), wall: least(each, 'wall') },
    ]),
  );
}
