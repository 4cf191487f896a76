/**
 * The steps of a make target, each on a line with its result and time. The output of its programs goes to .cache/logs, and is shown when
 * the step fails.
 *
 * Steps run one after another. A list of lists stands for steps that need nothing of each other: the lists run side by side. They are for
 * work that waits or compiles, and not for tests that notice how busy the machine is.
 *
 * A step fails if it throws, or if one of its tests fails; the others go on, unless it is `required`. A step that throws `Skip` needs
 * something that this machine lacks. With CI=true nothing may be skipped: a skipped step or test has failed.
 */
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from './child.js';
import { Failure } from './failure.js';
import { projectCache, root } from './paths.js';

const HEAD_LINES = 15;
const TAIL_LINES = 50;
const TITLE_WIDTH = 28;
const STEP_TIMEOUT_MS = 1_800_000;
const strict = process.env.CI === 'true';

/** Thrown by a step that cannot run here; the message says what is missing. */
export class Skip extends Error {}

/**
 * @typedef {object} Step
 * @property {string} title
 * @property {boolean} [required] when it fails, the steps after it do not run
 * @property {(quiet: Quiet) => Promise<Counts | string | void>} run returns the counts of its tests, or a note
 *
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string[]} failedNames with their files
 * @property {string[]} skippedNames with the reasons
 * @property {string[]} said lines to show under the step
 *
 * @typedef {(command: string, args: string[], options?: object) => Promise<void>} Quiet runs a command with its output in the step's
 *   log; the error of one that fails has the `log`
 */

/**
 * @param {(Step | Step[][])[]} steps
 * @param {import('node:stream').Writable} [out]
 * @returns {Promise<{ passed: number, failed: number, skipped: number, failures: string[] }>} a step without tests counts as one
 */
export async function runSteps(steps, out = process.stdout) {
  const total = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const all = steps.flat(2);
  const begin = progress(out);
  for (const entry of steps) {
    const lists = Array.isArray(entry) ? entry : [[entry]];
    const runList = async (list) => {
      for (const step of list) {
        const number = `[${all.indexOf(step) + 1}/${all.length}]`.padStart(7);
        const end = begin(`${number} ${step.title.padEnd(TITLE_WIDTH)} `, lists.length > 1);
        if (!(await runStep(step, end, total, out)) && step.required) return false;
      }
      return true;
    };
    if ((await Promise.all(lists.map(runList))).includes(false)) break;
  }
  return total;
}

/** Runs the steps, and exits with code 1 if one of them fails. */
export async function runOrExit(steps, out) {
  const { failed } = await runSteps(steps, out);
  if (failed > 0) process.exit(1);
}

/** Runs a step, prints its result and adds up its counts; returns whether it succeeded. */
async function runStep(step, end, total, out) {
  const log = openLog(step.title);
  const result = await step.run(log.quiet).then(resultOf).catch(resultOfError);
  closeSync(log.fd);
  const { note, passed = 0, failed = 0, skipped = 0, names = [], details = [] } = result;
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  end(note);
  for (const detail of details) out.write(`          ${detail}\n`);
  if (failed === 0) return true;
  total.failures.push(...(names.length > 0 ? names : [`${step.title}: ${note}`]));
  log.show(out);
  return false;
}

function resultOf(value = 'ok') {
  if (typeof value === 'string') return { note: value, passed: 1 };
  const { passed, failed, skipped, failedNames, skippedNames, said } = value;
  if (passed + failed + skipped === 0) throw new Failure('not one test ran');
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} FAILED`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  const why = strict ? 'skipped, a failure in CI' : 'skipped';
  return {
    note: parts.join(', '),
    passed,
    failed: strict ? failed + skipped : failed,
    skipped: strict ? 0 : skipped,
    names: failedNames,
    details: [...skippedNames.map((name) => `${why}: ${name}`), ...said],
  };
}

function resultOfError(error) {
  if (error instanceof Skip && !strict) return { note: `skipped: ${error.message}`, skipped: 1 };
  const isExpected = error instanceof Failure || error instanceof Skip;
  return { note: `FAILED: ${isExpected ? error.message : error.stack}`, failed: 1 };
}

/**
 * Prints the lines of steps; on a terminal the last line shows what runs, with the seconds so far. Elsewhere a step that runs
 * alone is named as it begins.
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
    const isNamed = !out.isTTY && !inCompany;
    if (isNamed) out.write(head);
    else if (out.isTTY) show();
    return function end(note) {
      running.delete(head);
      out.write(`${clear}${isNamed ? '' : head}${note} (${since(start).toFixed(1)} s)\n`);
    };
  };
}

function openLog(title) {
  const folder = join(projectCache, 'logs');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.log`);
  const fd = openSync(path, 'w');
  return {
    fd,
    async quiet(command, args, options) {
      appendFileSync(fd, `$ ${command} ${args.join(' ')}\n`);
      const settings = { cwd: root, timeoutMs: STEP_TIMEOUT_MS, ...options };
      await run(command, args, { ...settings, stdio: ['ignore', fd, fd] }).catch((error) => {
        throw Object.assign(error, { log: readFileSync(path, 'utf8') });
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
  };
}
