/** The results of an experiment for a terminal: figures, claims, and the circumstances below them. */

import { colours } from '../run/command.js';
import { figure as number, ratioFigure } from '../run/figures.js';
import { isTooNoisy } from './figure.js';
import { armsOf } from './plan.js';
import { clip, WIDTH, wrap } from './progress.js';

const GAP = '  ';

/** A name of an arm must leave room for the figures. */
const NAME_WIDTH = 14;

/**
 * The results for people: a block for each metric with a line for each case and treatment, or, where there is one of
 * both only, a line for each metric; then why some say nothing, the claims, the notes.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./judge.js').Results} results
 * @param {import('node:tty').WriteStream} [out] where it will be shown: colours only on a terminal
 * @returns {string} lines of at most 100 columns
 */
export function table(experiment, results, out = process.stdout) {
  const paint = colours(out);
  const { refusal, partial, figures, notes } = results;
  if (refusal) {
    return `${paint.red('Refused, so no figure counts')}\n${wrap(`${refusal.why}.\n${refusal.advice}.`)}`;
  }
  return [
    ...(partial ? [wrap(`Partial: ${partial}.`), ''] : []),
    ...(figures.length > 0 ? figureLines(experiment, figures, paint) : ['No round is whole.']),
    ...reasonLines(results),
    ...claimLines(results, paint),
    ...(notes.length > 0 ? ['', ...notes.map((note) => wrap(note))] : []),
  ].join('\n');
}

/** A sentence or two about an experiment, above its table, with the arms that such a run has. */
export function introduction(experiment, options) {
  const { question, about, control } = experiment;
  const arms = armsOf(experiment, options).filter(({ role }) => role !== 'twin');
  const names = arms.map(({ arm }) => arm.name).join(', ');
  return [question, `Arms: ${names}, and ${control.name} once more.`, about ?? '']
    .filter((each) => each !== '')
    .map((each) => wrap(each))
    .join('\n');
}

function figureLines({ control }, figures, paint) {
  const [treatment, ...others] = new Set(figures.map(({ arm }) => arm));
  const isSweep = placesOf(figures).length > 1;
  const name = others.length === 0 ? treatment : 'treatment';
  const titles = [
    ...[isSweep ? '' : figures[0].case, clip(control.name, NAME_WIDTH), clip(name, NAME_WIDTH)],
    ...['ahead', '95 %', 'p', 'A/A', 'finding'],
  ];
  const rows = figures.map((each) => row(isSweep ? placeOf(each) : metricTitle(each), each));
  const widths = titles.map((_, i) =>
    Math.max(...[titles, ...rows].map((cells) => cells[i].length)),
  );
  const rest = widths.slice(1).reduce((sum, width) => sum + width + GAP.length, 0);
  widths[0] = Math.min(widths[0], WIDTH - rest);
  const lines = [paint.bold(line(titles, widths))];
  const metrics = isSweep ? [...new Set(figures.map(({ metric }) => metric))] : [null];
  for (const metric of metrics) {
    const shown = figures.filter((each) => metric === null || each.metric === metric);
    if (metric !== null) lines.push('', paint.bold(wrap(metricTitle(shown[0]))));
    for (const each of shown) {
      const text = line(rows[figures.indexOf(each)], widths);
      lines.push(coloured(text, each.finding, paint));
      if (each.paper) lines.push(paint.dim(paperLine(each)));
    }
  }
  return lines;
}

const placeOf = (figure) => [figure.case, figure.arm].filter((each) => each !== '').join(', ');
const placesOf = (figures) => [...new Set(figures.map((each) => placeOf(each)))];

/** A label that is too long has a line of its own. */
function line([label, ...cells], [first, ...widths]) {
  const rest = cells.map((cell, i) => (i === cells.length - 1 ? cell : cell.padStart(widths[i])));
  const text = (start) => [start.padEnd(first), ...rest].join(GAP).trimEnd();
  return label.length <= first ? text(label) : `${wrap(label)}\n${text('')}`;
}

function row(label, figure) {
  const { control, treatment, better, p, pHolm, twin, refused, finding } = figure;
  return [
    label,
    cell(control),
    cell(treatment),
    ...(better === null ? ['', ''] : [times(figure.ahead), range(figure)]),
    probability(pHolm ?? p),
    refused === null ? times(twin?.ahead) : 'differs',
    finding,
  ];
}

/** In brackets when there were too few rounds for 95 %. */
function range({ ahead, lo, hi, level, n }) {
  if (ahead === null || n < 2) return '';
  const text = `${ratioFigure(lo)}–${ratioFigure(hi)}`;
  return level < 0.95 ? `(${text})` : text;
}

function paperLine({ paper: { control, treatment, ahead }, unit, better }) {
  const ratio = better === null || ahead === undefined ? '' : `, ${times(ahead)}`;
  return `    paper: ${cell(control)} → ${cell(treatment)} ${unit}`.trimEnd() + ratio;
}

