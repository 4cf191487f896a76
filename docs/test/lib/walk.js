/** Follows a guide: its files in a folder, and its programs as a reader runs them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workplace } from './javascript.js';
import { snippetsOf } from './snippets.js';

/**
 * The blocks of a guide by their names.
 *
 * @param {string} page relative to the root
 * @returns {(name: string) => string}
 */
export function guide(page) {
  const blocks = snippetsOf(page);
  return (name) => {
    const block = blocks.find((each) => each.name === name);
    assert.ok(block, `${page} has no block ${name}`);
    return block.code;
  };
}

/**
 * A folder with files, in which packages are found as they are at the root. It goes with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string>} files by name
 */
export function place(t, files) {
  const folder = workplace();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/**
 * Starts a program that ends with the test. `printed` is what it has written; `ended` resolves to its code or signal.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env?: Record<string, string> }} options
 */
export function start(t, command, args, { cwd, env = {} }) {
  const child = spawn(command, args, {
    ...{ cwd, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const program = { child, pid: child.pid, printed: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      program.printed += text;
    });
  }
  program.ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  return program;
}

/** What a program prints that ends well. */
export async function output(t, command, args, options) {
  const program = start(t, command, args, options);
  assert.equal(await program.ended, 0, program.printed);
  return program.printed;
}

/** Reports whether lines are those of a guide, but for their numbers. */
export const shows = (block, printed) => bare(block) === bare(printed);
const bare = (text) => text.trim().replaceAll(/\d+/g, 'N');

/** Waits until something is so. */
export async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}
