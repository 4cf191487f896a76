/**
 * The form of an experiment: one question, a control, one treatment or more; one ES module.
 *
 * @typedef {object} Experiment
 * @property {string} name of its file
 * @property {string} question
 * @property {string} [about] what a reader has to know before the figures
 * @property {Claim[]} claims what somebody has said the answer is (export `claim`: one, a list, or none)
 * @property {Arm} control without the feature
 * @property {Arm[]} treatments with it (export `treatment`: one, or a list), each compared with the control
 * @property {Load} load what all arms are asked for
 * @property {Case[]} cases the same question at several sizes; one without a label by default
 * @property {Metric[]} metrics the first that has a `better` is the main one: without a claim it is what is asked for, and
 *   tested alone; with claims those that they name are. All others are corrected for how many there are
 * @property {Record<import('./plan.js').Size, number>} rounds of all arms, for each case; default 6, 10 and 50. With less than 6
 *   nothing can be shown: there is no p of 0.05
 * @property {Partial<Record<import('./plan.js').Size, number>>} twinEvery the control is measured against itself in every so many
 *   rounds, from 1 to 10; default 1. More make a long experiment shorter: at least six rounds must be left that have it
 * @property {'metrics' | 'arms'} family what p is corrected for: the number of metrics of each treatment by itself (default), or that of
 *   metrics times treatments, where the best of several treatments is looked for
 * @property {string | null} sameRunsAs name of another experiment: its runs answer this question too, so that this
 *   file has no control, treatment, load, cases and rounds of its own
 * @property {(results: import('./judge.js').Results) => string[]} [notes] remarks that need the figures
 *
 * @typedef {object} Arm
 * @property {string} name
 * @property {string[] | ((params: Params) => string[])} command of its server, as `startServer` takes it
 * @property {Record<string, string> | ((params: Params) => Record<string, string>)} [env] added to the environment
 * @property {RegExp} [ready] see `startServer`
 * @property {string} [health] see `startServer`
 * @property {string} [url] where it listens, when it does not say so itself; it is up when `health` answers there, or
 *   for ws:// when the port accepts
 * @property {Record<string, string>} [routes] paths that this arm serves under another one, which may
 *   have parameters of its own
 * @property {string} [stats] path of JSON that is read after the load, for `run.stats`
 * @property {RegExp} [proof] looked for in each line that its server writes, for `run.proof`
 * @property {import('./plan.js').Size} [from] of a treatment: the smallest size at which it is measured, default quick
 * @property {(run: import('./measure.js').Run) => boolean} isOn whether the feature was seen at work; it must be
 *   in each run of the treatment and in none of the control
 * @property {(run: import('./measure.js').Run) => string | null} [isIdle] of a treatment: why the feature had nothing to act on, or null. Such a
 *   first round ends the experiment
 *
 * @typedef {object} Load with what its kind needs, see loads/
 * @property {keyof typeof import('./loads/index.js').loads} kind
 * @property {number} [timeoutS] for the last answer after the last request is due, 1 to 3600, default 600
 * @property {boolean} [pin] whether the server has one core and the load another, where there are two; default true, but
 *   for programs; false for a server that works on several threads
 * @property {number | ((params: Params) => number)} [takes] seconds that a run is expected to take where its load does not tell, as that of a
 *   program or of long requests: for the plan alone
 * @property {boolean} [mayCrash] a server that ends during the load is a result (`run.crash`), and no failure
 *
 * @typedef {object} Case with whatever else the load wants to know
 * @property {string} label
 * @property {import('./plan.js').Size} [from] the smallest size at which it is measured, default quick
 * @property {number} [rounds] the most that are made of it, whatever the size: of one that takes long
 * @property {Record<string, Record<string, number>>} [paper] what was published: `control` and `treatment`, or the
 *   name of one of several treatments; values by metric
 *
 * @typedef {Case & { size: import('./plan.js').Size, seed: number }} Params what functions of the load and of arms are given: `size`
 *   of the run; `seed` is for what is random in a load, the same for all arms of a round
 *
 * @typedef {object} Metric
 * @property {string} name with its unit at the end: `health_p50_ms`
 * @property {string} title for people
 * @property {string} unit
 * @property {'higher' | 'lower'} [better] leave it out where neither is
 * @property {(run: import('./measure.js').Run) => number | null} of null where a run cannot tell
 *
 * @typedef {object} Claim
 * @property {string} text
 * @property {string} source
 * @property {string} metric its name
 * @property {string[]} [cases] labels where it is said to hold; default: all
 * @property {string[]} [arms] names of the treatments it speaks of; default: all
 * @property {number} atLeast how many times better the treatment is said to be
 * @property {Partial<Record<import('./judge.js').Verdict, string>>} [says] what an outcome means
 */
