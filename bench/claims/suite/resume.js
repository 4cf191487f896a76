/** Goes on with a suite that was stopped: experiments that were done are taken from its file, and their runs from their own. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '@millrace/lab/run';

const refused = (why) => new LabError('MILLRACE_LAB_E_INVALID_OPTION', `--resume: ${why}`);

/**
 * Reads the latest suite of a folder, which must have been stopped.
 *
 * @param {string} folder
 * @param {{ size: string, host: { cpu: string } }} now the size of the suite that goes on, and its machine
 * @returns {{ entries: import('./run.js').Entry[], seconds: number, seed: number }} the experiments that are done, the time that the suite took,
 *   and the seed with which it goes on
 * @throws {LabError} `MILLRACE_LAB_E_INVALID_OPTION` if there is none, or it is of another size or machine
 */
export function doneBefore(folder, { size, host }) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const latest = names
    .filter((name) => /^suite-.*\.json$/.test(name))
    .sort()
    .at(-1);
  if (latest === undefined) throw refused(`there is no suite in ${folder}; leave it out`);
  const suite = JSON.parse(readFileSync(join(folder, latest), 'utf8'));
  if (!suite.stopped) throw refused(`${latest} was not stopped; leave it out`);
  if (suite.size !== size) throw refused(`${latest} is of size ${suite.size}, not ${size}`);
  const done = suite.entries.filter(({ state }) => state === 'done');
  const other = done.find(({ results }) => results.host.cpu !== host.cpu);
  if (other) throw refused(`${latest} was measured on another machine: ${other.results.host.cpu}`);
  const entries = done.map((entry) => ({ ...entry, results: withRuns(entry.results, folder) }));
  return { entries, seconds: suite.seconds, seed: suite.seed };
}

/** Returns results with their runs, which a report draws; without them where their file is gone. */
function withRuns(results, folder) {
  const date = results.date.replaceAll(':', '-');
  const path = join(folder, `${results.experiment}-${date}.json`);
  return existsSync(path)
    ? { ...results, runs: JSON.parse(readFileSync(path, 'utf8')).runs }
    : results;
}
