/**
 * Test runners: how a file is run with each, and where its results are. `flags` are those of Node.js, `command` is the program with its
 * arguments; `results` returns the tests in the order in which they ended.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const mocha = createRequire(import.meta.url).resolve('mocha/bin/_mocha');
const nodeReporter = new URL('reporter.js', import.meta.url).href;
const tapNames = join(import.meta.dirname, 'tap-names.cjs');
const mochaReporter = join(import.meta.dirname, 'mocha-reporter.cjs');

const outcomeOf = (isPassed) => (isPassed ? 'passed' : 'failed');

export const runners = {
  'node:test': {
    flags: ({ report }) => [
      `--test-reporter=${nodeReporter}`,
      `--test-reporter-destination=${report}`,
    ],
    command: ({ file }) => [file],
    results: ({ report }) => linesOf(report),
  },
  mocha: {
    flags: () => [],
    command: ({ file, report }) => [
      ...[mocha, '--reporter', mochaReporter, '--reporter-option', `report=${report}`],
      ...['--exit', '--timeout', '20000', file],
    ],
    // A hook has another name for each test.
    results: ({ report }) => [
      ...new Map(linesOf(report).map((test) => [`${test.id} ${test.name}`, test])).values(),
    ],
  },
  /** The file writes TAP to its standard output. Subtests and assertions of a test are not counted. */
  tap: {
    flags: () => ['--require', tapNames],
    command: ({ file }) => [file],
    results: ({ output }) =>
      [...output.matchAll(/^(not )?ok \d+ - (.*?)(?: # time=\S+)?(?: \{)?$/gm)].map(
        ([, not, title]) => {
          const [name, directive] = title.split(/ # (?=SKIP|TODO)/);
          return { name, outcome: directive ? 'skipped' : outcomeOf(not === undefined) };
        },
      ),
  },
  /** uvu names only the tests that fail. */
  uvu: {
    flags: () => [],
    command: ({ file }) => [file],
    results: ({ output }) => {
      const [, passed = 0] = /^ {2}Passed: +(\d+)/m.exec(output) ?? [];
      const failed = [...output.matchAll(/^ +FAIL {2}(.+)$/gm)];
      return [
        ...Array.from({ length: passed }, () => ({ name: 'a test', outcome: 'passed' })),
        ...failed.map(([, name]) => ({ name, outcome: 'failed' })),
      ];
    },
  },
  /** The file itself is the test, as in Node.js. It names the options of Node.js that it needs. */
  program: {
    flags: ({ folder, file }) => flagsOf(join(folder, file)),
    command: ({ file }) => [file],
    results: ({ output, code }) => {
      const isSkipped = /^1\.\.0 # Skipped/m.test(output);
      return [{ name: 'it', outcome: isSkipped ? 'skipped' : outcomeOf(code === 0) }];
    },
  },
};

function flagsOf(path) {
  const [, flags = ''] = /^\/\/ Flags: (.+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  return flags.split(/\s+/).filter(Boolean);
}

/** One value in JSON on each line; the last is incomplete if the process was killed. */
export function linesOf(path) {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').slice(0, -1).map(JSON.parse);
}
