import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from './counts.js';
import { Failure } from './failure.js';
import { files } from './files.js';
import { projectCache, root } from './paths.js';

/** Suites that this process has begun. */
let runs = 0;

const runner = join(root, 'scripts/lib/suite-run.js');

/** A file or a suite that hangs is ended and fails by name. On a machine that is busy with other work they take several times as long. */
const FILE_TIMEOUT_MS = 600_000;
const SUITE_TIMEOUT_MS = 1_800_000;

/**
 * A step that runs every `*.test.js` under some folders, each in a process of its own; or every `*.long.test.js`, which costs more
 * than `make test` has time for.
 *
 * @param {object} suite
 * @param {string} suite.title
 * @param {string[]} suite.folders relative to the root; or single files
 * @param {string[]} [suite.without] folders and files in them that are left out
 * @param {boolean} [suite.long] the long ones, and no other
 * @param {string[]} [suite.first] files that take longest: a long one that is begun last is waited for alone
 * @param {number} [suite.concurrency] files at a time; 1 for tests that measure or start servers
 * @param {Record<string, string>} [suite.env] added to the environment
 * @param {number} [suite.extraSeconds] added to the time limits
 * @param {string} [suite.node] path of the Node.js that runs it, in place of this one
 * @returns {import('./steps.js').Step & { folders: string[] }}
 */
export function suite({ title, folders, ...options }) {
  return { title, folders, run: (quiet) => runSuite(folders, options, quiet) };
}

async function runSuite(folders, options, quiet) {
  const {
    long = false,
    without = [],
    first = [],
    concurrency = 1,
    env = {},
    extraSeconds = 0,
    node = process.execPath,
  } = options;
  const testFiles = testFilesOf({ folders, long, without, first });
  if (testFiles.length === 0)
    throw new Failure(`${folders.join(', ')}: no *${long ? '.long' : ''}.test.js`);
  // Several may run side by side.
  const tallyFile = join(projectCache, `tally-${process.pid}-${runs++}.json`);
  const settings = {
    files: testFiles.map((path) => join(root, path)),
    concurrency,
    timeout: FILE_TIMEOUT_MS + extraSeconds * 1000,
    tally: tallyFile,
  };
  const limits = {
    env: { ...process.env, ...env },
    timeoutMs: SUITE_TIMEOUT_MS + extraSeconds * 1000,
  };
  const ended = await quiet(node, [runner, JSON.stringify(settings)], limits).then(
    () => null,
    (error) => error,
  );
  try {
    return report(tallyFile, ended);
  } finally {
    rmSync(tallyFile, { force: true });
  }
}

/** The test files under the folders, in the order in which they are begun. */
function testFilesOf({ folders, long, without, first }) {
  const paths = folders
    .flatMap((path) => (path.endsWith('.test.js') ? [path] : files(path)))
    .filter((path) => path.endsWith('.test.js') && path.endsWith('.long.test.js') === long)
    .filter((path) => !without.some((other) => path === other || path.startsWith(`${other}/`)));
  const gone = first.find((path) => !existsSync(join(root, path)));
  if (gone) throw new Failure(`${gone} is to be run first, and is not there`);
  const early = first.filter((path) => paths.includes(path));
  return [...early, ...paths.filter((path) => !early.includes(path))];
}

/** The step's result from the tally; the exit code counts too, when the tally shows no failure. */
function report(tallyFile, ended) {
  const counts = JSON.parse(readTally(tallyFile, ended));
  if (ended && counts.failed === 0) throw ended;
  return counted(counts);
}

function readTally(tallyFile, ended) {
  const text = existsSync(tallyFile) ? readFileSync(tallyFile, 'utf8') : '';
  if (text === '') throw ended ?? new Failure('the tests left no tally');
  return text;
}