import { LabError } from '../load/errors.js';
import { allowedAre, among, check, conform, either, is, isObject, show, unique } from './form.js';
import { loads } from './loads/index.js';
import { isMeasuredAt, sizeRule } from './plan.js';

const ROUNDS = { quick: 6, medium: 10, paper: 50 };
const TIMEOUT_S = 600;

/** Keys of an experiment that answers its question by runs of its own. */
const ofItsOwn = {
  control: is.object,
  treatment: is.objects,
  load: is.object,
  'cases?': is.list,
  'rounds?': is.object,
  'twinEvery?': is.object,
};

const asks = {
  question: is.text,
  'about?': is.text,
  'claim?': is.anything,
  metrics: is.list,
  'family?': is.family,
  'notes?': is.function,
};

const forms = {
  arm: {
    name: is.text,
    command: either(is.strings, is.function),
    'env?': either(is.texts, is.function),
    'ready?': is.pattern,
    'health?': is.path,
    'url?': is.url,
    'routes?': is.texts,
    'stats?': is.path,
    'proof?': is.pattern,
    'from?': sizeRule,
    isOn: is.function,
    'isIdle?': is.function,
  },
  metric: {
    name: is.text,
    title: is.text,
    unit: is.string,
    'better?': is.better,
    of: is.function,
  },
  claim: {
    text: is.text,
    source: is.text,
    metric: is.text,
    'cases?': is.strings,
    'arms?': is.strings,
    atLeast: is.positive,
    'says?': is.texts,
  },
  rounds: { 'quick?': is.count, 'medium?': is.count, 'paper?': is.count },
  twinEvery: { 'quick?': is.everyFew, 'medium?': is.everyFew, 'paper?': is.everyFew },
};

/**
 * Checks the module of an experiment and fills in the defaults.
 *
 * @param {Record<string, unknown>} module what the file exports
 * @param {string} name of the file, for messages
 * @param {Experiment} [base] the experiment that `sameRunsAs` names
 * @returns {Experiment}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` naming file, key, value and what is allowed; its `key` is the path
 *   of the key
 */
export function readExperiment(module, name, base) {
  const fail = (message, key = '') => {
    const error = new LabError('MILLRACE_LAB_E_EXPERIMENT', `experiment ${name}: ${message}`);
    throw Object.assign(error, { key });
  };
  const isShared = module.sameRunsAs !== undefined;
  conform(module, isShared ? { sameRunsAs: is.text, ...asks } : { ...asks, ...ofItsOwn }, '', fail);
  if (isShared && base === undefined) {
    fail(`sameRunsAs is ${show(module.sameRunsAs)}, which is not there`, 'sameRunsAs');
  }
  const runs = isShared ? runsOf(base) : ownRuns(module, fail);
  const { question, about, metrics, family = 'metrics', notes } = module;
  checkMetrics(metrics, fail);
  const claims = [module.claim ?? []].flat();
  claims.forEach((claim, i) => {
    checkClaim(claim, `claim[${i}]`, { ...runs, metrics }, fail);
  });
  const sameRunsAs = isShared ? base.name : null;
  return { ...{ name, question, about, claims, ...runs, metrics, family, notes, sameRunsAs } };
}

