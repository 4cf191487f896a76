/** What was measured and is kept in the repository: of each benchmark the last run that somebody wanted to keep. */
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
 * Why a run cannot be published; null when it can. A figure without an interval of 95 % would be taken for one that has it.
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

/** What is told of a machine. What a distribution adds to the number of its kernel tells nothing. */
const told = ({ cpu, cores, kernel, node, libuv }) => ({
  ...{ cpu, cores, kernel: kernel.replace(/(\d+\.\d+).*/, '$1'), node, libuv },
});

/**
 * Why the figures of one case cannot stand beside those that are kept; null when they can.
 *
 * @param {Run | undefined} kept
 * @param {object} machine that the case is measured on
 */
export function refusalOfPart(kept, machine) {
  const [there, here] = [kept?.machine ?? told(machine), told(machine)].map((each) =>
    JSON.stringify(each),
  );
  if (there === here) return null;
  return `the other cases that are kept were measured on ${there}, not on ${here}: keep a run of all cases`;
}

/**
 * Keeps a run: a line about it, and one for each figure. Other samples, dates and targets stay out. Of a run that was `ofCase` the
 * figures and notes are added to those that are kept, in place of the ones of its case.
 *
 * @throws {RangeError} when a figure has no interval, or one case was measured on another machine than the others
 */
export function save({ bench, quick, machine, notes, figures }, { ofCase = null } = {}) {
  const kept = ofCase === null ? undefined : runOf(bench);
  const refusal = refusalOf({ figures }) ?? refusalOfPart(kept, machine);
  if (refusal !== null) throw new RangeError(refusal);
  const short = figures.map(({ target, verdict, rounds, ...figure }) => ({
    ...figure,
    rounds: rounds.map((pair) => pair.map(shortened)),
  }));
  const run = { bench, quick, machine: told(machine), notes, figures: short };
  const { figures: all, ...about } = kept === undefined ? run : merged(kept, ofCase, run);
  const lines = [about, ...all].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(fileOf(bench), lines.join(''));
}

/**
 * A kept run with another run of one of its cases.
 *
 * @param {Run} kept
 * @param {string} name of the case
 * @param {Run} run
 * @returns {Run}
 */
export function merged(kept, name, { notes, figures }) {
  const isOfCase = (note) => note.startsWith(`${name}: `);
  return {
    ...kept,
    notes: [...kept.notes.filter((note) => !isOfCase(note)), ...notes.filter(isOfCase)],
    figures: [...kept.figures.filter((figure) => figure.case !== name), ...figures],
  };
}

/** Enough that the interval comes out again. */
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
