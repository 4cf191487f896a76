import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { run } from './child.js';
import { Failure } from './failure.js';
import { projectCache, root } from './paths.js';

const HEAD_LINES = 15;
const TAIL_LINES = 50;
const TITLE_WIDTH = 28;
const STEP_TIMEOUT_MS = 1_800_000;

/**
 * One numbered step of a make target.
 *
 * @typedef {object} Step
 * @property {string} title
 * @property {boolean} [required] when it fails, the steps after it are not run
 * @property {(quiet: Quiet) => Promise<Result | string | void>} run throws when the step fails
 *
 * @typedef {object} Result
 * @property {string} [note] the one-line result
 * @property {number} [passed] counts for the closing line; a step without them counts as one
 * @property {number} [failed]
 * @property {number} [skipped]
 * @property {string[]} [failures] names of what failed, repeated at the end of the run
 * @property {string[]} [details] lines shown under the step
 *
 * @typedef {(command: string, args: string[], options?: object) => Promise<void>} Quiet
 *   runs a command with its output in the step's log; the option `read` is given each line of stdout instead, and what
 *   it returns is logged
 */

/**
 * Runs the steps one after another, each on a line with its result and time; the log of a step is shown only when it
 * fails. A list of lists stands for steps that need nothing of each other: the lists run side by side, and each step gets
 * its line when it ends. They are for work that waits or compiles, and not for tests that notice how busy the machine is.
 *
 * @param {(Step | Step[][])[]} steps
 * @param {import('node:stream').Writable} [out]
 * @returns {Promise<{ passed: number, failed: number, skipped: number, failures: string[] }>}
 */
export async function runSteps(steps, out = process.stdout) {
  const total = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const all = steps.flat(2);
  const begin = progress(out);
  const number = (step) => `[${all.indexOf(step) + 1}/${all.length}]`.padStart(7);
  for (const entry of steps) {
    const lists = Array.isArray(entry) ? entry : [[entry]];
    const runList = async (list) => {
      for (const step of list) {
        const line = begin(`${number(step)} ${step.title.padEnd(TITLE_WIDTH)} `, lists.length > 1);
        if (!(await runStep(step, line, total, out)) && step.required) return false;
      }
      return true;
    };
    const results = await Promise.all(lists.map(runList));
    if (results.includes(false)) break;
  }
  return total;
}

/** Runs one step, adds up its counts and writes its result; returns whether it succeeded. */
async function runStep(step, line, total, out) {
  const log = openLog(step.title);
  try {
    const result = await step.run(log.quiet);
    const {
      note = 'ok',
      details = [],
      failures = [],
      ...counts
    } = typeof result === 'string' ? { note: result } : (result ?? {});
    add(total, 'failed' in counts ? counts : { passed: 1 });
    line.end(note);
    for (const detail of details) out.write(`          ${detail}\n`);
    if (counts.failed > 0) {
      total.failures.push(...(failures.length > 0 ? failures : [`${step.title}: ${note}`]));
      log.show(out);
    }
    return true;
  } catch (error) {
    add(total, { failed: 1 });
    total.failures.push(`${step.title}: ${error.message}`);
    line.end(`FAILED: ${error instanceof Failure ? error.message : error.stack}`);
    log.show(out);
    return false;
  } finally {
    log.close();
  }
}

/** Runs the steps and exits with code 1 at the first required step that fails. */
export async function runOrExit(steps, out) {
  const { failed } = await runSteps(steps, out);
  if (failed > 0) process.exit(1);
}

function add(total, { passed = 0, failed = 0, skipped = 0 }) {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

/**
 * Writes the lines of steps; on a terminal the last line shows what runs, with the seconds so far. Where there is none, a
 * step that runs alone is named as it begins.
 */
function progress(out) {
  const running = new Map();
  const clear = out.isTTY ? '\r\x1b[K' : '';
  const since = (start) => (performance.now() - start) / 1000;
  const show = () => {
    const heads = [...running].map(
      ([head, start]) => `${head.trimEnd()} ${since(start).toFixed(0)} s`,
    );
    if (running.size > 0) out.write(clear + heads.join('  ').slice(0, (out.columns || 80) - 1));
  };
  if (out.isTTY) setInterval(show, 1000).unref();

  return function begin(head, inCompany) {
    const start = performance.now();
    running.set(head, start);
    const first = !out.isTTY && !inCompany;
    if (first) out.write(head);
    else if (out.isTTY) show();
    return {
      end(note) {
        running.delete(head);
        out.write(`${clear}${first ? '' : head}${note} (${since(start).toFixed(1)} s)\n`);
      },
    };
  };
}

function openLog(title) {
  const folder = join(projectCache, 'logs');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.log`);
  const fd = openSync(path, 'w');
  return {
    quiet(command, args, { read, ...options } = {}) {
      const log = (text) => appendFileSync(fd, text);
      log(`$ ${command} ${args.join(' ')}\n`);
      return run(command, args, {
        cwd: root,
        timeoutMs: STEP_TIMEOUT_MS,
        ...options,
        stdio: ['ignore', read ? 'pipe' : fd, fd],
        onStart: ({ stdout }) => {
          if (read) createInterface({ input: stdout }).on('line', (line) => log(read(line) ?? ''));
        },
      });
    },
    show(out) {
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
      if (lines[0] === '') return;
      if (lines.length > HEAD_LINES + TAIL_LINES) {
        lines.splice(HEAD_LINES, lines.length - HEAD_LINES - TAIL_LINES, '…');
      }
      for (const each of lines) out.write(`          | ${each}\n`);
      out.write(`          the whole log: ${relative(process.cwd(), path) || path}\n`);
    },
    close: () => closeSync(fd),
  };
}
