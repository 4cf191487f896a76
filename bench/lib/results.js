import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where raw samples are kept; not part of the repository. */
export const resultsFolder = fileURLToPath(new URL('../results/', import.meta.url));

/** Makes the folder, and gives its path. */
export function ensureResults() {
  mkdirSync(resultsFolder, { recursive: true });
  return resultsFolder;
}

/** Keeps everything a run measured, and returns the path of the file. */
export function keep(name, date, data) {
  ensureResults();
  const path = join(resultsFolder, `${name}-${date.toISOString().replaceAll(':', '-')}.json`);
  writeFileSync(path, `${JSON.stringify(data, null, 1)}\n`);
  return path;
}
