import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { nearest } from '@millrace/base/schema';
import { LabError } from '../load/errors.js';
import { duration } from '../report/numbers.js';
import { readExperiment } from './format.js';
import { leastSecondsOf, stepsOf } from './steps.js';
import { entry } from './text.js';

const FOLDER = fileURLToPath(new URL('../experiments/', import.meta.url));

/** The names of all experiments, in the order of the alphabet; none where the lab is installed as a package. */
export function experimentNames() {
  if (!existsSync(FOLDER)) return [];
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.js'))
    .map((file) => file.slice(0, -'.js'.length))
    .sort();
}

/** A line for each of them: its name, its question, and how many runs it takes. @returns {Promise<string[]>} */
export async function experimentLines() {
  const names = experimentNames();
  const width = Math.max(...names.map(({ length }) => length));
  const line = async (name) => {
    const experiment = await loadExperiment(name);
    const { question, sameRunsAs } = experiment;
    const runs = sameRunsAs === null ? planLine([experiment]) : `the runs of ${sameRunsAs}`;
    return entry(`${name.padEnd(width)}  `, `${question} (${runs})`);
  };
  return Promise.all(names.map(line));
}

/**
 * How many runs experiments take, and how long that is at least.
 *
 * @param {import('./format.js').Experiment[]} experiments
 * @param {{ size?: import('./sizes.js').Size, rounds?: number }} [options]
 * @returns {string} as `1,250 runs, 8 h or more`
 */
export function planLine(experiments, options = {}) {
  const all = (of) => experiments.reduce((sum, each) => sum + of(each, options), 0);
  return `${all(stepsOf).toLocaleString('en-US')} runs, ${duration(all(leastSecondsOf))} or more`;
}

/**
 * Reads an experiment's file, and with it the one whose runs it shares.
 *
 * @param {string} name of one of the project's, or the path of any other, which ends in .js or .mjs
 * @returns {Promise<import('./format.js').Experiment>}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when there is none, or it is mistaken: with file and line, as far as
 *   it can be found
 */
export async function loadExperiment(name) {
  return load(name, []);
}

/** @param {string[]} askedBy names of those that share its runs, the last one asks */
async function load(name, askedBy) {
  const path = pathOf(name);
  const module = await import(pathToFileURL(path).href).catch((error) => {
    throw mistake(`${place(path, lineOfError(error, path))}: ${error.message}`);
  });
  const { sameRunsAs } = module;
  if (typeof sameRunsAs === 'string' && askedBy.includes(sameRunsAs)) {
    throw mistake(`experiment ${name}: sameRunsAs goes in a circle, ${sameRunsAs} asks for it`);
  }
  const base =
    typeof sameRunsAs === 'string' ? await load(sameRunsAs, [...askedBy, name]) : undefined;
  try {
    return readExperiment({ ...module }, basename(path, extname(path)), base);
  } catch (error) {
    if (error.key === undefined) throw error;
    const where = place(path, lineOf(error.key, source(path)));
    throw mistake(error.message.replace(/^experiment .*?: /, `${where}: `));
  }
}

/** As editors know it: `cache.js:10`. */
const place = (path, line) => `${relative('', path)}${line === null ? '' : `:${line}`}`;

/** The file of an experiment. @throws {LabError} as {@link loadExperiment}, when there is none */
export function pathOf(name) {
  if (/\.m?js$/.test(name)) {
    if (existsSync(name)) return resolve(name);
    throw mistake(`there is no file ${name}`);
  }
  const names = experimentNames();
  if (names.includes(name)) return join(FOLDER, `${name}.js`);
  const near = nearest(name, names);
  const hint =
    names.length === 0
      ? 'the lab has none of its own where it is installed as a package; give the path of a file that ends in .js or ' +
        '.mjs, or --control and --treatment'
      : near === undefined
        ? `there are ${names.join(', ')}; a file is named with its .js or .mjs`
        : `did you mean ${near}?`;
  throw mistake(`there is no experiment ${name}; ${hint}`);
}

/** The line of the file where it failed, as far as that can be told. */
function lineOfError({ name, stack = '' }, path) {
  if (name !== 'SyntaxError') {
    const place = stack.split('\n').find((each) => each.includes(pathToFileURL(path).href));
    return /:(\d+):\d+\)?$/.exec(place ?? '')?.[1] ?? null;
  }
  // An error of syntax does not say where it is, but when it is printed.
  const options = { input: source(path), encoding: 'utf8' };
  const check = spawnSync(process.execPath, ['--check', '--input-type=module'], options);
  return /^\[stdin\]:(\d+)$/m.exec(check.stderr)?.[1] ?? null;
}

/**
 * Where a key of an experiment most likely is: each part of its path is looked for from where the part before it was
 * found. null when its first part is nowhere.
 */
function lineOf(key, text) {
  const lines = text.split('\n');
  const parts = key.split('.').map((part) => part.replace(/\[\d+\]$/, ''));
  let found = null;
  for (const part of parts.filter((each) => each !== '')) {
    const isHere = (line) => new RegExp(`\\b${part.replace(/\W/g, '\\$&')}\\b`).test(line);
    const at = lines.findIndex(
      (line, i) => i >= (found ?? 0) && isExport(line, found) && isHere(line),
    );
    if (at === -1) break;
    found = at;
  }
  return found === null ? null : found + 1;
}

/** The first part of a path is exported. */
const isExport = (line, found) => found !== null || /^\s*export\b/.test(line);

const source = (path) => readFileSync(path, 'utf8');

const mistake = (message) => new LabError('MILLRACE_LAB_E_EXPERIMENT', message);
