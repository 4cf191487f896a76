/** `--fail-on`: which findings of the metrics that decide a pipeline takes for a failure. */
import { UsageError } from '@millrace/base/command';
import { nearest } from '@millrace/base/schema';
import { ratioFigure } from '../run/figures.js';
import { askedFor } from './figure.js';

/** The exit code then. */
export const FOUND = 4;

/** Findings as words without blanks. */
const WORDS = ['worse', 'undecided', 'different', 'no-difference', 'refused', 'better'];

/**
 * Reads the value of `--fail-on`.
 *
 * @param {string | undefined} text
 * @returns {Set<string> | undefined} findings
 * @throws {UsageError} one sentence: the option, its value, what is allowed
 */
export function readFailOn(text) {
  if (text === undefined) return undefined;
  const words = text.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !WORDS.includes(word));
  if (unknown === undefined) return new Set(words.map((word) => word.replace('-', ' ')));
  const near = nearest(unknown, WORDS);
  const hint = near === undefined ? '' : `did you mean ${near}? `;
  throw new UsageError(
    `--fail-on is "${text}"; ${hint}allowed are ${WORDS.join(', ')}, several with commas.`,
  );
}

/** Reports whether an experiment has a metric that decides. */
export const decides = (experiment) => askedFor(experiment).size > 0;

/**
 * Returns the findings that `--fail-on` names, a line each. The metrics that decide are the main one, or those of the claims.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./judge.js').Results} results
 * @param {Set<string>} findings
 * @returns {string[]}
 */
export function foundOf(experiment, { cases, figures }, findings) {
  const asked = askedFor(experiment);
  const found = figures.filter(({ metric, finding }) => asked.has(metric) && findings.has(finding));
  // A case that was refused among others has no figure at all.
  const silent = cases.filter((label) => figures.every((figure) => figure.case !== label));
  return [
    ...found.map((figure) => `${placeOf(figure)}: ${figure.finding}${sizeOf(figure)}`),
    ...(findings.has('refused') ? silent.map((label) => `case ${label}: refused`) : []),
  ];
}

const placeOf = ({ title, case: label, arm }) =>
  [title, label, arm].filter((part) => part !== '').join(', ');

const sizeOf = ({ ahead, lo, hi }) =>
  ahead === null ? '' : `, ${ratioFigure(ahead)}× (${ratioFigure(lo)}–${ratioFigure(hi)})`;
