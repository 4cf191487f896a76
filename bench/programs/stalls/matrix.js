/**
 * The matrix of the benchmark `stalls`: each kind of block, under each tool, on each release of Node.js, some times. Each block gets the best
 * of these outcomes:
 *
 * - during: a report has a line of the function that blocks, and came while it blocked
 * - return: it came when the block was over
 * - caller: all reports have a line of its caller only
 * - none: there is no report, or none with a line of the program
 * - stuck: the program did not go on, and was ended
 *
 * It is about names, not about time: other work on the machine makes blocks longer, and the outcome is the same.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { kinds } from './kinds.js';
import { Sink, tools } from './tools.js';

export const outcomes = ['during', 'return', 'caller', 'none', 'stuck'];
/** Time in ms without a word of the program after which it is ended. No block takes so long, on any machine. */
const stuckMs = 180_000;

const program = fileURLToPath(new URL('./program.js', import.meta.url));
const source = readFileSync(new URL('./kinds.js', import.meta.url), 'utf8').split('\n');

/** First and last line of the function that blocks, from 1. */
export function linesOf(kind) {
  const from = source.findIndex((line) => line.trim() === `${kind}: {`);
  const begin = source.findIndex((line, n) => n > from && /\bfunction \w+\(/.test(line));
  const indent = /^ */.exec(source[begin])[0];
  const end = source.findIndex((line, n) => n > begin && new RegExp(`^${indent}},?;?$`).test(line));
  return [begin + 1, end + 1];
}

/** A block: its beginning and end in ms since 1970; one that never ended has none. @typedef {{ begin?: number, end?: number }} Block */

/**
 * Returns the outcome of each block.
 *
 * @param {Block[]} blocks in their order
 * @param {import('./tools.js').Report[]} reports
 * @param {[first: number, last: number]} lines of the function that blocks
 */
export function outcomesOf(blocks, reports, [first, last]) {
  return blocks.map(({ begin, end }, n) => {
    if (end === undefined) return 'stuck';
    const next = blocks[n + 1]?.begin ?? Number.POSITIVE_INFINITY;
    const found = reports
      .filter(({ at, frame }) => frame !== null && at >= begin && at < next)
      .map(({ at, taken, during, frame: { file, line } }) => {
        if (!file.endsWith('/kinds.js') || line < first || line > last) return 'caller';
        return (during ?? (taken ?? at) < end) ? 'during' : 'return';
      });
    return outcomes.find((each) => found.includes(each)) ?? 'none';
  });
}

/**
 * Measures one cell of the matrix.
 *
 * @param {object} cell
 * @param {string} cell.kind
 * @param {string} cell.tool
 * @param {string} cell.node path of Node.js
 * @param {number} cell.tries
 * @returns {Promise<Record<string, number>>} blocks by outcome
 */
export async function measureCell({ kind, tool, node, tries }) {
  const { preload, settleMs, env = {}, ofLine, sends } = tools[tool];
  const sink = sends ? new Sink() : null;
  const dsn = await sink?.listen();
  const child = spawn(node, [...preload, program, kind, `${tries}`, `${settleMs}`], {
    env: {
      ...process.env,
      MILLRACE: '',
      NODE_OPTIONS: '',
      ...env,
      ...(dsn && { SENTRY_DSN: dsn }),
    },
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const reports = sink?.reports ?? [];
  const blocks = [];
  const said = [];
  let isStuck = false;
  const timer = setTimeout(() => {
    isStuck = true;
    child.kill('SIGKILL');
  }, stuckMs);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, number, at] = line.split(' ');
    if (what !== 'begin' && what !== 'end') return;
    timer.refresh();
    blocks[number - 1] = { ...blocks[number - 1], [what]: Number(at) };
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    const at = Date.now();
    const report = line.startsWith('{') ? ofLine?.(JSON.parse(line)) : null;
    if (report) reports.push({ at, ...report });
    else said.push(line);
  });
  const [code, signal] = await once(child, 'close');
  clearTimeout(timer);
  sink?.close();
  if (code !== 0 && !isStuck) {
    throw new Error(`${kind} under ${tool} ended with ${signal ?? code}: ${said.join('\n')}`);
  }
  const all = Array.from({ length: tries }, (_, n) => blocks[n] ?? {});
  const found = outcomesOf(all, reports, linesOf(kind));
  return Object.fromEntries(
    outcomes.map((outcome) => [outcome, found.filter((each) => each === outcome).length]),
  );
}

/** Returns the cells of these tools and releases. @param {string[]} names of tools @param {{ release: string, path: string }[]} nodes */
export function cellsOf(names, nodes) {
  return nodes.flatMap(({ release, path }) =>
    Object.keys(kinds).flatMap((kind) =>
      names.map((tool) => ({ kind, tool, release, node: path })),
    ),
  );
}
