import { median } from '../run/figures.js';

/**
 * One metric of one case: what the rounds of both arms say.
 *
 * @param {import('./format.js').Metric} metric
 * @param {import('./format.js').Case} at
 * @param {Record<'control' | 'treatment', (number | null)[]>} values one a round, null where it could not tell
 * @returns {Figure}
 *
 * @typedef {object} Figure
 * @property {string} case
 * @property {string} metric
 * @property {string} unit
 * @property {'higher' | 'lower' | null} better
 * @property {number | null} control median of the rounds; null when one could not tell
 * @property {number | null} treatment the same
 * @property {number | null} ahead how many times better the treatment is: the median of the rounds' own ratios,
 *   taken so that above 1 is better; without `better`, treatment ÷ control
 * @property {number | null} lo the least of any round
 * @property {number | null} hi the most of any round
 * @property {number} n rounds
 * @property {{ control?: number, treatment?: number, ahead?: number } | null} paper what was published
 */
export function figure({ name, unit, better = null }, at, { control, treatment }) {
  const ratios = control.map((value, i) => timesBetter(better, value, treatment[i]));
  const isRatio = ratios.every((ratio) => ratio !== null);
  return {
    ...{ case: at.label, metric: name, unit, better },
    control: middle(control),
    treatment: middle(treatment),
    ahead: isRatio ? median(ratios) : null,
    lo: isRatio ? Math.min(...ratios) : null,
    hi: isRatio ? Math.max(...ratios) : null,
    n: control.length,
    paper: published(better, at.paper?.control?.[name], at.paper?.treatment?.[name]),
  };
}

function published(better, control, treatment) {
  if (control === undefined && treatment === undefined) return null;
  const ahead = timesBetter(better, control ?? null, treatment ?? null);
  return { control, treatment, ...(ahead !== null && { ahead }) };
}

/** null where there is no ratio. */
function timesBetter(better, control, treatment) {
  if (control === null || treatment === null) return null;
  const ratio = better === 'lower' ? control / treatment : treatment / control;
  return ratio > 0 && Number.isFinite(ratio) ? ratio : null;
}

const middle = (values) => (values.includes(null) ? null : median(values));
