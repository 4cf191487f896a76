/**
 * A run as it is kept: its figures and raw samples.
 *
 * @param {string} experiment whose metrics
 * @param {import('./asked.js').AskedRun} run
 * @param {string} [discarded] why its round was made again
 * @returns {Sample}
 *
 * @typedef {object} Sample
 * @property {string} case
 * @property {number} round from 1
 * @property {import('./arms.js').Role} role
 * @property {string} arm
 * @property {string} startedAt ISO 8601
 * @property {Record<string, number | null>} metrics none of a run that failed, or was discarded
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
 * @property {string} [discarded] why its round is in no figure, and was made again
 * @property {object[]} [answers] of `requests`: name, times, status, size and hash of each
 */
export function sampleOf(experiment, run, discarded) {
  const { case: label, round, role, arm, startedAt, costs, probe, work } = run;
  const { latency, percentiles, values, series, saturated, faults, answers } = run;
  const { crash = null, notes = [], metrics = {} } = run;
  return {
    ...{ case: label, round, role, arm, startedAt, metrics: metrics[experiment] ?? {} },
    ...{ costs, probe, work, latency, percentiles, values, series },
    ...{ saturated, faults, crash, notes },
    ...(discarded !== undefined && { discarded }),
    ...(answers && { answers }),
  };
}
