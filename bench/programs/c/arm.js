/** Arm of one round: a program in C, which prints one JSON object. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Refused } from '../../lib/refused.js';

const run = promisify(execFile);
const path = (relative) => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));

/**
 * Runs a program of c/bench.
 *
 * @param {string} program
 * @param {(string | number)[]} args
 * @returns {Promise<Record<string, any>>} what it printed
 */
export const arm = (program, ...args) => printed(path(`c/build/bench/${program}`), args);

/** Runs one arm of examples/streaming: 128 clients, 4 downloads of 5 MB each. */
export const download = (name, work) =>
  printed(path('examples/streaming/build/streaming'), ['--json', '--arms', name, '--work', work]);

async function printed(program, args) {
  try {
    const { stdout } = await run(program, args.map(String), { timeout: 120_000 });
    return JSON.parse(stdout);
  } catch ({ message, stderr }) {
    throw new Refused(`${program} ${args.join(' ')}: ${(stderr || message).trim()}`);
  }
}
