/** The table of the figures as texts, for HTML and Markdown. */
import { deltaWord } from '../stats/index.js';
import { isNumber, NONE, percent, pValue, quantity, range, signed, times } from './numbers.js';
import { claimsOf, figuresOf } from './select.js';
import { rowWord } from './text.js';

const fixed = signed((value) => value.toFixed(2));

/**
 * The figures, one a row.
 *
 * @param {object} results
 * @param {object} [wanted] the case, arm or metric; default: all
 * @returns {Row[]}
 *
 * @typedef {object} Row
 * @property {string} case
 * @property {string} arm
 * @property {string} metric its name
 * @property {string} title of the metric
 * @property {string} unit
 * @property {string} better `more is better`, `less is better`, or which ratio it is where neither is
 * @property {string} claimed
 * @property {string} paper what was published of both arms
 * @property {string} control
 * @property {string} treatment
 * @property {string} times
 * @property {string} interval of these; of the difference where there is no ratio
 * @property {string} p signed-rank, corrected
 * @property {string} pRankSum
 * @property {string} delta
 * @property {string} deltaWord
 * @property {string} word verdict or finding
 * @property {string | null} refused why it does not count
 */
export function rows(results, wanted = {}) {
  return figuresOf(results, wanted).map((figure) => {
    const [claim] = claimsOf(results, figure);
    return {
      ...placeOf(figure),
      better:
        { higher: 'more is better', lower: 'less is better' }[figure.better] ??
        'treatment ÷ control',
      claimed: claim ? `≥ ${times(claim.atLeast)}` : NONE,
      paper: paperText(figure.paper, claim),
      control: quantity(figure.control),
      treatment: quantity(figure.treatment),
      times: times(figure.ahead),
      interval: intervalText(figure),
      p: pValue(figure.pHolm ?? figure.p),
      pRankSum: pValue(figure.pRankSum),
      delta: fixed(figure.delta),
      deltaWord: isNumber(figure.delta) ? deltaWord(figure.delta) : '',
      word: rowWord(results, figure),
      refused: figure.refused ?? null,
    };
  });
}

const placeOf = ({ case: label, arm, metric, title, unit }) => ({
  ...{ case: label, arm, metric, title, unit },
});

function intervalText({ lo, hi, shift, unit }) {
  if (isNumber(lo) && isNumber(hi)) return range(lo, hi);
  if (!shift || !isNumber(shift.lo)) return NONE;
  return `${signed(quantity)(shift.lo)} to ${signed(quantity)(shift.hi)} ${unit}`.trim();
}

function paperText(paper, claim) {
  if (!paper) return '';
  const { control, treatment, ahead } = paper;
  const arms =
    isNumber(control) || isNumber(treatment) ? `${quantity(control)} → ${quantity(treatment)}` : '';
  const ratio = isNumber(ahead) && !claim ? `${times(ahead)}×` : '';
  return [arms, ratio].filter(Boolean).join(', ');
}

/**
 * Rows of what stands behind the figures: the difference, the spread, the control against itself.
 *
 * @param {object} results
 * @param {object} [wanted] the case, arm or metric; default: all
 */
export function noiseRows(results, wanted = {}) {
  return figuresOf(results, wanted).map((figure) => {
    const { shift, spread, twin } = figure;
    return {
      ...placeOf(figure),
      shift: shift ? signed(quantity)(shift.estimate) : NONE,
      shiftInterval: shift
        ? `${signed(quantity)(shift.lo)} to ${signed(quantity)(shift.hi)}`
        : NONE,
      pRaw: pValue(figure.p),
      iqr: change(quantity, spread, 'iqr'),
      cv: change(percent, spread, 'cv'),
      twin: times(twin?.ahead),
      twinInterval: range(twin?.lo, twin?.hi),
      twinP: pValue(twin?.p),
      hasTwin: Boolean(twin),
      smallest: isNumber(figure.smallest) ? `${times(figure.smallest)}×` : NONE,
      roundsFor: quantity(figure.roundsFor),
    };
  });
}

/** Change from control to treatment. */
function change(format, spread, key) {
  const [from, to] = [spread?.control?.[key], spread?.treatment?.[key]].map(format);
  return from === NONE && to === NONE ? NONE : `${from} → ${to}`;
}
