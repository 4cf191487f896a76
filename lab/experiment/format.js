/**
 * The form of an experiment: one question, two arms, one ES module.
 *
 * @typedef {object} Experiment
 * @property {string} name of its file
 * @property {string} question
 * @property {string} [about] what a reader has to know before the figures
 * @property {Claim[]} claims what somebody has said the answer is (export `claim`: one, a list, or none)
 * @property {Arm} control without the feature
 * @property {Arm} treatment with it
 * @property {Load} load what both arms are asked for
 * @property {Case[]} cases the same question at several sizes; one without a label by default
 * @property {Metric[]} metrics
 * @property {{ full: number, quick: number }} rounds of both arms, for each case; default 5 and 2
 * @property {(results: import('./run.js').Results) => string[]} [notes] remarks that need the figures
 *
 * @typedef {object} Arm
 * @property {string} name
 * @property {string[]} command of its server, as `startServer` takes it
 * @property {Record<string, string>} [env] added to the environment
 * @property {RegExp} [ready] see `startServer`
 * @property {string} [health] see `startServer`
 * @property {Record<string, string>} [routes] paths that this arm serves under another one, which may
 *   have parameters of its own
 * @property {(run: import('./measure.js').Run) => boolean} isOn whether the feature was seen at work; it must be
 *   in each run of the treatment and in none of the control
 *
 * @typedef {object} Load
 * @property {keyof typeof import('./loads/index.js').loads} kind
 * @property {(params: Case & { quick: boolean }) => object[]} requests see the kind
 * @property {(params: Case & { quick: boolean }) => object[]} [warmup] requests before them, in no figure
 * @property {number} [timeoutS] for the last answer after the last request is due, 1 to 3600, default 600
 *
 * @typedef {object} Case with whatever else the load wants to know
 * @property {string} label
 * @property {boolean} [quick] whether it is in quick runs too, default true
 * @property {Record<'control' | 'treatment', Record<string, number>>} [paper] what was published, by metric
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
 * @property {number} atLeast how many times better the treatment is said to be
 * @property {Partial<Record<'met' | 'not met' | 'refuted' | 'open', string>>} [says] what an outcome means
 */
import { LabError } from '../load/errors.js';
import { loads } from './loads/index.js';

const ROUNDS = { full: 5, quick: 2 };
const TIMEOUT_S = 600;

const is = {
  text: ['a text', (value) => typeof value === 'string' && value.trim() !== ''],
  string: ['a text, which may be empty', isString],
  function: ['a function', (value) => typeof value === 'function'],
  strings: ['a list of texts', (value) => isList(value) && value.every((each) => is.text[1](each))],
  texts: ['an object of texts', (value) => isObject(value) && Object.values(value).every(isString)],
  pattern: ['a regular expression', (value) => value instanceof RegExp],
  flag: ['true or false', (value) => typeof value === 'boolean'],
  object: ['an object', isObject],
  list: ['a list that is not empty', isList],
  anything: ['', () => true],
  count: ['a whole number from 1 to 1000', (value) => inRange(value, 1, 1000) && value % 1 === 0],
  seconds: ['a number from 1 to 3600', (value) => inRange(value, 1, 3600)],
  positive: ['a number above 0', (value) => Number.isFinite(value) && value > 0],
  better: ["'higher' or 'lower'", (value) => value === 'higher' || value === 'lower'],
  kind: [
    Object.keys(loads).join(' or '),
    (value) => isString(value) && Object.hasOwn(loads, value),
  ],
};

/** Keys by what they belong to; `?` marks one that may be left out. */
const forms = {
  experiment: {
    question: is.text,
    'about?': is.text,
    'claim?': is.anything,
    control: is.object,
    treatment: is.object,
    load: is.object,
    metrics: is.list,
    'cases?': is.list,
    'rounds?': is.object,
    'notes?': is.function,
  },
  arm: {
    name: is.text,
    command: is.strings,
    'env?': is.texts,
    'ready?': is.pattern,
    'health?': is.text,
    'routes?': is.texts,
    isOn: is.function,
  },
  load: { kind: is.kind, requests: is.function, 'warmup?': is.function, 'timeoutS?': is.seconds },
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
    atLeast: is.positive,
    'says?': is.texts,
  },
  rounds: { full: is.count, quick: is.count },
};

