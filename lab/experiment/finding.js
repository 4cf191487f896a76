import { holm } from '../stats/index.js';
import { LEAST_ROUNDS } from './detectable.js';
import { ALPHA } from './noise.js';

/**
 * What the figures of one case and arm come to, each corrected for how many there are: of many metrics some differ
 * by chance. Those that a claim names were asked for before, and are corrected among themselves; every other one among
 * all that have a `better`. What has none is no verdict.
 *
 * @param {Omit<import('./figure.js').Figure, 'pHolm' | 'finding' | 'why'>[]} figures
 * @param {number} effect sought, as a ratio above 1
 * @param {Set<string>} [claimed] metrics that a claim names
 * @returns {import('./figure.js').Figure[]}
 */
export function findings(figures, effect, claimed = new Set()) {
  const tested = figures.filter(({ better, p }) => better !== null && p !== null);
  const asked = tested.filter(({ metric }) => claimed.has(metric));
  const [ofAll, ofAsked] = [corrected(tested), corrected(asked)];
  return figures.map((figure) => {
    const family = ofAsked.has(figure) ? ofAsked : ofAll;
    const pHolm = family.get(figure) ?? null;
    return { ...figure, pHolm, ...findingOf(figure, pHolm ?? figure.p, family.size, effect) };
  });
}

function corrected(figures) {
  const adjusted = holm(figures.map(({ p }) => p));
  return new Map(figures.map((figure, i) => [figure, adjusted[i]]));
}

/** @returns {{ finding: import('./figure.js').Finding, why: string | null }} */
function findingOf(figure, p, metrics, effect) {
  const { n, refused, smallest } = figure;
  const undecided = (why) => ({ finding: 'undecided', why });
  if (refused !== null) return { finding: 'refused', why: refused };
  if (n === 0) return undecided('there is no whole round');
  if (p === null) return undecided(untold(figure));
  if (p <= ALPHA) return { finding: direction(figure), why: null };
  if (figure.p <= ALPHA) {
    const shown = [figure.p, p].map((each) => each.toPrecision(2));
    return undecided(
      `p ${shown[0]} alone, ${shown[1]} as one of ${metrics} metrics: it takes more rounds`,
    );
  }
  if (n < LEAST_ROUNDS) {
    return undecided(`${count(n)} cannot show a difference; ${LEAST_ROUNDS} are the least`);
  }
  if (smallest === null) {
    const { control, treatment } = figure.values;
    const isSame = control.every((value, i) => value === treatment[i]);
    return isSame ? { finding: 'no difference', why: null } : undecided('there is no ratio');
  }
  return smallest <= effect
    ? { finding: 'no difference', why: null }
    : undecided(tooNoisy(figure, effect));
}

function direction({ better, ahead, shift }) {
  if (better === null) return 'different';
  const gain = ahead === null ? (better === 'lower' ? -shift.estimate : shift.estimate) : ahead - 1;
  if (gain === 0) return 'different';
  return gain > 0 ? 'better' : 'worse';
}

function untold({ n, values }) {
  const rounds = values.control.map((_, i) => Object.values(values).map((each) => each[i]));
  const silent = rounds.filter((round) => round.includes(null)).length;
  return `${silent === n ? `none of ${count(n)}` : `${n - silent} of ${count(n)} only`} could tell`;
}

function tooNoisy({ n, smallest, roundsFor }, effect) {
  const shown = `${count(n)} show ${percent(smallest)} or more`;
  return `too noisy: ${shown}; ${percent(effect)} needs about ${roundsFor} rounds, or a quieter machine`;
}

const count = (n) => (n === 1 ? '1 round' : `${n} rounds`);
const percent = (ratio) => `${Number(((ratio - 1) * 100).toPrecision(2))} %`;
