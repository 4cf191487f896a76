import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LabError } from '../load/errors.js';
import { readExperiment } from './format.js';

const FOLDER = fileURLToPath(new URL('../experiments/', import.meta.url));

/** The names of all experiments, in the order of the alphabet. */
export function experimentNames() {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.js'))
    .map((file) => file.slice(0, -'.js'.length))
    .sort();
}

/**
 * Reads an experiment's file.
 *
 * @param {string} name of one of the project's, or the path of any other, which ends in .js
 * @returns {Promise<import('./format.js').Experiment>}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` when there is none, or it is mistaken
 */
export async function loadExperiment(name) {
  const isPath = name.endsWith('.js');
  const names = experimentNames();
  if (!isPath && !names.includes(name)) {
    throw new LabError(
      'MILLRACE_LAB_E_EXPERIMENT',
      `there is no experiment ${name}; there are ${names.join(', ')}`,
    );
  }
  const path = isPath ? resolve(name) : join(FOLDER, `${name}.js`);
  const module = await import(pathToFileURL(path).href).catch((error) => {
    throw new LabError('MILLRACE_LAB_E_EXPERIMENT', `experiment ${name}: ${error.message}`);
  });
  return readExperiment({ ...module }, basename(path, '.js'));
}
