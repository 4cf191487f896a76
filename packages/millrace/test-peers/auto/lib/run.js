import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linesOf, runners } from './runners.js';

const check = join(import.meta.dirname, 'check.cjs');
const warmed = join(import.meta.dirname, 'warmed.cjs');
/** What each way of preloading preloads: auto, or in its place the control. */
const preloads = {
  import: {
    auto: import.meta.resolve('millrace/auto'),
    control: new URL('control.cjs', import.meta.url).href,
  },
  require: {
    auto: createRequire(import.meta.url).resolve('millrace/auto'),
    control: join(import.meta.dirname, 'control.cjs'),
  },
};

/**
 * `auto` and `all` are what is tested: auto as it is, and with its features active before the test begins, but for the processes that
 * the test starts. `without` and `warm` are their controls: the same without auto.
 */
const arms = {
  plain: { preload: null, isWarm: false },
  auto: { preload: 'auto', isWarm: false },
  all: { preload: 'auto', isWarm: true },
  without: { preload: 'control', isWarm: false },
  warm: { preload: 'control', isWarm: true },
};

/** Time for the rest of the output. */
const lingerMs = 5000;

/** Told from each other by their numbers. */
let runs = 0;

/**
 * Runs one test file as it is, in the folder of its package.
 *
 * @param {object} run
 * @param {string} run.folder of the package
 * @param {string} run.file relative to it
 * @param {keyof typeof runners} run.runner
 * @param {keyof typeof arms} run.arm
 * @param {keyof typeof preloads} run.by
 * @param {string[]} run.flags of Node.js
 * @param {string[]} run.args of the runner
 * @param {number} run.seconds after which it is ended
 * @returns {Promise<{ outcomes: Map<string, 'passed' | 'failed' | 'skipped'>, seen: object[], output: string }>} `outcomes` by the
 *   names of the tests, with `whole`; `seen` is what check.cjs wrote, for each thread that came to an orderly end
 */
export async function runFile({ folder, file, runner, arm, by, flags, args, seconds }) {
  const scratch = mkdtempSync(join(tmpdir(), 'millrace-peers-'));
  const report = join(scratch, 'report');
  const seen = join(scratch, 'seen');
  const testing = runners[runner];
  const { preload, isWarm } = arms[arm];
  const words = [
    ...['--expose-gc', ...flags, ...testing.flags({ folder, file, report })],
    ...(isWarm ? [warmed] : []),
    ...[...testing.command({ file, report }), ...args],
  ];
  const options = `--require=${check} --${by}=${preloads[by][preload]}`;
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: {
      ...environment(),
      ...(preload && { NODE_OPTIONS: options, MILLRACE_SEEN: seen }),
      // Many suites have a fixed path below one of these.
      TMPDIR: scratch,
      NODE_TEST_DIR: scratch,
      TEST_THREAD_ID: String(runs++),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  try {
    const { code, output } = await ended(child, seconds);
    const tests = testing.results({ report, output, code });
    if (runner !== 'program') {
      const isExplained = code === 0 || tests.some(({ outcome }) => outcome === 'failed');
      tests.push({ name: whole, outcome: isExplained ? 'passed' : 'failed' });
    }
    return { outcomes: new Map(numbered(tests, scratch)), seen: linesOf(seen), output };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The name of a test that is not counted: the file has ended with code 0, unless a test of it has failed. */
export const whole = 'the end of the file';

/** Nothing of the run of this test itself, no switches that somebody has set, and no CI, where some tests are left out. */
function environment() {
  const names = Object.keys(process.env).filter((name) => !/^(NODE_|MILLRACE|CI$)/.test(name));
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

/** Two tests of one name are told apart by a number. Some names have the path of the scratch folder in them. */
function numbered(tests, scratch) {
  const counts = new Map();
  return tests.map(({ name: full, outcome }) => {
    const name = full.replaceAll(scratch, '');
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return [count === 1 ? name : `${name} (${count})`, outcome];
  });
}

/** Ends what the test has started as well, which else could keep its output open; a process that has left its group is not waited for. */
function ended(child, seconds) {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing is left of it.
    }
  };
  const timer = setTimeout(kill, seconds * 1000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      kill();
      const end = () => resolve({ code: code ?? signal, output });
      child.on('close', end);
      setTimeout(end, lingerMs).unref();
    });
  });
}
