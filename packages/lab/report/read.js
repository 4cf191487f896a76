/** Results from a file, checked: whatever else a file holds is refused with its place. */
import { readFileSync } from 'node:fs';
import { LabError } from '../load/errors.js';

const isText = (value) => typeof value === 'string';
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isValue = (value) => value === null || Number.isFinite(value);
const optional = ([allowed, test]) => [
  `${allowed} or nothing`,
  (value) => value === null || value === undefined || test(value),
];

const is = {
  text: ['a text', isText],
  texts: ['a list of texts', (value) => Array.isArray(value) && value.every(isText)],
  number: ['a number or null', (value) => value === undefined || isValue(value)],
  numbers: ['a list of numbers and null', (value) => Array.isArray(value) && value.every(isValue)],
  object: ['an object', isObject],
  list: ['a list of objects', (value) => Array.isArray(value) && value.every(isObject)],
};

const ROLES = ['control', 'twin', 'treatment'];
const role = [ROLES.join(', '), (value) => ROLES.includes(value)];
const numbers = (...names) => Object.fromEntries(names.map((name) => [name, is.number]));

const forms = {
  results: {
    ...{ experiment: is.text, question: is.text, date: is.text, partial: optional(is.text) },
    ...{ refusal: optional(is.object), host: optional(is.object), versions: optional(is.object) },
    load: optional(is.object),
    ...{ arms: is.list, cases: is.texts, metrics: is.list, figures: is.list, claims: is.list },
    ...{ notes: is.texts, runs: is.list, about: optional(is.text), seconds: is.number },
  },
  refusal: { why: is.text, advice: is.text },
  arms: { name: is.text, role },
  metrics: { name: is.text, title: is.text, unit: is.text },
  figures: {
    ...{ case: is.text, arm: is.text, metric: is.text, title: is.text, unit: is.text },
    ...{
      values: is.object,
      finding: is.text,
      refused: optional(is.text),
      spread: optional(is.object),
    },
    ...{ shift: optional(is.object), twin: optional(is.object), paper: optional(is.object) },
    ...numbers('n', 'control', 'treatment', 'ahead', 'lo', 'hi', 'level', 'p', 'pHolm', 'pRankSum'),
    ...numbers('delta', 'smallest', 'roundsFor', 'bias'),
  },
  values: { control: is.numbers, twin: optional(is.numbers), treatment: is.numbers },
  claims: {
    ...{ text: is.text, source: is.text, metric: is.text, case: is.text, verdict: is.text },
    ...{ arm: optional(is.text), why: optional(is.text), says: optional(is.text) },
    ...numbers('atLeast', 'ahead', 'lo', 'hi', 'n', 'p'),
  },
  runs: { case: is.text, arm: is.text, role, metrics: is.object, costs: optional(is.object) },
};

/**
 * Reads the results of an experiment.
 *
 * @param {string} path of the file that the experiment has left
 * @returns {object} results
 * @throws {LabError} `MILLRACE_LAB_E_REPORT` when it cannot be read, is not JSON, or has no results: with the place
 */
export function readResults(path) {
  return checkResults(parsed(path, contents(path)), path);
}

function contents(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new LabError('MILLRACE_LAB_E_REPORT', `${path} cannot be read: ${error.message}`);
  }
}

function parsed(path, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LabError('MILLRACE_LAB_E_REPORT', `${path} is not valid JSON: ${error.message}`);
  }
}

/**
 * Checks what is said to be results.
 *
 * @param {unknown} value
 * @param {string} path for messages
 * @returns {object} the same
 * @throws {LabError} `MILLRACE_LAB_E_REPORT`
 */
export function checkResults(value, path) {
  const fail = (place, found, allowed) => {
    const what = `${place} is ${shown(found)}; it must be ${allowed}`;
    throw new LabError(
      'MILLRACE_LAB_E_REPORT',
      `${path} holds no results of an experiment: ${what}`,
    );
  };
  const conform = (item, form, place) => {
    for (const [key, [allowed, test]] of Object.entries(forms[form])) {
      if (!test(item[key])) fail(`${place}${key}`, item[key], allowed);
    }
  };
  if (!isObject(value)) fail('it', value, 'an object');
  if (value.format !== 1) fail('format', value.format, '1');
  conform(value, 'results', '');
  if (value.refusal) conform(value.refusal, 'refusal', 'refusal.');
  for (const list of ['arms', 'metrics', 'figures', 'claims', 'runs']) {
    value[list].forEach((item, i) => {
      conform(item, list, `${list}[${i}].`);
    });
  }
  value.figures.forEach(({ values }, i) => {
    conform(values, 'values', `figures[${i}].values.`);
  });
  return value;
}

function shown(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
