/** Fixtures that the tests of programs share: a program in a process of its own, its children, a folder, and conditions that come true. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A program may start others before it comes to where a test waits for it, each of them in half a minute on a busy machine. */
const PATIENCE_MS = 300_000;
/** Time for a program to end by itself before it is killed. */
const LEAVE_MS = 60_000;

/** Waits for a condition that nothing announces. */
export async function until(condition) {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(20)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain for ${condition}`);
  }
}

/** A folder that goes with the test. */
export async function temporaryFolder(t) {
  const path = await mkdtemp(join(tmpdir(), 'millrace-test-'));
  // A process that ends may still write into it.
  t.after(() => rm(path, { recursive: true, force: true, maxRetries: 9 }));
  return path;
}

/**
 * A program of Node.js that says where it listens, on a free port. It is asked to end with the test, so that it removes what it has made,
 * and killed if it does not.
 *
 * @returns {Promise<Program & { url?: string }>} without `url` if it has ended before
 */
export async function startProgram(t, args, env = {}) {
  const program = run(args, env);
  const { child, exited } = program;
  t.after(async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), LEAVE_MS);
    await exited;
    clearTimeout(timer);
  });
  await until(() => /^listening on .*\n/m.test(program.output) || child.exitCode !== null);
  program.url = /^listening on (.*)$/m.exec(program.output)?.[1];
  return program;
}

/** Runs a program with arguments that make it end by itself. */
export async function runProgram(args) {
  const program = run(args);
  const { code } = await program.exited;
  return { code, output: program.output, errors: program.errors };
}

/**
 * @typedef {object} Program
 * @property {import('node:child_process').ChildProcess} child
 * @property {Promise<{ code: number | null, signal: string | null }>} exited when all that it has written has been read
 * @property {string} output
 * @property {string} errors
 * @returns {Program}
 */
function run(args, env = {}) {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const program = { child, exited, output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    program.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    program.errors += text;
  });
  return program;
}

/** Process ids of the children of a process. */
export function childrenOf(pid) {
  return processes()
    .filter(({ parent }) => parent === pid)
    .map((each) => each.pid);
}

/** Reports whether there is such a process. One that has ended and only waits for its parent to notice has ended. */
export function isRunning(pid) {
  return processes().some((each) => each.pid === pid && !each.state.startsWith('Z'));
}

/** Lists all processes but the one that lists them. */
function processes() {
  const args = ['-A', '-o', 'pid=,ppid=,stat='];
  const { stdout, pid: lister } = spawnSync('ps', args, { encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state]) => ({ pid: Number(pid), parent: Number(parent), state }))
    .filter(({ pid }) => pid !== lister);
}
