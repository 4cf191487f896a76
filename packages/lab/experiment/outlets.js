/** Where the results of a program go: raw samples into a folder, reports into files. */
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '@millrace/base/command';

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

/** What is in it stays. */
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
