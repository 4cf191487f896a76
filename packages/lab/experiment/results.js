/** Places of results: raw samples in a folder, reports in files, lines of JSON. Each place is tried before anything is measured. */

import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '@millrace/base/command';
import { LabError } from '../load/errors.js';

/**
 * Keeps everything that a run has measured, as one JSON file.
 *
 * @param {import('./judge.js').Results} results
 * @param {string} folder
 * @returns {string} the path of the file
 * @throws {LabError} `MILLRACE_LAB_E_RESULTS` when it cannot be written there, as on a full disk; the message says
 *   where it is instead, its `path` as well: in the folder for temporary files; null when not even there
 */
export function keep(results, folder) {
  const file = `${results.experiment}-${results.date.replaceAll(':', '-')}.json`;
  const path = join(folder, file);
  try {
    write(path, folder, results);
    return path;
  } catch (error) {
    const other = elsewhere(file, results);
    const where = other === null ? 'and not elsewhere either' : `they are in ${other} instead`;
    throw Object.assign(
      new LabError(
        'MILLRACE_LAB_E_RESULTS',
        `the results could not be written to ${path} (${reason(error)}), ${where}`,
      ),
      { path: other },
    );
  }
}

/** The path in the folder for temporary files, or null. */
function elsewhere(file, results) {
  const path = join(tmpdir(), basename(file));
  try {
    write(path, tmpdir(), results);
    return path;
  } catch {
    return null;
  }
}

/** A run at a time: all of them may be more than the longest string. Half a file is taken away again. */
function write(path, folder, { runs, ...head }) {
  makeFolder(folder);
  const file = openSync(path, 'w');
  try {
    writeFileSync(file, `${JSON.stringify(head, null, 1).slice(0, -2)},\n "runs": [`);
    runs.forEach((run, i) => {
      writeFileSync(file, `${i === 0 ? '' : ','}\n  ${JSON.stringify(run)}`);
    });
    writeFileSync(file, '\n ]\n}\n');
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

const reason = ({ code, message }) => (code === undefined ? message : `${code}: ${message}`);

/**
 * Results as lines of JSON: what was run on which machine, each run with its raw samples, each figure, each
 * claim. `kind` says which one a line is.
 *
 * @param {import('./judge.js').Results} results
 * @returns {string[]}
 */
export function jsonLines({ runs, figures, claims, ...head }) {
  const { experiment } = head;
  const lines = (kind, items) => items.map((item) => ({ experiment, kind, ...item }));
  return [
    ...lines('experiment', [head]),
    ...lines('run', runs),
    ...lines('figure', figures),
    ...lines('claim', claims),
  ].map((line) => JSON.stringify(line));
}

/** Output of a program's results: raw samples into a folder, reports into files. */

/**
 * Makes a folder, and those above it that are missing; one at a time, as Node's recursive way never ends below /proc.
 *
 * @param {string} folder
 * @throws {Error} of the file system
 */
export function makeFolder(folder) {
  const path = resolve(folder);
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

/**
 * Tries, before anything is measured, whether the results can be written afterwards.
 *
 * @param {{ results?: string } & Record<string, string | undefined>} outlets by option: a folder, and files
 * @throws {UsageError} one sentence: the option, its value and why not
 */
export function checkOutlets({ results, ...files }) {
  const given = Object.entries(files).filter(([, path]) => path !== undefined);
  if (results !== undefined) {
    attempt('results', results, () => {
      makeFolder(results);
      tryFile(join(results, `.millrace-${process.pid}`));
    });
  }
  for (const [name, path] of given) {
    attempt(name, path, () => {
      makeFolder(dirname(path));
      tryFile(path);
    });
  }
}

/** Keeps the content of an existing file. */
function tryFile(path) {
  const isNew = !existsSync(path);
  closeSync(openSync(path, 'a'));
  if (isNew) rmSync(path);
}

function attempt(name, path, work) {
  try {
    work();
  } catch ({ message }) {
    throw new UsageError(`--${name} is "${path}", where nothing can be written: ${message}.`);
  }
}
