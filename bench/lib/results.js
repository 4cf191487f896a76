import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of raw samples; not part of the repository. */
export const resultsFolder = fileURLToPath(new URL('../results/', import.meta.url));

/** Makes the folder, and returns its path. */
export function ensureResults() {
  mkdirSync(resultsFolder, { recursive: true });
  return resultsFolder;
}

/** Writes all samples of a run, and returns the path of the file. */
export function keep(name, date, data) {
  ensureResults();
  const path = join(resultsFolder, `${name}-${date.toISOString().replaceAll(':', '-')}.json`);
  writeFileSync(path, `${JSON.stringify(data, null, 1)}\n`);
  return path;
}
