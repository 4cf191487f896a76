import { armsOf, armsOfRound, nameOf, twinEveryAt } from './arms.js';
import { ask } from './errors.js';
import { figure } from './figure.js';
import { askedFor, biasNote, findings } from './finding.js';
import { refusalOfRound } from './refusal.js';
import { sampleOf } from './samples.js';
import { judgeClaims } from './verdict.js';

/** What is worth to be found, where nobody says otherwise: 5 %. */
const EFFECT = 1.05;

/**
 * What the runs of an experiment come to. Pure: the same runs give the same results, and an experiment that shares
 * the runs of another is judged by what that one has gathered, if it was told of it (`sharing`).
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./gather.js').Gathered} gathered
 * @param {object} [options]
 * @param {number} [options.effect] sought, as a ratio above 1, default 1.05: "no difference" needs so little noise
 *   that it would have been found
 * @returns {Results}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when `notes` of the experiment fails; its `results` are all the same
 *
 * @typedef {object} Results
 * @property {1} format
 * @property {string} experiment its name
 * @property {string} question
 * @property {string | null} about
 * @property {string} date ISO 8601
 * @property {import('./sizes.js').Size} size
 * @property {number} seed of the order of the arms
 * @property {number} seconds that it took
 * @property {number} effect sought
 * @property {string | null} partial why there are less rounds than wanted
 * @property {import('./errors.js').Refusal | null} refusal why nothing counts: every case was refused, and there is
 *   no figure; a case that was refused among others is told in `notes` and by its claims
 * @property {ReturnType<typeof import('./host.js').hostRecord>} host
 * @property {import('./gather.js').Gathered['versions']} versions
 * @property {import('./gather.js').Gathered['load']} load
 * @property {boolean} pinned whether server and load had a core each
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
  const { date, seconds, size, seed, host, versions, load, pinned, cases, arms } = gathered;
  const counted = gathered.rounds.filter(({ discarded }) => discarded === undefined);
  const partial = gathered.partial ?? mistaken(gathered.mistakes.get(name));
  const refusals = refusalsOf(counted);
  const measured = cases.filter((label) => counted.some((round) => round.case === label));
  const isAll = measured.length > 0 && measured.every((label) => refusals.has(label));
  const refusal = isAll ? refusals.get(measured[0]) : null;
  const planned = armsOf(experiment, { size });
  const twinEvery = twinEveryAt(experiment, size);
  const made = { cases, arms: planned.map(({ arm }) => arm.name) };
  const figures = figuresOf(experiment, counted, {
    ...{ cases, arms: planned, twinEvery, effect },
  }).filter((each) => !refusals.has(each.case));
  const results = {
    ...{ format: 1, experiment: name, question, about, date: date.toISOString(), size, seed },
    ...{ seconds, effect, partial, refusal, host, versions, load, pinned, arms, cases },
    metrics: experiment.metrics.map(({ of, better = null, ...metric }) => ({ ...metric, better })),
    figures,
    claims: judgeClaims(experiment, figures, refusals, made),
    notes: [
      ...(refusal
        ? []
        : [...refusals.values()].map(({ why, advice }) => `Refused: ${why}. ${advice}.`)),
      ...figures.filter(({ bias }) => bias !== null).map((each) => biasNote(each, effect)),
      ...repeated(gathered.rounds.length - counted.length),
      ...inParts(gathered.parts),
      ...notesOf(counted),
    ],
    runs: gathered.rounds.flatMap(({ runs, discarded }) =>
      runs.map((run) => sampleOf(name, run, discarded)),
    ),
  };
  if (!experiment.notes || refusal) return results;
  try {
    results.notes.push(...ask('notes', () => experiment.notes(results)));
  } catch (error) {
    throw Object.assign(error, { results });
  }
  return results;
}

const mistaken = (error) =>
  error === undefined
    ? null
    : `ended by a failure (${error.message}); later rounds were not judged`;

function repeated(count) {
  if (count === 0) return [];
  const rounds = count === 1 ? '1 round was' : `${count} rounds were`;
  return [`${rounds} made again, as the load generator was late or the limit.`];
}

function inParts(parts = []) {
  if (parts.length < 2) return [];
  return [
    `Measured in ${parts.length} parts, begun at ${parts.map((at) => at.slice(0, 16)).join(', ')} UTC.`,
  ];
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
function refusalsOf(rounds) {
  const refusals = new Map();
  for (const { case: label, runs } of rounds) {
    const refusal = refusals.has(label) ? null : refusalIn(runs);
    if (refusal) refusals.set(label, refusal);
  }
  return refusals;
}

function refusalIn(runs) {
  const refusal = runs.find((run) => run.refusal)?.refusal;
  if (refusal) return refusal;
  return runs.some(({ role }) => role === 'control') ? refusalOfRound(runs) : null;
}

function figuresOf(experiment, rounds, { cases, arms, twinEvery, effect }) {
  const { metrics } = experiment;
  const treatments = arms.filter(({ role }) => role === 'treatment').map(({ arm }) => arm);
  const isTold = (run) => run.metrics?.[experiment.name] !== undefined;
  const whole = rounds.filter(
    ({ runs, round }) =>
      runs.length === armsOfRound(arms, twinEvery, round).length && runs.every(isTold),
  );
  return cases.flatMap((label) => {
    const at = experiment.cases.find((each) => each.label === label);
    const ofCase = whole.filter((round) => round.case === label);
    // A case that was never reached has no figure.
    if (ofCase.length === 0) return [];
    const twinned = ofCase.filter(({ runs }) => runs.some(({ role }) => role === 'twin'));
    return treatments.flatMap(({ name }) => {
      const values = {
        control: ofCase.map((round) => metricsOf(round, 'control')),
        twin: twinned.map((round) => metricsOf(round, 'twin')),
        treatment: ofCase.map((round) => metricsOf(round, 'treatment', name)),
        besideTwin: twinned.map((round) => metricsOf(round, 'control')),
      };
      const isOnly = treatments.length === 1;
      const found = metrics.map((metric) =>
        figure(metric, at, name, valuesFor(metric, values), { effect, isOnly }),
      );
      return findings(found, effect, askedFor(experiment));
    });
  });

  function metricsOf({ runs }, role, name) {
    const run = runs.find((each) => each.role === role && (name ?? each.arm) === each.arm);
    return run.metrics[experiment.name];
  }
}

const valuesFor = ({ name }, values) =>
  Object.fromEntries(
    Object.entries(values).map(([role, runs]) => [role, runs.map((each) => each[name])]),
  );
