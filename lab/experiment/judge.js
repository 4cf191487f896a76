import { armsOf, nameOf } from './arms.js';
import { ask } from './errors.js';
import { figure } from './figure.js';
import { findings } from './finding.js';
import { refusalOfRound, refusalOfRun } from './refusal.js';
import { sampleOf } from './samples.js';
import { valuesOf } from './values.js';
import { judgeClaims } from './verdict.js';

/** What is worth to be found, where nobody says otherwise: 5 %. */
export const EFFECT = 1.05;

/**
 * What the runs of an experiment come to. Pure: the same runs give the same results, and an experiment that shares
 * the runs of another is judged by what that one has gathered. Looks itself at whether the runs count.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./gather.js').Gathered} gathered
 * @param {object} [options]
 * @param {number} [options.effect] sought, as a ratio above 1, default 1.05: "no difference" needs so little noise
 *   that it would have been found
 * @returns {Results}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when a function of the experiment fails, or a metric is NaN
 *
 * @typedef {object} Results
 * @property {1} format
 * @property {string} experiment its name
 * @property {string} question
 * @property {string | null} about
 * @property {string} date ISO 8601
 * @property {boolean} quick
 * @property {number} seed of the order of the arms
 * @property {number} seconds that it took
 * @property {number} effect sought
 * @property {string | null} partial why there are less rounds than wanted
 * @property {import('./errors.js').Refusal | null} refusal why nothing counts: every case was refused, and there is
 *   no figure; a case that was refused among others is told in `notes` and by its claims
 * @property {ReturnType<typeof import('./host.js').hostRecord>} host
 * @property {import('./gather.js').Gathered['arms']} arms
 * @property {string[]} cases labels
 * @property {{ name: string, title: string, unit: string, better: 'higher' | 'lower' | null }[]} metrics
 * @property {import('./figure.js').Figure[]} figures by case, arm, metric; of whole rounds
 * @property {import('./verdict.js').Judged[]} claims
 * @property {string[]} notes
 * @property {import('./samples.js').Sample[]} runs in the order in which they were made, all of them
 */
export function judge(experiment, gathered, { effect = EFFECT } = {}) {
  const { name, question, about = null } = experiment;
  const { date, seconds, quick, seed, host, partial, cases, arms } = gathered;
  const refusals = refusalsOf(experiment, gathered.rounds);
  const measured = cases.filter((label) => gathered.rounds.some((round) => round.case === label));
  const isAll = measured.length > 0 && measured.every((label) => refusals.has(label));
  const refusal = isAll ? refusals.get(measured[0]) : null;
  const figures = figuresOf(experiment, gathered, effect).filter(
    (each) => !refusals.has(each.case),
  );
  const results = {
    ...{ format: 1, experiment: name, question, about, date: date.toISOString(), quick, seed },
    ...{ seconds, effect, partial, refusal, host, arms, cases },
    metrics: experiment.metrics.map(({ of, better = null, ...metric }) => ({ ...metric, better })),
    figures,
    claims: judgeClaims(experiment, figures, refusals),
    notes: [
      ...(refusal
        ? []
        : [...refusals.values()].map(({ why, advice }) => `Refused: ${why}. ${advice}.`)),
      ...notesOf(gathered.rounds),
    ],
    runs: gathered.rounds.flatMap(({ runs }) =>
      runs.map((run) => sampleOf(experiment.metrics, run)),
    ),
  };
  if (experiment.notes && !refusal) {
    results.notes.push(...ask('notes', () => experiment.notes(results)));
  }
  return results;
}

/** What happened in runs, each thing once, with how often. */
function notesOf(rounds) {
  const counts = new Map();
  const runs = rounds.flatMap((round) => round.runs);
  for (const { role, arm, notes = [] } of runs) {
    for (const note of notes) {
      const told = `${nameOf(role, arm)}: ${note}`;
      counts.set(told, (counts.get(told) ?? 0) + 1);
    }
  }
  return [...counts].map(([told, n]) => (n === 1 ? `${told}.` : `${told} (${n} runs).`));
}

/** The first refusal of each case that has one. */
function refusalsOf(experiment, rounds) {
  const refusals = new Map();
  for (const { case: label, runs } of rounds) {
    const refusal = refusals.has(label) ? null : refusalIn(experiment, runs);
    if (refusal) refusals.set(label, refusal);
  }
  return refusals;
}

function refusalIn(experiment, runs) {
  const arms = armsOf(experiment);
  for (const run of runs) {
    const { arm } = arms.find(({ role, arm: { name } }) => role === run.role && name === run.arm);
    const refusal = refusalOfRun(run, arm);
    if (refusal) return refusal;
  }
  return runs.some(({ role }) => role === 'control') ? refusalOfRound(runs) : null;
}

function figuresOf(experiment, { rounds, cases }, effect) {
  const { metrics, treatments, claims } = experiment;
  const claimed = new Set(claims.map(({ metric }) => metric));
  const whole = rounds.filter(({ runs }) => runs.length === armsOf(experiment).length);
  return cases.flatMap((label) => {
    const at = experiment.cases.find((each) => each.label === label);
    const ofCase = whole.filter((round) => round.case === label);
    // A case that was never reached has no figure.
    if (ofCase.length === 0) return [];
    return treatments.flatMap(({ name }) => {
      const values = {
        control: ofCase.map((round) => metricsOf(round, 'control')),
        twin: ofCase.map((round) => metricsOf(round, 'twin')),
        treatment: ofCase.map((round) => metricsOf(round, 'treatment', name)),
      };
      const isOnly = treatments.length === 1;
      const found = metrics.map((metric) =>
        figure(metric, at, name, valuesFor(metric, values), { effect, isOnly }),
      );
      return findings(found, effect, claimed);
    });
  });

  function metricsOf({ runs }, role, name) {
    const run = runs.find((each) => each.role === role && (name ?? each.arm) === each.arm);
    return valuesOf(metrics, run);
  }
}

const valuesFor = ({ name }, values) =>
  Object.fromEntries(
    Object.entries(values).map(([role, runs]) => [role, runs.map((each) => each[name])]),
  );
