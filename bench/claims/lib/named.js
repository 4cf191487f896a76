/** The experiments of this folder by their names: each is the file `NAME.js`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { experimentNames, loadExperiment } from '@millrace/lab/experiment';

export const FOLDER = fileURLToPath(new URL('../', import.meta.url));

/** Names of all, in the order of the alphabet. */
export const names = () => experimentNames(FOLDER);

/** @param {string} name @returns {ReturnType<typeof loadExperiment>} */
export const loadNamed = (name) => loadExperiment(join(FOLDER, `${name}.js`));
