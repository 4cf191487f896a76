import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where raw samples are kept; not part of the repository. */
const FOLDER = fileURLToPath(new URL('../results/', import.meta.url));

/**
 * Keeps everything that a run has measured.
 *
 * @param {import('./run.js').Results} results
 * @param {string} [folder]
 * @returns {string} the path of the file
 */
export function keep(results, folder = FOLDER) {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${results.experiment}-${results.date.replaceAll(':', '-')}.json`);
  writeFileSync(path, `${JSON.stringify(results, null, 1)}\n`);
  return path;
}

/**
 * The same as lines of JSON: what was run on which machine, each run with its raw samples, each figure, each
 * claim. `kind` says which one a line is.
 *
 * @param {import('./run.js').Results} results
 * @returns {string[]}
 */
export function jsonLines({ runs, figures, claims, notes, ...head }) {
  const { experiment } = head;
  const lines = (kind, items) => items.map((item) => ({ experiment, kind, ...item }));
  return [
    ...lines('experiment', [{ ...head, notes }]),
    ...lines('run', runs),
    ...lines('figure', figures),
    ...lines('claim', claims),
  ].map((line) => JSON.stringify(line));
}
