/**
 * Judgement: from gathered rounds to results, with figures, claims and notes. Pure: the same rounds give the same results, so that saved runs can
 * be judged again, with another effect sought.
 *
 * The interval decides on a claim, not p: it is met when the whole interval reaches what was claimed, refuted when the whole interval
 * excludes any gain, and open in between.
 */

import { pairedShift } from '../stats/index.js';
import {
  askedFor,
  biasNote,
  figure,
  findings,
  LEAST_ROUNDS,
  ratioSpread,
  roundsForRatio,
} from './figure.js';
import { ask } from './form.js';
import { armsOf, armsOfRound, nameOf, twinEveryAt } from './plan.js';
import { sampleOf } from './record.js';
import { refusalOfRound } from './refusal.js';

/** Smallest difference worth finding, by default: 5 %. */
const EFFECT = 1.05;

/**
 * Judges the runs of an experiment. Pure: the same runs give the same results, and an experiment that shares
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
 * @property {import('./plan.js').Size} size
 * @property {number} seed of the order of the arms
 * @property {number} seconds that it took
 * @property {number} effect sought
 * @property {string | null} partial why there are less rounds than wanted
 * @property {import('./refusal.js').Refusal | null} refusal why nothing counts: every case was refused, and there is
 *   no figure; a case that was refused among others is told in `notes` and by its claims
 * @property {ReturnType<typeof import('./host.js').hostRecord>} host
 * @property {import('./gather.js').Gathered['versions']} versions
 * @property {import('./gather.js').Gathered['load']} load
 * @property {boolean} pinned whether server and load had a core each
 * @property {import('./gather.js').Gathered['arms']} arms
 * @property {string[]} cases labels
 * @property {{ name: string, title: string, unit: string, better: 'higher' | 'lower' | null }[]} metrics
 * @property {import('./figure.js').Figure[]} figures by case, arm, metric; of whole rounds
 * @property {Judged[]} claims
 * @property {string[]} notes
 * @property {import('./record.js').Sample[]} runs in the order in which they were made, all of them
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

/** Lists the events of runs, each once, with its count. */
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
    const families = treatments.map(({ name }) => {
      const values = {
        control: ofCase.map((round) => metricsOf(round, 'control')),
        twin: twinned.map((round) => metricsOf(round, 'twin')),
        treatment: ofCase.map((round) => metricsOf(round, 'treatment', name)),
        besideTwin: twinned.map((round) => metricsOf(round, 'control')),
      };
      const isOnly = treatments.length === 1;
      return metrics.map((metric) =>
        figure(metric, at, name, valuesFor(metric, values), { effect, isOnly }),
      );
    });
    const corrected = experiment.family === 'arms' ? [families.flat()] : families;
    return corrected.flatMap((family) => findings(family, effect, askedFor(experiment)));
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

/** A gain smaller than this is none. */
const NO_GAIN = 1.05;

/** The least level of an interval by which a claim is judged. */
const LEVEL = 0.95;

/**
 * The claims of an experiment, each at each of its cases and for each of its treatments. The interval decides:
 *
 * - `met`: all of it is at or above what was claimed
 * - `refuted`: a gain was claimed (5 % or more), and all of it is below a gain of 5 %
 * - `not met`: all of it is below what was claimed
 * - `open`: what was claimed lies within it, or it is no interval of 95 %; `why` says how many rounds would decide
 * - `refused`: the figure, or the whole case, does not count
 * - `no difference`: there was nothing in either arm, in all rounds: nothing to be better at
 * - `not measured`: its case was not run, a run could not tell, or values are below 0 and have no ratio
 *
 * Where a value is 0 there is no ratio. Then the differences decide: by how much the worse arm is more than so many
 * times the other, round by round. 1000 against 0 meets any claim, 0 against 1000 none.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./figure.js').Figure[]} figures of the cases that were measured
 * @param {Map<string, import('./refusal.js').Refusal>} refusals by case
 * @param {{ cases?: string[], arms?: string[] }} [made] what was to be measured; default: all. Of a claim that has one of
 *   them the others, which a run of a smaller size leaves out, are not told
 * @returns {Judged[]}
 *
 * @typedef {'met' | 'not met' | 'refuted' | 'open' | 'no difference' | 'refused' | 'not measured'} Verdict
 *
 * @typedef {object} Judged
 * @property {string} text
 * @property {string} source
 * @property {string} metric
 * @property {string} case
 * @property {string} arm the treatment's name
 * @property {number} atLeast
 * @property {Verdict} verdict
 * @property {string | null} why it is open, no difference, refused or not measured
 * @property {number | null} ahead
 * @property {number | null} lo
 * @property {number | null} hi
 * @property {number | null} n rounds
 * @property {number | null} p
 * @property {number | null} pHolm corrected over its family, see `findings`
 * @property {string | null} says what the outcome means, in the words of the experiment
 */
