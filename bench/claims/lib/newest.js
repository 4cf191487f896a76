import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readResults } from '@millrace/lab/report';

/**
 * Results of experiments.
 *
 * @param {string[]} paths of files of results, or folders of them
 * @returns {object[]} the newest of each experiment, in the order in which they are named
 */
export function newestOf(paths) {
  const files = paths.flatMap((path) =>
    statSync(path).isDirectory()
      ? readdirSync(path)
          .filter((name) => name.endsWith('.json'))
          .sort()
          .map((name) => join(path, name))
      : [path],
  );
  const newest = new Map();
  for (const results of files.map(readResults)) {
    const { experiment, date } = results;
    if (!(newest.get(experiment)?.date > date)) newest.set(experiment, results);
  }
  return [...newest.values()];
}
