/**
 * The record of an experiment: what is kept of each run, of the load, of the programs that took part, and of the machine. Bodies of answers and
 * output are dropped as soon as a run has been asked for its metrics: over many rounds they would fill the memory.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { LabError } from '../load/errors.js';
import { ask } from './form.js';
import { refusalOfRun } from './refusal.js';

/**
 * Asks a run all that will be judged of it, and lets go of what only that needs and what would fill the memory over many
 * rounds: the bodies of answers, what the server wrote, what a program printed.
 *
 * @param {import('./measure.js').Run} run
 * @param {import('./format.js').Arm} arm whose run it is
 * @param {Pick<import('./format.js').Experiment, 'name' | 'metrics'>[]} experiments that are judged by it
 * @param {Map<string, Error>} [mistakes] by experiment: those whose metrics have failed, which are asked no more
 * @returns {AskedRun}
 * @throws {LabError} as `misplaced`
 *
 * @typedef {object} Asked
 * @property {import('./refusal.js').Refusal | null} refusal why the run does not count
 * @property {Record<string, Record<string, number | null>>} metrics by experiment; none where they have failed, and of a
 *   run that has faults: it may lack what they are made of
 * @typedef {Omit<import('./measure.js').Run, 'output' | 'proof' | 'first' | 'json' | 'stats'> & Asked} AskedRun
 */
export function asked(run, arm, experiments, mistakes = new Map()) {
  const refusal = refusalOfRun(run, arm);
  const metrics = {};
  for (const experiment of run.faults.length > 0 ? [] : experiments) {
    if (mistakes.has(experiment.name)) continue;
    try {
      metrics[experiment.name] = valuesOf(experiment.metrics, run);
    } catch (error) {
      mistakes.set(experiment.name, error);
    }
  }
  return { ...light(run), refusal, metrics };
}

/** A run without what is heavy. */
export function light({ output, proof, first, json, stats, answers, ...run }) {
  return { ...run, ...(answers && { answers: answers.map(withoutBody) }) };
}

const withoutBody = ({ request, json, ...answer }) => ({ name: request.name, ...answer });

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

/**
 * A run as it is kept: its figures and raw samples.
 *
 * @param {string} experiment whose metrics
 * @param {AskedRun} run
 * @param {string} [discarded] why its round was made again
 * @returns {Sample}
 *
 * @typedef {object} Sample
 * @property {string} case
 * @property {number} round from 1
 * @property {import('./plan.js').Role} role
 * @property {string} arm
 * @property {string} startedAt ISO 8601
 * @property {Record<string, number | null>} metrics none of a run that failed, or was discarded
 * @property {import('./sample/sampler.js').Costs} costs
 * @property {import('./probe/summary.js').Probe | null} probe
 * @property {import('./refusal.js').Group[]} work
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

/** Facts in a result about the load and the programs involved. */

/**
 * The load as it was in each case: what a reader has to know to repeat it.
 *
 * @param {import('./format.js').Load} load
 * @param {import('./format.js').Params[]} params of the first round of each case
 * @returns {{ kind: string, cases: Record<string, unknown>[] }} of each case its label as `case`, and the keys of the load
 *   that are texts, numbers or flags, or lists of them; of a list of requests their paths
 */
export function loadRecord({ kind, pin, timeoutS, ...keys }, params) {
  const cases = params.map((at) => {
    const settled = Object.entries(keys).map(([key, value]) => [key, kept(value, at)]);
    return {
      case: at.label,
      ...Object.fromEntries(settled.filter(([, value]) => value !== undefined)),
    };
  });
  return { kind, cases };
}

function kept(value, params) {
  try {
    const settled = typeof value === 'function' ? value(params) : value;
    if (!Array.isArray(settled)) return isScalar(settled) ? settled : undefined;
    const list = settled.map((each) => each?.path ?? each).filter(isScalar);
    return list.length > 0 ? [...new Set(list)] : undefined;
  } catch {
    // It is told where the load itself asks for it.
    return undefined;
  }
}

const isScalar = (value) => ['string', 'number', 'boolean'].includes(typeof value);

/**
 * The versions of what took part; those that cannot be told are left out.
 *
 * @param {import('./measure.js').Run[]} runs
 * @returns {Record<'lab' | 'millrace' | 'autocannon' | 'node', string>} `millrace` as it is found from the working
 *   directory, else from the lab; `node` that of the servers, by their probes
 */
export function versionsOf(runs) {
  const nodes = [...new Set(runs.map(({ probe }) => probe?.node).filter(Boolean))];
  const versions = {
    lab: versionIn(new URL('../package.json', import.meta.url)),
    millrace: versionOf('millrace', join(process.cwd(), 'x'), import.meta.url),
    autocannon: versionOf('autocannon', import.meta.url),
    node: nodes.length > 0 ? nodes.join(', ') : undefined,
  };
  return Object.fromEntries(Object.entries(versions).filter(([, version]) => version));
}

function versionOf(name, ...places) {
  for (const place of places) {
    try {
      return versionIn(createRequire(place).resolve(`${name}/package.json`));
    } catch {}
  }
  return undefined;
}

const versionIn = (file) => JSON.parse(readFileSync(file, 'utf8')).version;
