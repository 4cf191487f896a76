/** Selects the results for a report. */
import { isNumber } from './numbers.js';

export const treatmentsOf = ({ arms }) =>
  arms.filter(({ role }) => role === 'treatment').map(({ name }) => name);

export const controlOf = ({ arms }) =>
  arms.find(({ role }) => role === 'control')?.name ?? 'control';

/** The metric of the first claim; or the first one of which more or less is better; or simply the first. */
export function mainMetric({ claims, metrics }) {
  const claimed = metrics.find(({ name }) => name === claims[0]?.metric);
  return claimed ?? metrics.find(({ better }) => better) ?? metrics[0] ?? null;
}

/** The metrics that a reader asks for first: the one that decides, throughput and CPU, as far as they say which arm is better. */
export function keyMetrics(results) {
  const judged = results.metrics.filter(({ better }) => better);
  const throughput = judged.find(({ unit, better }) => unit.endsWith('/s') && better === 'higher');
  const cpu = judged.find(({ name }) => name.startsWith('cpu'));
  return [...new Set([mainMetric(results), throughput, cpu])].filter(Boolean);
}

/** Figures of some case, arm or metric. */
export const figuresOf = ({ figures }, wanted) => figures.filter((each) => matches(each, wanted));

/** Claims that speak of the metric of a figure, in its case and arm. */
export const claimsOf = ({ claims }, figure) =>
  claims.filter(
    (claim) =>
      claim.metric === figure.metric &&
      claim.case === figure.case &&
      (claim.arm ?? figure.arm) === figure.arm,
  );

/**
 * The arms in the order in which they are shown: control, twin, treatments.
 *
 * @returns {{ role: 'control' | 'twin' | 'treatment', name: string, title: string, style: string }[]} `style` is the
 *   class of all that shows it: `control`, `twin`, `arm-1`, …
 */
export function shownArms(results) {
  const control = controlOf(results);
  const hasTwin = results.runs.some(({ role }) => role === 'twin');
  return [
    { role: 'control', name: control, title: control, style: 'control' },
    ...(hasTwin
      ? [{ role: 'twin', name: control, title: `${control}, once more`, style: 'twin' }]
      : []),
    ...treatmentsOf(results).map((name, i) => ({
      role: 'treatment',
      name,
      title: name,
      style: `arm-${(i % 5) + 1}`,
    })),
  ];
}

/** The runs of an arm in a case, without those of rounds that were made again. */
export const runsOf = ({ runs }, arm, label) =>
  runs.filter(
    (run) =>
      run.discarded === undefined &&
      run.case === label &&
      run.role === arm.role &&
      (arm.role !== 'treatment' || run.arm === arm.name),
  );

/**
 * The run that stands for an arm: the one in the middle by the main metric; of an even number the lower one.
 *
 * @param {object[]} runs of one arm in one case
 * @param {string | undefined} metric its name
 * @returns {object | null} null of no runs
 */
export function typicalRun(runs, metric) {
  const told = runs.filter((run) => isNumber(run.metrics?.[metric]));
  const sorted = told.toSorted((a, b) => a.metrics[metric] - b.metrics[metric]);
  return sorted[(sorted.length - 1) >> 1] ?? runs[0] ?? null;
}

const matches = (item, wanted) =>
  Object.entries(wanted).every(([key, value]) => item[key] === value);

/**
 * Parts a list by a key, in the order in which the keys come.
 *
 * @template Item
 * @param {Item[]} items
 * @param {(item: Item) => string} keyOf
 * @returns {Map<string, Item[]>}
 */
export function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (groups.has(key)) groups.get(key).push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