function metricTitle({ title, unit, better }) {
  const named = unit === '' ? title : `${title}, ${unit}`;
  return better === null ? named : `${named} (${better} is better)`;
}

/** Lists the reasons why figures say nothing. */
function reasonLines({ figures, effect }) {
  const noisy = figures.filter(isTooNoisy);
  const isList = noisy.length > 1;
  const reasons = new Map();
  for (const each of figures.filter(({ why }) => why !== null)) {
    if (isList && isTooNoisy(each)) continue;
    const where = [each.title, placeOf(each)].filter((part) => part !== '').join(', ');
    reasons.set(each.why, [...(reasons.get(each.why) ?? []), where]);
  }
  const lines = [...reasons].map(([why, places]) => {
    const [first, ...others] = places;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return wrap(`${first}${more}: ${why}.`);
  });
  if (isList) lines.unshift(wrap(noisyLine(figures, noisy, effect)));
  return lines.length === 0 ? [] : ['', ...lines];
}

/** Line of figures that differ only in the number of rounds that each needs. */
function noisyLine(figures, noisy, effect) {
  const isSweep = placesOf(figures).length > 1;
  const needs = noisy.map((each) => {
    const where = isSweep ? `, ${placeOf(each)}` : '';
    return `${each.roundsFor.toLocaleString('en-US')} for ${each.title}${where}`;
  });
  const sought = `${Number(((effect - 1) * 100).toPrecision(2))} %`;
  return `Too noisy to show ${sought}. It takes a quieter machine, or about so many rounds: ${needs.join('; ')}.`;
}

function coloured(text, finding, paint) {
  const colour = { better: paint.green, worse: paint.red, refused: paint.red }[finding];
  return colour && text.endsWith(finding) ? text.slice(0, -finding.length) + colour(finding) : text;
}

const cell = (value) => (value === null || value === undefined ? '–' : number(value));
const times = (value) => (value === null || value === undefined ? '–' : `${ratioFigure(value)}×`);

function probability(p) {
  if (p === null) return '–';
  return p < 0.001 ? '<0.001' : p.toFixed(3);
}

/**
 * Verdict on each claim, for a terminal.
 *
 * @param {import('./judge.js').Results} results
 * @param {ReturnType<typeof import('../run/command.js').colours>} paint
 * @returns {string[]}
 */
function claimLines({ claims }, paint) {
  if (claims.length === 0) return [];
  const isOneArm = new Set(claims.map(({ arm }) => arm)).size === 1;
  const lines = ['', paint.bold('Claims')];
  let last;
  for (const claim of claims) {
    if (claim.text !== last) lines.push(wrap(`"${claim.text}" (${claim.source})`));
    last = claim.text;
    lines.push(...one(claim, isOneArm ? claim.case : place(claim), paint));
  }
  return lines;
}

const place = ({ case: label, arm }) => (label === '' ? arm : `${label}, ${arm}`);

function one({ verdict, atLeast, ahead, lo, hi, n, why, says }, where, paint) {
  const colour = { met: paint.green, refuted: paint.red, 'not met': paint.red }[verdict];
  const measured =
    ahead === null
      ? ''
      : `${times(ahead)} (${ratioFigure(lo)}–${ratioFigure(hi)}, ${n} ${n === 1 ? 'round' : 'rounds'}), `;
  const head = where === '' ? '  ' : `  ${where}: `;
  const rest = `, ${measured}claimed ${times(atLeast)}`;
  const isLong = head.length + verdict.length + rest.length > WIDTH;
  return [
    ...(isLong ? [wrap(where, '  ')] : []),
    `${isLong ? '    ' : head}${(colour ?? paint.dim)(verdict)}${rest}`,
    ...[why, says].filter((each) => each !== null).map((each) => wrap(each, '    ')),
  ];
}

/** Cores that other work took, from which on it is worth a warning. */
const NOISY = 0.1;

/**
 * Under what an experiment was run, a line each, for below its table.
 *
 * @param {import('./judge.js').Results} results
 * @returns {string[]}
 */
export function circumstances({ host, runs, seed, seconds, partial }) {
  const sum = (of) => runs.reduce((total, { costs }) => total + of(costs), 0);
  const others = sum(({ othersS }) => othersS) / sum(({ wallS }) => wallS);
  const resent = runs.flatMap(({ answers = [] }) => answers).filter(({ isResent }) => isResent);
  return [
    ...(partial === null ? [] : [`Partial: ${partial}.`]),
    ...(resent.length > 0
      ? [`${resent.length} requests were sent twice: their connections were closed unread.`]
      : []),
    ...(others > NOISY
      ? [`Other work took ${number(others)} of ${host.cores} cores meanwhile: expect noise.`]
      : []),
    `${host.cpu}, ${host.cores} cores, ${host.kernel}, Node ${host.node}; seed ${seed}, ${seconds.toFixed(0)} s`,
  ];
}
