/** The programs that measure: cmd/arm, and cmd/policy of the benchmark `policy`. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Refused } from '../lib/bench.js';

const run = promisify(execFile);
const path = (program) => fileURLToPath(new URL(`./build/${program}`, import.meta.url));

/**
 * Compiles a program of bench/go/cmd; Go knows whether there is anything to do.
 *
 * @param {string} program
 */
export async function build(program) {
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  await run('go', ['build', '-o', path(program), `./cmd/${program}`], { cwd, timeout: 300_000 });
}

/** What there is: `{ go, gomaxprocs, cases: [{ name, arms }] }`. */
export const list = () => arm('arm', 'list');

/**
 * Measures one arm of a case in a process of its own.
 *
 * @param {string} name of the case
 * @param {string} entrant the arm
 * @param {number} seed of what is random in it
 * @returns {Promise<Record<string, number>>} what it measured, by metric
 */
export const measure = (name, entrant, seed) => arm('arm', name, entrant, 0, seed);

/**
 * Runs a program of bench/go/cmd.
 *
 * @param {string} program
 * @param {(string | number)[]} args
 * @returns {Promise<Record<string, any>>} what it printed
 */
export async function arm(program, ...args) {
  try {
    const { stdout } = await run(path(program), args.map(String), { timeout: 120_000 });
    return JSON.parse(stdout);
  } catch ({ message, stderr }) {
    throw new Refused(`${program} ${args.join(' ')}: ${(stderr || message).trim()}`);
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
  const child = spawn(path('arm'), ['stability', String(seconds), String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line)));
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Refused(`the stability run ended with ${signal ?? code}`);
}
