import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from './counts.js';
import { Failure } from './failure.js';
import { files } from './files.js';
import { root } from './paths.js';

const runner = join(root, 'scripts/lib/suite-run.js');

/** A file or a suite that hangs is ended and fails by name. A machine that is busy with other work takes several times as long. */
const FILE_TIMEOUT_MS = 600_000;
const SUITE_TIMEOUT_MS = 1_800_000;

/**
 * A step that runs every `*.test.js` under some folders, each in a process of its own; or every `*.long.test.js`, which costs more
 * than `make test` has time for.
 *
 * @param {string} title
 * @param {string[]} folders relative to the root; or single files
 * @param {object} [options]
 * @param {string[]} [options.without] folders and files in them that are left out
 * @param {boolean} [options.long] the long ones, and no other
 * @param {string[]} [options.first] files that take longest: a long one that begins last is waited for alone
 * @param {number} [options.concurrency] files at a time; 1 for tests that measure or start servers
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {number} [options.extraSeconds] added to the time limits
 * @param {string} [options.node] path of the Node.js that runs it, in place of this one
 * @returns {import('./steps.js').Step & { folders: string[] }}
 */
export function suite(title, folders, options = {}) {
  const { concurrency = 1, env, extraSeconds = 0, node = process.execPath } = options;
  const timeout = FILE_TIMEOUT_MS + extraSeconds * 1000;
  const limits = {
    env: { ...process.env, ...env },
    timeoutMs: SUITE_TIMEOUT_MS + extraSeconds * 1000,
  };
  const run = async (quiet) => {
    const tests = testFiles(folders, options).map((path) => join(root, path));
    return counted((tally) => {
      const settings = { files: tests, concurrency, timeout, tally };
      return quiet(node, [runner, JSON.stringify(settings)], limits);
    });
  };
  return { title, folders, run };
}

/** The test files under the folders, in the order in which they begin. */
function testFiles(folders, { long = false, without = [], first = [] }) {
  const isIn = (path, other) => path === other || path.startsWith(`${other}/`);
  const paths = folders
    .flatMap((path) => files(path))
    .filter((path) => path.endsWith('.test.js') && path.endsWith('.long.test.js') === long)
    .filter((path) => !without.some((other) => isIn(path, other)));
  if (paths.length === 0)
    throw new Failure(`${folders.join(', ')}: no *${long ? '.long' : ''}.test.js`);
  const gone = first.find((path) => !existsSync(join(root, path)));
  if (gone) throw new Failure(`${gone} is to be run first, and is not there`);
  const early = first.filter((path) => paths.includes(path));
  return [...early, ...paths.filter((path) => !early.includes(path))];
}
