/**
 * Finds the benchmarks: one file each in bench/cases, NAME.js. CASES names one more folder of such files, for cases that are not part of the
 * repository.
 *
 * @typedef {object} Benchmark the default export of such a file
 * @property {string} question that it answers, for the list; it begins with a capital
 * @property {string[]} [needs] parts of the setup beside those of all benchmarks, see scripts/lib/setup.js
 * @property {number} [place] of its rows in the tables; without one they are last
 * @property {Record<string, RowsOfCase>} [rows] of docs/benchmarks/measured.md by case, see bench/tables/rows.js
 * @property {(bench: import('./bench.js').Bench) =>
 *   Iterable<Experiment> | AsyncIterable<Experiment> | Promise<Iterable<Experiment>>} experiments what is measured, one after the
 *   other. A generator gets the rounds of an experiment as the value of its `yield`; undefined: CASE names another one
 * @property {boolean} [keepsParts] SAVE=1 may keep one case beside the others, see `Bench.leaveOut`
 * @property {(bench: import('./bench.js').Bench) => Promise<boolean>} [instead] does what the environment asks for in place of experiments; true:
 *   that is all
 * @property {() => void} [after] a run that was not refused
 *
 * @typedef {import('./experiment.js').Experiment} Experiment
 * @typedef {import('../tables/rows.js').RowsOfCase} RowsOfCase
 */
import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folders = [
  fileURLToPath(new URL('../cases/', import.meta.url)),
  ...(process.env.CASES ? [resolve(process.env.CASES)] : []),
];

/** Returns the path of each benchmark by its name, in the order of the names. @returns {Map<string, string>} */
export function paths() {
  const found = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.js'))
      .map((file) => [file.slice(0, -3), resolve(folder, file)]),
  );
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param {string} path @returns {Promise<Benchmark>} */
export async function load(path) {
  if (!existsSync(path)) throw new RangeError(`there is no benchmark ${path}`);
  return (await import(pathToFileURL(path).href)).default;
}

/** Returns all benchmarks in the order of the tables. @returns {Promise<{ name: string, benchmark: Benchmark }[]>} */
export async function loadAll() {
  const all = await Promise.all(
    [...paths()].map(async ([name, path]) => ({ name, benchmark: await load(path) })),
  );
  const place = ({ benchmark }) => benchmark.place ?? Number.POSITIVE_INFINITY;
  return all.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}
