import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const reporter = new URL('reporter.js', import.meta.url).href;
const check = join(import.meta.dirname, 'check.cjs');
const auto = import.meta.resolve('millrace/auto');

/** What the processes of an arm are started with, besides the environment of this one. `empty` imports a module without a line. */
const arms = {
  without: () => ({}),
  auto: (seen) => ({
    NODE_OPTIONS: `--require=${check} --import=${auto}`,
    MILLRACE_SEEN: seen,
  }),
  empty: () => ({ NODE_OPTIONS: '--import=data:text/javascript,' }),
};

/**
 * Runs one test file of a package as it is, in the folder of its package.
 *
 * @param {object} run
 * @param {string} run.folder of the package
 * @param {string} run.file relative to it
 * @param {keyof typeof arms} run.arm
 * @param {number} [run.seconds] after which it is ended
 * @returns {Promise<{ passed: Set<string>, failed: Set<string>, seen: object[], output: string }>} tests by name, one of them that
 *   the file ended with code 0; `seen` is what check.cjs wrote, for each thread that came to an orderly end
 */
export async function runFile({ folder, file, arm, seconds = 60 }) {
  const scratch = mkdtempSync(join(tmpdir(), 'millrace-peers-'));
  const report = join(scratch, 'report');
  const seen = join(scratch, 'seen');
  const args = [`--test-reporter=${reporter}`, `--test-reporter-destination=${report}`, file];
  const child = spawn(process.execPath, ['--expose-gc', ...args], {
    cwd: folder,
    env: { ...environment(), ...arms[arm](seen) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  try {
    const { code, output } = await ended(child, seconds);
    const tests = [...numbered(lines(report)), { name: 'the file as a whole', passed: code === 0 }];
    const those = (passed) =>
      new Set(tests.filter((test) => test.passed === passed).map(({ name }) => name));
    return { passed: those(true), failed: those(false), seen: lines(seen), output };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Nothing of the run of this test itself, no switches that somebody has set, and no CI, where some tests are left out. */
function environment() {
  const names = Object.keys(process.env).filter((name) => !/^(NODE_|MILLRACE|CI$)/.test(name));
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

/** Two tests of one name are told apart by a number. */
function numbered(tests) {
  const counts = new Map();
  return tests.map(({ name, ...rest }) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { name: count === 1 ? name : `${name} (${count})`, ...rest };
  });
}

function lines(path) {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean).map(JSON.parse);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Ends what the test has started as well, which else could keep its output open. */
function ended(child, seconds) {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), seconds * 1000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? signal, output });
    });
  });
}
