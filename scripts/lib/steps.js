import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from './child.js';
import { Failure } from './failure.js';
import { projectCache, root } from './paths.js';

const HEAD_LINES = 15;
const TAIL_LINES = 50;
const TITLE_WIDTH = 28;
const STEP_TIMEOUT_MS = 600_000;

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
 * @property {string[]} [details] lines shown under the step
 *
 * @typedef {(command: string, args: string[], options?: object) => Promise<void>} Quiet
 *   runs a command with its output in the step's log
 */

/**
 * Runs the steps one after another, each on a line with its result and time; the log of a step is
 * shown only when it fails.
 *
 * @param {Step[]} steps
 * @param {import('node:stream').Writable} [out]
 * @returns {Promise<{ passed: number, failed: number, skipped: number }>}
 */
export async function runSteps(steps, out = process.stdout) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const [index, step] of steps.entries()) {
    const line = progress(out, `[${index + 1}/${steps.length}]`.padStart(7), step.title);
    const log = openLog(step.title);
    try {
      const result = await step.run(log.quiet);
      const {
        note = 'ok',
        details = [],
        ...counts
      } = typeof result === 'string' ? { note: result } : (result ?? {});
      add(total, 'failed' in counts ? counts : { passed: 1 });
      line.end(note);
      for (const detail of details) out.write(`          ${detail}\n`);
      if (counts.failed > 0) log.show(out);
    } catch (error) {
      add(total, { failed: 1 });
      line.end(`FAILED: ${error instanceof Failure ? error.message : error.stack}`);
      log.show(out);
      if (step.required) break;
    } finally {
      log.close();
    }
  }
  return total;
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

/** The line of a running step; on a terminal it shows the seconds so far. */
function progress(out, number, title) {
  const start = performance.now();
  const seconds = (digits) => `${((performance.now() - start) / 1000).toFixed(digits)} s`;
  const head = `${number} ${title.padEnd(TITLE_WIDTH)} `;
  out.write(head);
  const timer = out.isTTY && setInterval(() => out.write(`\r${head}${seconds(0)} `), 1000);
  return {
    end(note) {
      clearInterval(timer);
      out.write(`${out.isTTY ? `\r\x1b[K${head}` : ''}${note} (${seconds(1)})\n`);
    },
  };
}

function openLog(title) {
  const folder = join(projectCache, 'logs');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.log`);
  const fd = openSync(path, 'w');
  return {
    quiet(command, args, options = {}) {
      appendFileSync(fd, `$ ${command} ${args.join(' ')}\n`);
      return run(command, args, {
        cwd: root,
        timeoutMs: STEP_TIMEOUT_MS,
        ...options,
        stdio: ['ignore', fd, fd],
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
