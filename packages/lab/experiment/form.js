/**
 * Experiments as people write them. An object is checked against a form: a rule for each key, `?` at the end of a key that may be left
 * out. A rule is what is allowed, in words, and a test. A function is called by `ask`, whose errors name file and line.
 *
 * @typedef {[allowed: string, test: (value: unknown) => boolean]} Rule
 * @typedef {Record<string, Rule>} Form
 * @typedef {(message: string, key?: string) => never} Fail told what is wrong, and the key where it is
 */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';
import { nearest } from '@millrace/base/schema';
import { LabError } from '../load/errors.js';
import { isLocalPath, whyNotLocal } from '../load/loopback.js';

/** The usual rules. */
export const is = {
  text: ['a text', (value) => isString(value) && value.trim() !== ''],
  string: ['a text, which may be empty', isString],
  function: ['a function', (value) => typeof value === 'function'],
  strings: ['a list of texts', (value) => isList(value) && value.every((each) => is.text[1](each))],
  texts: ['an object of texts', (value) => isObject(value) && Object.values(value).every(isString)],
  pattern: ['a regular expression', (value) => types.isRegExp(value)],
  flag: ['true or false', (value) => typeof value === 'boolean'],
  object: ['an object', isObject],
  list: ['a list that is not empty', isList],
  objects: ['an object, or a list of them', (value) => isObject(value) || isList(value)],
  anything: ['', () => true],
  count: ['a whole number from 1 to 1000', (value) => inRange(value, 1, 1000) && value % 1 === 0],
  everyFew: ['a whole number from 1 to 10', (value) => inRange(value, 1, 10) && value % 1 === 0],
  seconds: ['a number from 1 to 3600', (value) => inRange(value, 1, 3600)],
  positive: ['a number above 0', (value) => Number.isFinite(value) && value > 0],
  family: ["'metrics' or 'arms'", (value) => value === 'metrics' || value === 'arms'],
  better: ["'higher' or 'lower'", (value) => value === 'higher' || value === 'lower'],
  url: [
    'an address of this machine (127.0.0.0/8, localhost or [::1]) without a user, as http://127.0.0.1:3000 or ws://…',
    isAddress,
  ],
  path: ["a path that begins with one '/'", isLocalPath],
};

/**
 * A rule that any of several satisfies.
 *
 * @param {...Rule} rules
 * @returns {Rule}
 */
export const either = (...rules) => [
  rules.map(([allowed]) => allowed).join(', or '),
  (value) => rules.some(([, test]) => test(value)),
];

/**
 * @param {unknown} value
 * @param {Form} form
 * @param {string} path of the value, empty for the whole module
 * @param {Fail} fail
 */
export function conform(value, form, path, fail) {
  if (!isObject(value)) fail(`${path} is ${show(value)}; it must be an object`, path);
  const prefix = path === '' ? '' : `${path}.`;
  const keys = Object.keys(form).map((key) => key.replace('?', ''));
  for (const key of Object.keys(value)) {
    if (keys.includes(key)) continue;
    fail(`the key ${show(prefix + key)} is not known${allowedAre(key, keys)}`, prefix + key);
  }
  for (const [marked, rule] of Object.entries(form)) {
    const key = marked.replace('?', '');
    if (value[key] !== undefined) check(value[key], rule, prefix + key, fail);
    else if (key === marked) fail(`${prefix}${key} is missing; it must be ${rule[0]}`, path);
  }
}

/** @param {Rule} rule */
export function check(value, [allowed, test], path, fail) {
  if (!test(value)) fail(`${path} is ${show(value)}; it must be ${allowed}`, path);
}

/** Refuses two items of the same name. */
export function unique(what, items, key, fail) {
  const names = items.map((item) => item[key]);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) fail(`${what} has ${show(twice)} twice`, what);
}

/** Refuses what is not one of the names. */
export function among(path, value, allowed, fail) {
  if (allowed.includes(value)) return;
  fail(`${path} is ${show(value)}${allowedAre(value, allowed)}`, path);
}

/** Writes a value as in source, for messages. */
export function show(value) {
  if (typeof value === 'function') return 'a function';
  return types.isRegExp(value) ? `${value}` : (JSON.stringify(value) ?? `${value}`);
}

/**
 * The end of a message: what was probably meant, and all that is allowed.
 *
 * @param {unknown} value
 * @param {string[]} allowed
 */
export function allowedAre(value, allowed) {
  const near = isString(value) ? nearest(value, allowed) : undefined;
  const meant = near === undefined ? '' : ` (did you mean ${show(near)}?)`;
  return `${meant}; allowed are ${allowed.map(show).join(', ')}`;
}

export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value) {
  return Array.isArray(value) && value.length > 0;
}

function isString(value) {
  return typeof value === 'string';
}

/** Of this machine, as all that is ever loaded; `{port}` stands for any number. */
function isAddress(value) {
  return isString(value) && whyNotLocal(value.replaceAll('{port}', '1'), ['http:', 'ws:']) === null;
}

function inRange(value, least, most) {
  return typeof value === 'number' && value >= least && value <= most;
}

/**
 * Calls a function of an experiment's file.
 *
 * @template Result
 * @param {string} what it is, for the message
 * @param {() => Result} call
 * @returns {Result}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when it throws; with file and line, where these are known
 */
export function ask(what, call) {
  try {
    return call();
  } catch (error) {
    throw new LabError(
      'MILLRACE_LAB_E_EXPERIMENT',
      `${what} of the experiment failed: ${error?.message ?? error}${placeOf(error)}`,
    );
  }
}

/** Place where it was thrown, for the end of a message. */
function placeOf(error) {
  const [, url, line] = /(file:\/\/[^\s)]+?):(\d+):\d+/.exec(error?.stack ?? '') ?? [];
  return url === undefined ? '' : ` (${relative('', fileURLToPath(url))}:${line})`;
}