/**
 * Checks the module of an experiment and fills in the defaults.
 *
 * @param {Record<string, unknown>} module what the file exports
 * @param {string} name of the file, for messages
 * @returns {Experiment}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` naming file, key, value and what is allowed
 */
export function readExperiment(module, name) {
  const fail = (message) => {
    throw new LabError('MILLRACE_LAB_E_EXPERIMENT', `experiment ${name}: ${message}`);
  };
  const conform = (value, form, path) => {
    if (!isObject(value)) fail(`${path} is ${show(value)}; it must be an object`);
    checkKeys(value, forms[form], path === '' ? '' : `${path}.`, fail);
  };
  conform(module, 'experiment', '');
  const { question, about, control, treatment, load, metrics, notes } = module;
  const claims = [module.claim ?? []].flat();
  const cases = module.cases ?? [{ label: '' }];
  const rounds = module.rounds ?? ROUNDS;
  conform(control, 'arm', 'control');
  conform(treatment, 'arm', 'treatment');
  conform(load, 'load', 'load');
  conform(rounds, 'rounds', 'rounds');
  metrics.forEach((metric, i) => {
    conform(metric, 'metric', `metrics[${i}]`);
  });
  cases.forEach((each, i) => {
    checkCase(each, `cases[${i}]`, module.cases !== undefined, fail);
  });
  unique('metrics', metrics, 'name', fail);
  unique('cases', cases, 'label', fail);
  if (!cases.some(({ quick = true }) => quick)) fail('no case is quick; at least one must be');
  if (control.name === treatment.name) fail(`both arms have the name ${show(control.name)}`);

  const metricNames = metrics.map((metric) => metric.name);
  const labels = cases.map(({ label }) => label);
  claims.forEach((claim, i) => {
    conform(claim, 'claim', `claim[${i}]`);
    among(`claim[${i}].metric`, claim.metric, metricNames, fail);
    for (const label of claim.cases ?? []) among(`claim[${i}].cases`, label, labels, fail);
    if (metrics[metricNames.indexOf(claim.metric)].better === undefined) {
      fail(`claim[${i}].metric is ${show(claim.metric)}, which does not say what is better`);
    }
  });
  return {
    ...{ name, question, about, claims, control, treatment, metrics, cases, rounds, notes },
    load: { timeoutS: TIMEOUT_S, ...load },
  };
}

function checkKeys(value, form, prefix, fail) {
  const keys = Object.keys(form).map((key) => key.replace('?', ''));
  for (const key of Object.keys(value)) {
    if (keys.includes(key)) continue;
    fail(`the key ${show(prefix + key)} is not known; allowed are ${keys.map(show).join(', ')}`);
  }
  for (const [marked, [allowed, test]] of Object.entries(form)) {
    const key = marked.replace('?', '');
    if (value[key] === undefined) {
      if (key === marked) fail(`${prefix}${key} is missing; it must be ${allowed}`);
    } else if (!test(value[key])) {
      fail(`${prefix}${key} is ${show(value[key])}; it must be ${allowed}`);
    }
  }
}

/** A case may hold anything else: it is for the load of the same file. */
function checkCase(value, path, isNamed, fail) {
  if (!isObject(value)) fail(`${path} is ${show(value)}; it must be an object`);
  if (isNamed && !is.text[1](value.label)) {
    fail(`${path}.label is ${show(value.label)}; it must be ${is.text[0]}`);
  }
  for (const [key, [allowed, test]] of Object.entries({ quick: is.flag, paper: is.object })) {
    if (value[key] !== undefined && !test(value[key])) {
      fail(`${path}.${key} is ${show(value[key])}; it must be ${allowed}`);
    }
  }
}

function unique(what, items, key, fail) {
  const names = items.map((item) => item[key]);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) fail(`${what} has ${show(twice)} twice`);
}

function among(what, value, allowed, fail) {
  if (allowed.includes(value)) return;
  fail(`${what} is ${show(value)}; allowed are ${allowed.map(show).join(', ')}`);
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value) {
  return Array.isArray(value) && value.length > 0;
}

function isString(value) {
  return typeof value === 'string';
}

function inRange(value, least, most) {
  return typeof value === 'number' && value >= least && value <= most;
}

function show(value) {
  return typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value));
}
