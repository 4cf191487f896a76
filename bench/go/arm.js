/** The programs that measure: cmd/arm, and cmd/policy of the benchmark `policy`. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Refused } from '../lib/refused.js';

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

/** Lists what there is: `{ go, gomaxprocs, cases: [{ name, arms }] }`. */
export const list = () => arm('arm', 'list');

/**
 * Measures one arm of a case in a process of its own.
 *
 * @param {string} name of the case
 * @param {string} entrant the arm
 * @param {number} seed of what is random in it
 * @param {{ minutes?: number }} [options] after which it is ended
 * @returns {Promise<Record<string, number>>} what it measured, by metric
 */
export const measure = (name, entrant, seed, { minutes = 2 } = {}) =>
  output(minutes, 'arm', name, entrant, 0, seed);

/**
 * Runs a program of bench/go/cmd.
 *
 * @param {string} program
 * @param {(string | number)[]} args
 * @returns {Promise<Record<string, any>>} what it printed
 */
export const arm = (program, ...args) => output(2, program, ...args);

async function output(minutes, program, ...args) {
  try {
    const { stdout } = await run(path(program), args.map(String), { timeout: minutes * 60_000 });
    return JSON.parse(stdout);
  } catch ({ message, stderr, killed }) {
    const why = killed ? `it did not end within ${minutes} minutes` : (stderr || message).trim();
    throw new Refused(`${program} ${args.join(' ')}: ${why}`);
  }
}

/**
 * Starts the program under random load, whose lines are objects of an interval, the last one that of the whole run.
 *
 * @param {(string | number)[]} args time, seed, tasks a second (0: as many as go), intervals
 * @param {(line: string) => void} onLine
 * @returns {{ ended: Promise<void>, stop: (signal: NodeJS.Signals) => void }} `ended` rejects when the loop has lost something, and
 *   when the program was killed
 */
export function startStability(args, onLine) {
  const child = spawn(path('arm'), ['stability', ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  createInterface({ input: child.stdout }).on('line', onLine);
  const ended = once(child, 'close').then(([code, signal]) => {
    if (code === 0) return;
    throw new Refused(said.trim() || `the stability run was ended by ${signal ?? `code ${code}`}`);
  });
  return { ended, stop: (signal) => child.kill(signal) };
}
