import { LabError } from '../load/errors.js';
import { ask } from './errors.js';

/**
 * The figures of one run.
 *
 * @param {import('./format.js').Metric[]} metrics
 * @param {import('./measure.js').Run} run
 * @returns {Record<string, number | null>} by name; null where the run cannot tell
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` naming a metric that fails, or gives no finite number
 */
export function valuesOf(metrics, run) {
  return Object.fromEntries(
    metrics.map(({ name, of }) => {
      const value = ask(`metric ${name}`, () => of(run));
      if (value === null || Number.isFinite(value)) return [name, value];
      throw new LabError(
        'MILLRACE_LAB_E_EXPERIMENT',
        `metric ${name} gave ${value}; it must be a number, or null when the run cannot tell`,
      );
    }),
  );
}