function judgeClaims({ claims, cases, treatments }, figures, refusals, made = {}) {
  const labels = cases.map(({ label }) => label);
  const names = treatments.map(({ name }) => name);
  const isMade = (place) =>
    (made.cases ?? labels).includes(place.case) && (made.arms ?? names).includes(place.arm);
  return claims.flatMap((claim) => {
    const { text, source, metric, atLeast, says = {} } = claim;
    const asked = planned(claim.cases ?? labels, made.cases);
    const arms = planned(claim.arms ?? names, made.arms);
    const places = asked.flatMap((label) => arms.map((arm) => ({ case: label, arm })));
    return places.map((place) => {
      const figure = figures.find(
        (each) => each.metric === metric && each.case === place.case && each.arm === place.arm,
      );
      const refusal = refusals.get(place.case);
      const { verdict, why } = refusal
        ? { verdict: 'refused', why: refusal.why }
        : isMade(place)
          ? verdictOf(figure, atLeast)
          : { verdict: 'not measured', why: 'only in a run of a larger size' };
      const { ahead = null, lo = null, hi = null, n = null, p = null, pHolm = null } = figure ?? {};
      const measured = { ahead, lo, hi, n, p, pHolm };
      const named = { text, source, metric, ...place, atLeast };
      return { ...named, verdict, why, ...measured, says: says[verdict] ?? null };
    });
  });
}

/** Returns the metrics of a claim that were to be measured; all of them when none was. */
function planned(asked, made = asked) {
  const found = asked.filter((name) => made.includes(name));
  return found.length > 0 ? found : asked;
}

/**
 * @param {import('./figure.js').Figure | undefined} figure
 * @param {number} atLeast how many times better the treatment is said to be
 * @returns {{ verdict: Verdict, why: string | null }}
 */
export function verdictOf(figure, atLeast) {
  if (figure === undefined) return { verdict: 'not measured', why: 'this case was not run' };
  const { ahead, lo, hi, level, n, refused } = figure;
  if (refused !== null) return { verdict: 'refused', why: refused };
  if (level === null) {
    return { verdict: 'not measured', why: figure.why ?? 'a run could not tell' };
  }
  const all = [...figure.values.control, ...figure.values.treatment];
  if (ahead === null && all.some((value) => value < 0)) {
    return { verdict: 'not measured', why: 'there is no ratio: a value is below 0' };
  }
  if (level < LEVEL) {
    const few = n === 1 ? '1 round gives' : `${n} rounds give`;
    return { verdict: 'open', why: `${few} no interval of 95 %; ${LEAST_ROUNDS} are the least` };
  }
  if (all.every((value) => value === 0)) return { verdict: 'no difference', why: NOTHING };
  if (ahead === null) return { verdict: verdictOfZeros(figure, atLeast), why: ZEROS };
  if (lo >= atLeast) return { verdict: 'met', why: null };
  if (atLeast >= NO_GAIN && hi < NO_GAIN) return { verdict: 'refuted', why: null };
  if (hi < atLeast) return { verdict: 'not met', why: null };
  return { verdict: 'open', why: whyOpen(figure, atLeast) };
}

const ZEROS = 'a value is 0: judged by the differences of the rounds';

const NOTHING = 'none in either arm at this load';

/** For amounts more ÷ less >= ratio is more - ratio · less >= 0, which zeros do not harm. */
function verdictOfZeros({ better, values: { control, treatment } }, atLeast) {
  const [less, more] = better === 'higher' ? [control, treatment] : [treatment, control];
  const beyond = (ratio) =>
    pairedShift(
      less.map((value) => value * ratio),
      more,
    );
  const { lo, hi } = beyond(atLeast);
  if (lo > 0) return 'met';
  if (atLeast >= NO_GAIN && beyond(NO_GAIN).hi < 0) return 'refuted';
  return hi < 0 ? 'not met' : 'open';
}

/** Reason of an open verdict, by the distance from the measured ratio to the claimed one. */
function whyOpen({ ahead, n, values: { control, treatment } }, atLeast) {
  const rounds = roundsForRatio(ratioSpread(control, treatment), ahead / atLeast);
  if (rounds === null || rounds > 10_000)
    return 'what was measured is what was claimed, as near as can be told';
  return `needs about ${Math.max(rounds, n + 1).toLocaleString('en-US')} rounds`;
}
