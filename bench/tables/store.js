/** What was measured and is kept in the repository: of each benchmark the last run that somebody wanted to keep. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const fileOf = (bench) => new URL(`../measured/${bench}.jsonl`, import.meta.url);

/**
 * @typedef {object} Run
 * @property {string} bench
 * @property {boolean} quick
 * @property {{ cpu: string, cores: number, kernel?: string, node?: string }} machine
 * @property {string[]} notes
 * @property {import('../lib/figure.js').Figure[]} figures
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
}

/** The run of a benchmark that is kept; undefined without one. @returns {Run | undefined} */
export function runOf(bench) {
  if (!existsSync(fileOf(bench))) return undefined;
  const lines = readFileSync(fileOf(bench), 'utf8').trimEnd().split('\n');
  const [about, ...figures] = lines.map((line) => JSON.parse(line));
  return { ...about, figures };
}

/** The kept figure with this bench, case, metric and peer. @throws where there is none */
export function figureOf([bench, title, metric, peer]) {
  const figure = runOf(bench)?.figures.find(
    (each) => each.case === title && each.metric === metric && each.peer === peer,
  );
  if (!figure) throw new Error(`no figure of ${[bench, title, metric, peer].join(', ')} is kept`);
  return figure;
}
