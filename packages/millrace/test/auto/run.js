/** Programs run with millrace/auto, in processes of their own. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

export const programs = fileURLToPath(new URL('programs/', import.meta.url));

/** From Node.js 26 on; files are left to Node.js then. */
export const hasVirtualFiles = /\bvfsState\b/.test(String(readFile));

/** Ways to load it. */
export const preloads = {
  '--import': ['--import', 'millrace/auto'],
  '--require': ['--require', 'millrace/auto'],
};

/**
 * Starts Node.js.
 *
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [options] `env` is all that there is of MILLRACE
 * @returns {{
 *   child: import('node:child_process').ChildProcess,
 *   output: { stdout: string, stderr: string },
 *   ended: Promise<{ code: number | null, signal: string | null, stdout: string, stderr: string }>,
 * }} `output` is what it has printed so far
 */
export function start(args, { env = {}, cwd = folder } = {}) {
  const clean = Object.entries(process.env).filter(
    ([name]) => !/^(MILLRACE|NODE_OPTIONS|NODE_TEST)/.test(name) || name === 'MILLRACE_NATIVE',
  );
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...Object.fromEntries(clean), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...output }));
  });
  return { child, output, ended };
}

/**
 * Runs Node.js to its end.
 *
 * @param {Parameters<typeof start>} args
 * @returns {ReturnType<typeof start>['ended']}
 */
export const run = (...args) => start(...args).ended;

/**
 * Runs one of the programs, and returns what it has printed as JSON.
 *
 * @param {string[]} args
 * @param {Parameters<typeof start>[1]} [options]
 */
export async function runJson(args, options) {
  const { code, signal, stdout, stderr } = await run(args, options);
  if (code !== 0 || stderr !== '') {
    throw new Error(`${args.join(' ')} ended with ${code ?? signal}: ${stderr}${stdout}`);
  }
  return JSON.parse(stdout);
}
