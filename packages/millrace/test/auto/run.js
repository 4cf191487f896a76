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
 * Runs Node.js.
 *
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string, detached?: boolean }} [options] `env` is all that there is of MILLRACE
 * @returns {Promise<{ code: number | null, signal: string | null, stdout: string, stderr: string }>}
 */
export async function run(args, { env = {}, cwd = folder } = {}) {
  const clean = Object.entries(process.env).filter(
    ([name]) => !/^(MILLRACE|NODE_OPTIONS|NODE_TEST)/.test(name) || name === 'MILLRACE_NATIVE',
  );
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...Object.fromEntries(clean), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/**
 * Runs one of the programs, and returns what it has printed as JSON.
 *
 * @param {string[]} args
 * @param {Parameters<typeof run>[1]} [options]
 */
export async function runJson(args, options) {
  const { code, signal, stdout, stderr } = await run(args, options);
  if (code !== 0 || stderr !== '') {
    throw new Error(`${args.join(' ')} ended with ${code ?? signal}: ${stderr}${stdout}`);
  }
  return JSON.parse(stdout);
}
