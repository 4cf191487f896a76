/**
 * Figures: from the rounds of one metric, case and treatment to an estimate, its interval and a finding.
 *
 * The estimate is the median of the rounds' own ratios (Hodges-Lehmann), so that a machine that drifts changes both sides of a ratio. The test
 * is the signed-rank test over rounds. The control is measured against its twin in the same way: that noise says which effect this many rounds
 * would have shown, so that "no difference" is found only where a difference of the size sought would have been seen, and a twin that differs
 * by more refuses the figure. Of many metrics some differ by chance; p is corrected (Holm) within two families: the metrics that were asked
 * for beforehand, and all.
 */
import {
  cliffsDelta,
  coefficientOfVariation,
  holm,
  interquartileRange,
  median,
  pairedRatio,
  pairedShift,
  rankSum,
  signedRank,
  standardDeviation,
} from '../stats/index.js';

/**
 * Figure of a metric, for one treatment in one case: what the rounds say of it, before the correction over all metrics and
 * the finding that follows from it.
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
 * @property {number | null} pHolm corrected over its family, see `findings`; null without `better`
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

/** Statistic of the values of all rounds; null if one has none. */
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

/** Up to which p two arms are called different. */
const ALPHA = 0.05;

/**
 * Noise of a metric, as the control and its twin, the same program, show it.
 *
 * @param {number[]} control a value for each round, one round or more
 * @param {number[]} twin of the same rounds
 * @returns {{ ahead: number | null, lo: number | null, hi: number | null, p: number, medians: number[] }} `ahead` is twin ÷ control, `medians`
 *   are of the control and of the twin
 */
export function twinFigure(control, twin) {
  const { p } = signedRank(control, twin);
  const medians = [control, twin].map(median);
  if (!hasRatio(control, twin)) return { ahead: null, lo: null, hi: null, p, medians };
  const { estimate, lo, hi } = pairedRatio(control, twin);
  return { ahead: estimate, lo, hi, p, medians };
}

/**
 * The smallest ratio that a number of rounds show in 4 of 5 experiments.
 *
 * @param {number | null} spread as {@link ratioSpread}
 * @param {number} rounds
 * @returns {number | null} above 1, 1 without noise; null when nothing can be shown
 */
export function smallestRatio(spread, rounds) {
  const effect = detectable(rounds);
  return spread === null || effect === null ? null : Math.exp(effect * spread);
}

/**
 * Number of rounds that show a ratio in 4 of 5 experiments.
 *
 * @param {number | null} spread as {@link ratioSpread}
 * @param {number} ratio on either side of 1
 * @returns {number | null} 6 or more; null when it cannot be told: without a spread, and of the ratio 1
 */
export function roundsForRatio(spread, ratio) {
  const effect = Math.abs(Math.log(ratio));
  if (spread === null || effect === 0) return null;
  return roundsFor(effect / spread);
}

/**
 * The noise between two runs of a round: the standard deviation of the logarithm of their ratio. 0.05 is about 5 %.
 *
 * @param {number[]} control
 * @param {number[]} other of the same rounds
 * @returns {number | null} null of one round, and without a ratio
 */
export function ratioSpread(control, other) {
  if (control.length === 0 || !hasRatio(control, other)) return null;
  return standardDeviation(control.map((value, i) => Math.log(other[i] / value)));
}

/** Reports whether every round has a ratio: nothing divided by nothing is none. */
const hasRatio = (control, other) => [...control, ...other].every((value) => value >= 1e-150);

/**
 * Effect that a number of rounds can show: the one that the signed-rank test finds, with its right sign and p <= 0.05, in 4
 * of 5 experiments. In standard deviations of the differences within a round, whose noise is taken to be normal.
 */

/** Least number of rounds with a p of 0.05. */
export const LEAST_ROUNDS = 6;

/**
 * Least effects that 6 to 12 rounds show, by 40,000 simulated experiments each. So few rounds have few possible values of p, and no formula; the
 * test of power in packages/lab/stats is of two arms without rounds, and says too little for 6.
 */
const FEW = [1.787, 1.326, 1.246, 1.148, 1.021, 0.99, 0.936];

