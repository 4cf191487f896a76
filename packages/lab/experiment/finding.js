import { holm } from '../stats/index.js';
import { LEAST_ROUNDS } from './detectable.js';
import { ALPHA } from './noise.js';

/**
 * What the figures of one case and arm come to, each corrected (Holm) for how many there are: of many metrics some
 * differ by chance. Those that were asked for before are one family, corrected among themselves; every other one that has
 * a `better` is corrected among all. Each of the two has some false finding in 5 % of experiments at most, so that both
 * together have one in about 10 %. What has no `better` is no verdict.
 *
 * A/A is tested in the same two families, there with those that have no `better`: a family has a figure that is refused
 * by chance in 5 % of experiments at most. A difference that is surely smaller than the effect sought refuses nothing: its figure has an
 * interval that is wider by as much, as the treatment may differ from the control for the same unknown cause.
 *
 * @param {Omit<import('./figure.js').Figure, 'pHolm' | 'bias' | 'refused' | 'finding' | 'why'>[]} figures
 * @param {number} effect sought, as a ratio above 1
 * @param {Set<string>} [asked] metrics that were asked for before, see {@link askedFor}
 * @returns {import('./figure.js').Figure[]}
 */
export function findings(figures, effect, asked = new Set()) {
  const tested = figures.filter(({ better, p }) => better !== null && p !== null);
  const aa = figures.filter(({ twin }) => twin !== null);
  const corrected = inFamilies(tested, asked, ({ p }) => p);
  const correctedAa = inFamilies(aa, asked, ({ twin }) => twin.p);
  return figures.map((figure) => {
    const { p: pHolm = null, size } = corrected.get(figure) ?? {};
    const differs = correctedAa.has(figure) && correctedAa.get(figure).p <= ALPHA;
    const bias = differs ? smallBias(figure.twin, effect) : null;
    const refused = differs && bias === null ? differing(figure) : null;
    const found = { ...figure, ...widened(figure, bias ?? 1), bias, pHolm, refused };
    return { ...found, ...findingOf(found, pHolm ?? figure.p, size, effect) };
  });
}

/**
 * By how much A/A differs at most, as a ratio above 1, when all of its interval is within the effect sought; null when it is not, or there
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
 * @param {import('./figure.js').Figure} figure with a `bias`
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

/** @returns {{ finding: import('./figure.js').Finding, why: string | null }} */
function findingOf(figure, p, metrics, effect) {
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
      `p ${shown[0]} alone, ${shown[1]} as one of ${metrics} metrics: it takes more rounds`,
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

/** More rounds, or fewer other programs, would decide it. @param {Pick<import('./figure.js').Figure, 'why'>} figure */
export const isTooNoisy = ({ why }) => why?.startsWith(`${NOISY}: `) ?? false;

function tooNoisy({ n, smallest, roundsFor }, effect) {
  const shown = `${count(n)} show ${percent(smallest)} or more`;
  return `${NOISY}: ${shown}; ${percent(effect)} needs about ${roundsFor.toLocaleString('en-US')} rounds, or a quieter machine`;
}

const count = (n) => (n === 1 ? '1 round' : `${n} rounds`);
const percent = (ratio) => `${Number(((ratio - 1) * 100).toPrecision(2))} %`;
