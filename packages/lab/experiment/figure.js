import {
  cliffsDelta,
  coefficientOfVariation,
  interquartileRange,
  median,
  pairedRatio,
  pairedShift,
  rankSum,
  signedRank,
} from '../stats/index.js';
import { hasRatio, ratioSpread, roundsForRatio, smallestRatio, twinFigure } from './noise.js';

/**
 * One metric of one treatment in one case: what the rounds say of it, before the correction over all metrics and
 * the finding that follows from it (`finding.js`).
 *
 * @param {import('./format.js').Metric} metric
 * @param {import('./format.js').Case} at
 * @param {string} arm name of the treatment
 * @param {Values & { besideTwin?: (number | null)[] }} all `besideTwin` is the control in the rounds that have a twin; default: in all
 * @param {object} options
 * @param {number} options.effect sought, as a ratio above 1
 * @param {boolean} [options.isOnly] whether it is the only treatment: then `paper.treatment` is its
 * @returns {Omit<Figure, 'pHolm' | 'bias' | 'refused' | 'finding' | 'why'>}
 *
 * @typedef {Record<'control' | 'twin' | 'treatment', (number | null)[]>} Values one a round, of the twin one in each that has it; null where a run could
 *   not tell. When one of them is null nothing is concluded: runs that cannot tell are seldom those where all is well
 *
 * @typedef {object} Figure
 * @property {string} case
 * @property {string} arm the treatment's name
 * @property {string} metric
 * @property {string} title
 * @property {string} unit
 * @property {'higher' | 'lower' | null} better
 * @property {number} n rounds
 * @property {Values} values
 * @property {number | null} control median of the rounds; null when one could not tell, or there is none
 * @property {number | null} treatment the same
 * @property {number | null} ahead how many times better the treatment is: the Hodges-Lehmann estimate of the rounds'
 *   own ratios, above 1 is better; without `better`, treatment ÷ control. null where there is no ratio
 * @property {number | null} lo of its interval, which is wider by `bias` on each side
 * @property {number | null} hi
 * @property {number | null} level of the interval: 0.95, less where there are too few rounds for that
 * @property {{ estimate: number, lo: number, hi: number } | null} shift treatment - control, in the unit
 * @property {number | null} p of the signed-rank test, two-sided
 * @property {number | null} pHolm corrected over its family, see `finding.js`; null without `better`
 * @property {number | null} pRankSum of the rank-sum test, which knows no rounds
 * @property {number | null} delta Cliff's, above 0 where the treatment's values are greater
 * @property {{ control: Spread, treatment: Spread }} spread
 * @property {ReturnType<typeof twinFigure> | null} twin A/A: twin ÷ control
 * @property {number | null} smallest ratio that this many rounds show in 4 of 5 experiments, from the noise of A/A
 * @property {number | null} roundsFor how many rounds would show the effect sought
 * @property {number | null} bias by how much A/A differs at most, as a ratio above 1, when it does but surely by less than the
 *   effect sought; otherwise null
 * @property {string | null} refused why it does not count: A/A differs
 * @property {Finding} finding
 * @property {string | null} why it is undecided or refused
 * @property {{ control?: number, treatment?: number, ahead?: number } | null} paper what was published
 *
 * @typedef {{ iqr: number | null, cv: number | null }} Spread interquartile range, coefficient of variation
 * @typedef {'better' | 'worse' | 'different' | 'no difference' | 'undecided' | 'refused'} Finding
 */
export function figure(metric, at, arm, all, { effect, isOnly = true }) {
  const { besideTwin = all.control, ...values } = all;
  const { name, title, unit, better = null } = metric;
  const { control, treatment } = values;
  const named = {
    case: at.label,
    arm,
    metric: name,
    title,
    unit,
    better,
    n: control.length,
    values,
  };
  const isTold =
    control.length > 0 && besideTwin.length > 0 && !Object.values(values).flat().includes(null);
  return {
    ...named,
    control: over(median, control),
    treatment: over(median, treatment),
    ...(isTold ? compared(better, { ...values, besideTwin }, effect) : UNKNOWN),
    spread: { control: spreadOf(control), treatment: spreadOf(treatment) },
    paper: published(better, at.paper, name, [arm, ...(isOnly ? ['treatment'] : [])]),
  };
}

const UNKNOWN = {
  ...{ ahead: null, lo: null, hi: null, level: null, shift: null },
  ...{ p: null, pRankSum: null, delta: null },
  ...{ twin: null, smallest: null, roundsFor: null },
};

function compared(better, { control, twin, treatment, besideTwin }, effect) {
  const aa = twinFigure(besideTwin, twin);
  const noise = ratioSpread(besideTwin, twin);
  return {
    ...timesBetter(better, control, treatment),
    shift: interval(pairedShift(control, treatment)),
    p: signedRank(control, treatment).p,
    pRankSum: rankSum(control, treatment).p,
    delta: cliffsDelta(control, treatment).delta,
    twin: aa,
    smallest: smallestRatio(noise, control.length),
    roundsFor: roundsForRatio(noise, effect),
  };
}

function timesBetter(better, control, treatment) {
  const [from, to] = better === 'lower' ? [treatment, control] : [control, treatment];
  const found = hasRatio(from, to) ? pairedRatio(from, to) : null;
  const { level } = found ?? pairedShift(control, treatment);
  return { ahead: found?.estimate ?? null, lo: found?.lo ?? null, hi: found?.hi ?? null, level };
}

const interval = ({ estimate, lo, hi }) => ({ estimate, lo, hi });

/** Of all rounds, or null. */
const over = (statistic, values) =>
  values.length === 0 || values.includes(null) ? null : statistic(values);

const spreadOf = (values) => ({
  iqr: over(interquartileRange, values),
  cv: over(coefficientOfVariation, values),
});

function published(better, paper, metric, names) {
  const control = paper?.control?.[metric];
  const treatment = names.map((name) => paper?.[name]?.[metric]).find((each) => each !== undefined);
  if (control === undefined && treatment === undefined) return null;
  const ratio = better === 'lower' ? control / treatment : treatment / control;
  return { control, treatment, ...(ratio > 0 && Number.isFinite(ratio) && { ahead: ratio }) };
}