const runsOf = ({ control, treatments, load, cases, rounds, twinEvery }) => ({
  ...{ control, treatments, load, cases, rounds, twinEvery },
});

const isQuick = (what) => isMeasuredAt('quick', what);

function ownRuns(module, fail) {
  const { control, load, cases = [{ label: '' }], rounds = {}, twinEvery = {} } = module;
  const treatments = [module.treatment].flat();
  conform(control, forms.arm, 'control', fail);
  treatments.forEach((arm, i) => {
    conform(arm, forms.arm, treatments.length > 1 ? `treatment[${i}]` : 'treatment', fail);
  });
  checkLoad(load, fail);
  conform(rounds, forms.rounds, 'rounds', fail);
  conform(twinEvery, forms.twinEvery, 'twinEvery', fail);
  cases.forEach((each, i) => {
    checkCase(each, `cases[${i}]`, module.cases !== undefined, fail);
  });
  unique('cases', cases, 'label', fail);
  if (!cases.some(isQuick)) fail('no case is quick; at least one must be');
  if (!isQuick(control)) {
    fail(`control.from is ${show(control.from)}; every run has the control`, 'control.from');
  }
  if (!treatments.some(isQuick)) {
    fail('no treatment is quick; at least one must be', 'treatment.from');
  }
  const names = [control, ...treatments].map((arm) => arm.name);
  const twice = names.find((each, i) => names.indexOf(each) !== i);
  if (twice !== undefined) {
    fail(`two arms have the name ${show(twice)}; each must have its own`, 'treatment.name');
  }
  return {
    control,
    treatments,
    load: { timeoutS: TIMEOUT_S, ...load },
    cases,
    rounds: { ...ROUNDS, ...rounds },
    twinEvery,
  };
}

function checkLoad(load, fail) {
  if (!Object.hasOwn(loads, load.kind ?? '')) {
    fail(
      `load.kind is ${show(load.kind)}${allowedAre(load.kind, Object.keys(loads))}`,
      'load.kind',
    );
  }
  const form = {
    kind: is.text,
    'timeoutS?': is.seconds,
    'mayCrash?': is.flag,
    'pin?': is.flag,
    'takes?': either(is.positive, is.function),
    ...loads[load.kind].form,
  };
  conform(load, form, 'load', fail);
}

/** A case may hold anything else: it is for the load of the same file. */
function checkCase(value, path, isNamed, fail) {
  if (!isObject(value)) fail(`${path} is ${show(value)}; it must be an object`, path);
  if (isNamed) check(value.label, is.text, `${path}.label`, fail);
  for (const [key, rule] of Object.entries({
    from: sizeRule,
    rounds: is.count,
    paper: is.object,
  })) {
    if (value[key] !== undefined) check(value[key], rule, `${path}.${key}`, fail);
  }
}

function checkMetrics(metrics, fail) {
  metrics.forEach((metric, i) => {
    conform(metric, forms.metric, `metrics[${i}]`, fail);
  });
  unique('metrics', metrics, 'name', fail);
}

function checkClaim(claim, path, { metrics, cases, treatments }, fail) {
  conform(claim, forms.claim, path, fail);
  const names = metrics.map(({ name }) => name);
  const labels = cases.map(({ label }) => label);
  const arms = treatments.map(({ name }) => name);
  among(`${path}.metric`, claim.metric, names, fail);
  for (const label of claim.cases ?? []) among(`${path}.cases`, label, labels, fail);
  for (const arm of claim.arms ?? []) among(`${path}.arms`, arm, arms, fail);
  if (metrics[names.indexOf(claim.metric)].better === undefined) {
    const key = `${path}.metric`;
    fail(`${key} is ${show(claim.metric)}, which does not say what is better`, key);
  }
}
