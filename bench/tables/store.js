/** What was measured and is kept in the repository: of each benchmark the last run that somebody wanted to keep. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const fileOf = (bench) => new URL(`../measured/${bench}.jsonl`, import.meta.url);
/** Published before lines were kept: rounded, and of the rows alone. */
const earlierOf = (bench) => new URL(`../measured/earlier/${bench}.jsonl`, import.meta.url);

/**
 * @typedef {object} Run
 * @property {string} bench
 * @property {boolean} quick
 * @property {{ cpu: string, cores: number, kernel?: string, node?: string }} machine
 * @property {string[]} notes
 * @property {import('../lib/figure.js').Figure[]} figures
 * @property {boolean} isEarlier whether it is one of which the lines were not kept
 */

/** Keeps the summary of a run: a line about it, and one for each figure. Samples, dates and targets stay out. */
export function save({ bench, quick, machine, notes, figures }) {
  const { cpu, cores, node, libuv } = machine;
  // What a distribution adds to the number of its kernel tells nothing.
  const kernel = machine.kernel.replace(/(\d+\.\d+).*/, '$1');
  const lines = [
    { bench, quick, machine: { cpu, cores, kernel, node, libuv }, notes },
    ...figures.map(({ target, verdict, ...figure }) => figure),
  ];
  writeFileSync(fileOf(bench), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  rmSync(earlierOf(bench), { force: true });
}

/** The run of a benchmark that is kept; undefined without one. @returns {Run | undefined} */
export function runOf(bench) {
  const isEarlier = !existsSync(fileOf(bench));
  const path = isEarlier ? earlierOf(bench) : fileOf(bench);
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const [about, ...figures] = lines.map((line) => JSON.parse(line));
  return { ...about, figures, isEarlier };
}
