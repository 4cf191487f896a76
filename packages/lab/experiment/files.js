import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nearest } from '@millrace/base/schema';
import { LabError } from '../load/errors.js';
import { duration } from '../report/numbers.js';
import { readExperiment } from './format.js';
import { leastSecondsOf, stepsOf } from './plan.js';
import { entry } from './progress.js';

const FILE = /\.m?js$/;

/** The names of the experiments in a folder, one per file, in the order of the alphabet. @param {string} folder */
export const experimentNames = (folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.js'))
    .map((file) => basename(file, '.js'))
    .sort();

/** A line for each of them: its name, its question, and how many runs it takes. @param {string} folder @returns {Promise<string[]>} */
export async function experimentLines(folder) {
  const names = experimentNames(folder);
  const width = Math.max(...names.map(({ length }) => length));
  const line = async (name) => {
    const experiment = await loadExperiment(join(folder, `${name}.js`));
    const { question, sameRunsAs } = experiment;
    const runs = sameRunsAs === null ? planLine([experiment]) : `the runs of ${sameRunsAs}`;
    return entry(`${name.padEnd(width)}  `, `${question} (${runs})`);
  };
  return Promise.all(names.map(line));
}

/**
 * Number of runs of experiments, and the least time that they take.
 *
 * @param {import('./format.js').Experiment[]} experiments
 * @param {{ size?: import('./plan.js').Size, rounds?: number }} [options]
 * @returns {string} as `1,250 runs, 8 h or more`
 */
export function planLine(experiments, options = {}) {
  const all = (of) => experiments.reduce((sum, each) => sum + of(each, options), 0);
  return `${all(stepsOf).toLocaleString('en-US')} runs, ${duration(all(leastSecondsOf))} or more`;
}

/**
 * Reads an experiment's file, and with it the one whose runs it shares, which is beside it.
 *
 * @param {string} path ends in .js or .mjs; the experiment is called as the file
 * @returns {Promise<import('./format.js').Experiment>}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when there is none, or it is mistaken: with file and line, as far as
 *   it can be found
 */
export async function loadExperiment(path) {
  return load(pathOf(path), []);
}

/** @param {string[]} askedBy files that share its runs, the last one asks */
async function load(path, askedBy) {
  const module = await import(pathToFileURL(path).href).catch((error) => {
    throw mistake(`${place(path, lineOfError(error, path))}: ${error.message}`);
  });
  const name = basename(path, extname(path));
  const { sameRunsAs } = module;
  let base;
  if (typeof sameRunsAs === 'string') {
    const other = pathOf(join(dirname(path), `${sameRunsAs}${extname(path)}`));
    if ([...askedBy, path].includes(other)) {
      throw mistake(`experiment ${name}: sameRunsAs goes in a circle, ${sameRunsAs} asks for it`);
    }
    base = await load(other, [...askedBy, path]);
  }
  try {
    return readExperiment({ ...module }, name, base);
  } catch (error) {
    if (error.key === undefined) throw error;
    const where = place(path, lineOf(error.key, source(path)));
    throw mistake(error.message.replace(/^experiment .*?: /, `${where}: `));
  }
}

/** As editors know it: `cache.js:10`. */
const place = (path, line) => `${relative('', path)}${line === null ? '' : `:${line}`}`;

/** The file of an experiment, absolute. @param {string} path @throws {LabError} as {@link loadExperiment}, when there is none */
export function pathOf(path) {
  if (!FILE.test(path)) {
    throw mistake(
      `${path} is not the file of an experiment, whose name ends in .js or .mjs; give one, or compare two commands: millrace compare`,
    );
  }
  if (existsSync(path)) return resolve(path);
  const folder = dirname(path);
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => FILE.test(file)) : [];
  const near = nearest(basename(path), files);
  throw mistake(`there is no file ${path}${near === undefined ? '' : `; did you mean ${near}?`}`);
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
 * Finds the line where a key of an experiment most likely is: each part of its path is looked for from where the part before it was
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
