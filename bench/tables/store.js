/** Store of what was measured, in the repository: of each benchmark the last run that somebody wanted to keep. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { LEAST_ROUNDS } from '../lib/statistics.js';

const fileOf = (bench) => new URL(`../measured/${bench}.jsonl`, import.meta.url);

/**
 * @typedef {object} Run
 * @property {string} bench
 * @property {boolean} quick
 * @property {{ cpu: string, cores: number, kernel?: string, node?: string }} machine
 * @property {string[]} notes
 * @property {(import('../lib/figure.js').Figure & { rounds: [ours: number, theirs: number][] })[]} figures each with the pairs
 *   that its interval comes from
 */

/**
 * Reason why a run cannot be published; null when it can. A figure without an interval of 95 % would be taken for one that has it.
 *
 * @param {Pick<Run, 'figures'>} run
 */
export function refusalOf({ figures }) {
  const short = figures.find(({ n }) => n < LEAST_ROUNDS);
  return short === undefined ? null : tooFew(short.case, short.n);
}

/** @param {string} title of a case @param {number} rounds */
export const tooFew = (title, rounds) =>
  `'${title}' has ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, and what is kept by SAVE=1 takes at least ${LEAST_ROUNDS}: ` +
  'fewer have no interval of 95 %';

/** The machine as it is published. The suffix that a distribution adds to the number of its kernel is left out. */
export const published = ({ cpu, cores, kernel, node, libuv }) => ({
  ...{ cpu, cores, kernel: kernel.replace(/(\d+\.\d+).*/, '$1'), node, libuv },
});

/**
 * Reason why the figures of one case cannot stand beside those that are kept; null when they can.
 *
 * @param {Run | undefined} kept
 * @param {object} machine that the case is measured on
 */
export function refusalOfPart(kept, machine) {
  const [there, here] = [kept?.machine ?? published(machine), published(machine)].map((each) =>
    JSON.stringify(each),
  );
  if (there === here) return null;
  return `the other cases that are kept were measured on ${there}, not on ${here}: keep a run of all cases`;
}

/**
 * Keeps a run: a line about it, and one for each figure. Other samples, dates and targets stay out.
 *
 * @param {Run & { figures: any[] }} run
 * @param {Parts} [parts]
 * @throws {RangeError} when a figure has no interval, or one case was measured on another machine than the others
 */
export function save(
  { bench, quick, machine, notes, figures },
  { ofCase = null, alone = [] } = {},
) {
  const kept = runOf(bench);
  const isOther = refusalOfPart(kept, machine);
  const refusal = refusalOf({ figures }) ?? (ofCase === null ? null : isOther);
  if (refusal !== null) throw new RangeError(refusal);
  const short = figures.map(({ target, verdict, rounds, ...figure }) => ({
    ...figure,
    rounds: rounds.map((pair) => pair.map(shortened)),
  }));
  const run = { bench, quick, machine: published(machine), notes, figures: short };
  const { figures: all, ...about } =
    kept === undefined || isOther ? run : combined(kept, run, { ofCase, alone });
  const lines = [about, ...all].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(fileOf(bench), lines.join(''));
}

/**
 * @typedef {object} Parts
 * @property {string | null} [ofCase] the only case that was run: those of all others stay
 * @property {string[]} [alone] of a run of all the cases that were not run, because they take a run of their own: they stay
 */

/**
 * A run with what stays of the one that is kept: figures, and the notes that begin with the name of their case.
 *
 * @param {Run} kept
 * @param {Run} run
 * @param {Parts} parts
 * @returns {Run}
 */
export function combined(kept, run, { ofCase = null, alone = [] }) {
  const stays = ({ case: name }) => (ofCase === null ? alone.includes(name) : name !== ofCase);
  const figures = kept.figures.filter(stays);
  const names = new Set(figures.map(({ case: name }) => name));
  const notes = kept.notes.filter((note) => names.has(note.split(': ')[0]));
  return {
    ...run,
    quick: ofCase === null ? run.quick : kept.quick,
    notes: [...run.notes, ...notes],
    figures: [...figures, ...run.figures],
  };
}

/** Shortens a value so far that the interval still comes out again. */
const shortened = (value) => Number(value.toPrecision(6));

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