/** (z(0.975) + z(0.8)) · √(π / 3), which is the efficiency of the test; the rest is fitted to simulations up to 50. */
const formula = (n) => (2.867 * (1 + 1.05 / n)) / Math.sqrt(n);

/**
 * @param {number} rounds
 * @returns {number | null} null when there are too few to show anything
 */
export function detectable(rounds) {
  if (rounds < LEAST_ROUNDS) return null;
  return FEW[rounds - LEAST_ROUNDS] ?? formula(rounds);
}

/**
 * Number of rounds that show an effect.
 *
 * @param {number} effect in standard deviations, above 0
 * @returns {number} 6 or more
 */
export function roundsFor(effect) {
  const few = FEW.findIndex((least) => least <= effect);
  if (few !== -1) return few + LEAST_ROUNDS;
  const n = (2.867 / effect) ** 2;
  // 1 + 1.05 / n squared is nearly 1 + 2.1 / n.
  return Math.max(LEAST_ROUNDS + FEW.length, Math.ceil(n + 2.1));
}

/**
 * Findings of the figures of one case and arm, each p corrected (Holm) for their number: of many metrics some
 * differ by chance. Those that were asked for before are one family, corrected among themselves; every other one that has
 * a `better` is corrected among all. Each of the two has some false finding in 5 % of experiments at most, so that both
 * together have one in about 10 %. What has no `better` is no verdict.
 *
 * A/A is tested in the same two families, there with those that have no `better`: a family has a figure that is refused
 * by chance in 5 % of experiments at most. A difference that is surely smaller than the effect sought refuses nothing: its figure has an
 * interval that is wider by as much, as the treatment may differ from the control for the same unknown cause.
 *
 * @param {Omit<Figure, 'pHolm' | 'bias' | 'refused' | 'finding' | 'why'>[]} figures
 * @param {number} effect sought, as a ratio above 1
 * @param {Set<string>} [asked] metrics that were asked for before, see {@link askedFor}
 * @returns {Figure[]}
 */
export function findings(figures, effect, asked = new Set()) {
  const tested = figures.filter(({ better, p }) => better !== null && p !== null);
  // The twin is one, however many treatments there are.
  const aa = figures.filter(({ twin, arm }) => twin !== null && arm === figures[0].arm);
  const corrected = inFamilies(tested, asked, ({ p }) => p);
  const ofTwin = inFamilies(aa, asked, ({ twin }) => twin.p);
  const correctedAa = new Map([...ofTwin].map(([{ metric }, found]) => [metric, found]));
  return figures.map((figure) => {
    const { p: pHolm = null, size } = corrected.get(figure) ?? {};
    const differs = figure.twin !== null && correctedAa.get(figure.metric)?.p <= ALPHA;
    const bias = differs ? smallBias(figure.twin, effect) : null;
    const refused = differs && bias === null ? differing(figure) : null;
    const found = { ...figure, ...widened(figure, bias ?? 1), bias, pHolm, refused };
    return { ...found, ...findingOf(found, pHolm ?? figure.p, size, effect) };
  });
}

/**
 * Largest difference of A/A, as a ratio above 1, when all of its interval is within the effect sought; null when it is not, or there
 * is no ratio.
 */
function smallBias({ lo, hi }, effect) {
  if (lo === null || lo < 1 / effect || hi > effect) return null;
  return Math.max(hi, 1 / lo);
}

const widened = ({ lo, hi }, bias) =>
  lo === null || hi === null ? {} : { lo: lo / bias, hi: hi * bias };

/**
 * Note on a figure that counts although the control differs from itself.
 *
 * @param {Figure} figure with a `bias`
 * @param {number} effect sought, as a ratio above 1
 */
export function biasNote({ title, case: label, bias, twin, ...figure }, effect) {
  const where = label === '' ? title : `${title}, ${label}`;
  const [least, most] = [twin.lo, twin.hi].map((each) => each.toPrecision(4));
  return (
    `${where}: ${differing({ twin, ...figure })}, ${least} to ${most} times. That is less than the effect sought, ` +
    `${percent(effect)}, so that the figure counts; its interval is wider by ${percent(bias)} on each side.`
  );
}

