import { valuesOf } from './values.js';

/**
 * A run as it is kept: its figures and raw samples, without the bodies of answers and without output.
 *
 * @param {import('./format.js').Metric[]} metrics
 * @param {import('./measure.js').Run} run
 * @returns {Sample}
 *
 * @typedef {object} Sample
 * @property {string} case
 * @property {number} round from 1
 * @property {import('./arms.js').Role} role
 * @property {string} arm
 * @property {string} startedAt ISO 8601
 * @property {Record<string, number | null>} metrics
 * @property {import('./sample/sampler.js').Costs} costs
 * @property {import('./probe/summary.js').Probe | null} probe
 * @property {import('./equal.js').Group[]} work
 * @property {import('./loads/index.js').Outcome['latency']} latency
 * @property {import('./loads/index.js').Outcome['percentiles']} percentiles
 * @property {Record<string, number | null>} values of the load
 * @property {Record<string, [number, number][]>} series
 * @property {string | null} saturated
 * @property {string[]} faults
 * @property {string | null} crash how the server ended, where the load lets it
 * @property {string[]} notes what a reader should know
 * @property {object[]} [answers] of `requests`: name, times, status, size and hash of each
 */
export function sampleOf(metrics, run) {
  const { case: label, round, role, arm, startedAt, costs, probe, work } = run;
  const { latency, percentiles, values, series, saturated, faults, answers } = run;
  const { crash = null, notes = [] } = run;
  // A run that has failed may lack what its figures are made of.
  const isWhole = faults.length === 0;
  return {
    ...{ case: label, round, role, arm, startedAt, metrics: isWhole ? valuesOf(metrics, run) : {} },
    ...{
      costs,
      probe,
      work,
      latency,
      percentiles,
      values,
      series,
      saturated,
      faults,
      crash,
      notes,
    },
    ...(answers && { answers: answers.map(kept) }),
  };
}

const kept = ({ request, json, ...answer }) => ({ name: request.name, ...answer });
