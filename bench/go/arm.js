/** The program that measures: cmd/arm. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Refused } from '../lib/bench.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('./build/arm', import.meta.url));

/** Compiles it; Go knows whether there is anything to do. */
export async function build() {
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  await run('go', ['build', '-o', program, './cmd/arm'], { cwd, timeout: 300_000 });
}

/** What there is: `{ go, gomaxprocs, cases: [{ name, arms }] }`. */
export const list = () => printed(['list']);

/**
 * Measures one arm of a case in a process of its own.
 *
 * @param {string} name of the case
 * @param {string} arm
 * @param {number} seed of what is random in it
 * @returns {Promise<Record<string, number>>} what it measured, by metric
 */
export const measure = (name, arm, seed) => printed([name, arm, '0', String(seed)]);

async function printed(args) {
  try {
    const { stdout } = await run(program, args, { timeout: 120_000 });
    return JSON.parse(stdout);
  } catch ({ message, stderr }) {
    throw new Refused(`arm ${args.join(' ')}: ${(stderr || message).trim()}`);
  }
}

/**
 * Runs the long one.
 *
 * @param {number} seconds
 * @param {number} seed
 * @param {(line: object) => void} onLine told of each tenth of the time
 */
export async function runStability(seconds, seed, onLine) {
  const child = spawn(program, ['stability', String(seconds), String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line)));
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Refused(`the stability run ended with ${signal ?? code}`);
}