/**
 * The metrics that an experiment asks for before anything is measured: those that its claims name, or, without a claim,
 * its main one: the first that has a `better`.
 *
 * @param {Pick<import('./format.js').Experiment, 'claims' | 'metrics'>} experiment
 * @returns {Set<string>}
 */
export function askedFor({ claims, metrics }) {
  if (claims.length > 0) return new Set(claims.map(({ metric }) => metric));
  const main = metrics.filter(({ better = null }) => better !== null).slice(0, 1);
  return new Set(main.map(({ name }) => name));
}

/** @returns {Map<object, { p: number, size: number }>} corrected, and how many there are in its family */
function inFamilies(figures, asked, pOf) {
  const among = (family) => {
    const adjusted = holm(family.map(pOf));
    return family.map((figure, i) => [figure, { p: adjusted[i], size: family.length }]);
  };
  // Those that were asked for come last: theirs is the family of their own.
  return new Map([...among(figures), ...among(figures.filter(({ metric }) => asked.has(metric)))]);
}

/** @returns {{ finding: Finding, why: string | null }} */
function findingOf(figure, p, tests, effect) {
  const { n, refused, ahead, lo, hi, smallest } = figure;
  const undecided = (why) => ({ finding: 'undecided', why });
  const none = { finding: 'no difference', why: null };
  if (refused !== null) return { finding: 'refused', why: refused };
  if (n === 0) return undecided('there is no whole round');
  if (p === null) return undecided(untold(figure));
  if (p <= ALPHA && figure.bias !== null && !(lo > 1 || hi < 1)) {
    return undecided(
      `A/A differs by up to ${percent(figure.bias)}: this difference may have the same cause`,
    );
  }
  if (p <= ALPHA) return { finding: direction(figure), why: null };
  if (figure.p <= ALPHA) {
    const shown = [figure.p, p].map((each) => each.toPrecision(2));
    return undecided(
      `p ${shown[0]} alone, ${shown[1]} as one of ${tests} tests: it takes more rounds`,
    );
  }
  if (n < LEAST_ROUNDS) {
    return undecided(`${count(n)} cannot show a difference; ${LEAST_ROUNDS} are the least`);
  }
  if (ahead === null || smallest === null) {
    const { control, treatment } = figure.values;
    const isSame = control.every((value, i) => value === treatment[i]);
    return isSame ? none : undecided('there is no ratio');
  }
  if (smallest > effect) return undecided(tooNoisy(figure, effect));
  if (lo >= 1 / effect && hi <= effect) return none;
  const shown = [lo, hi].map((each) => Number(each.toPrecision(3)));
  return undecided(
    `the interval, ${shown.join(' to ')}, goes beyond ${percent(effect)}: it takes more rounds`,
  );
}

function direction({ better, ahead, shift }) {
  if (better === null) return 'different';
  const gain = ahead === null ? (better === 'lower' ? -shift.estimate : shift.estimate) : ahead - 1;
  if (gain === 0) return 'different';
  return gain > 0 ? 'better' : 'worse';
}

function differing({ twin: { p, medians } }) {
  const shown = `${medians.map((each) => Number(each.toPrecision(3))).join(' and ')} (p ${Number(p.toPrecision(2))})`;
  return `A/A differs: the control measured twice gave ${shown}`;
}

function untold({ n, values: { control, twin, treatment } }) {
  const missing = (values) => values.filter((value) => value === null).length;
  const silent = Math.max(...[control, twin, treatment].map(missing));
  return `${silent === n ? `none of ${count(n)}` : `${n - silent} of ${count(n)} only`} could tell`;
}

const NOISY = 'too noisy';

/** Reports whether more rounds, or fewer other programs, would decide it. @param {Pick<Figure, 'why'>} figure */
export const isTooNoisy = ({ why }) => why?.startsWith(`${NOISY}: `) ?? false;

function tooNoisy({ n, smallest, roundsFor }, effect) {
  const shown = `${count(n)} show ${percent(smallest)} or more`;
  return `${NOISY}: ${shown}; ${percent(effect)} needs about ${roundsFor.toLocaleString('en-US')} rounds, or a quieter machine`;
}

const count = (n) => (n === 1 ? '1 round' : `${n} rounds`);
const percent = (ratio) => `${Number(((ratio - 1) * 100).toPrecision(2))} %`;
