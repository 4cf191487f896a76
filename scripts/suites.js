/** What `make test`, `make check-all` and `make test-matrix` do, in order. A new step is a new line here. */

import { command } from './lib/command.js';
import { exitWith, Failure } from './lib/failure.js';
import { generatorBuild } from './lib/generator.js';
import { provision } from './lib/provision.js';
import { suiteOn } from './lib/releases.js';
import { repository } from './lib/repository.js';
import { generator, millrace, packages, tools } from './lib/setup.js';
import { suite } from './lib/suite.js';

const fuzzSeconds = secondsOf('FUZZ_SECONDS', 60, 1);
const soakSeconds = secondsOf('SOAK_SECONDS', 120, 10);

const ofMillrace = { folder: 'node/test', concurrency: 2 };

const suites = [
  suite({ title: 'tests of millrace', ...ofMillrace }),
  suite({ title: 'tests of the lab', folder: 'lab/load/test' }),
  suite({ title: 'tests of the chat', folder: 'examples/chat/test' }),
  suite({ title: 'tests of the demo', folder: 'lab/run/test' }),
];

const releases = [
  suiteOn('20', ofMillrace),
  suiteOn('22', ofMillrace),
  suiteOn('24', ofMillrace),
  suiteOn('latest', ofMillrace),
];

const longSuites = [
  suite({
    title: `fuzz for ${fuzzSeconds} s`,
    folder: 'node/test/conformance',
    env: { FUZZ_SECONDS: String(fuzzSeconds) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'fuzz of the core',
    folder: 'node/test/core',
    // Each of its random tests takes so long.
    env: { FUZZ_SECONDS: String(fuzzSeconds / 5) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: `soak of the chat for ${soakSeconds} s`,
    folder: 'lab/soak',
    env: { SOAK_SECONDS: String(soakSeconds) },
    extraSeconds: soakSeconds,
  }),
];

export const testSteps = [
  tools('git', 'make', 'cmake', 'cc'),
  packages(),
  millrace,
  generator,
  provision(['chromium', 'postgresql']),
  command('format and lint', 'node_modules/.bin/biome ci --colors=off --error-on-warnings'),
  command('types as users see them', 'node_modules/.bin/tsc --noEmit -p node/test-types'),
  repository([...suites, ...longSuites].map(({ folder }) => folder)),
  command(
    'tests of the generator',
    'ctest --test-dir lab/load/build --no-tests=error --output-on-failure',
  ),
  ...suites,
];

export const matrixSteps = [tools(), packages(), millrace, ...releases];

export const longSteps = [
  provision(['clang']),
  generatorBuild({
    title: 'generator, ASan and UBSan',
    compiler: 'cc',
    flags: '-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all',
  }),
  generatorBuild({
    title: 'generator, clang and UBSan',
    compiler: 'clang',
    // A trap needs no library; Debian has clang's in a package of its own.
    flags: '-O1 -g -fsanitize=undefined -fsanitize-trap=undefined',
  }),
  ...releases,
  ...longSuites,
];

/** Takes a setting out of the environment, so that only the steps that hand it on have it. */
function secondsOf(name, otherwise, least) {
  const seconds = Number(process.env[name] || otherwise);
  if (!(seconds >= least && seconds <= 3600)) {
    exitWith(new Failure(`${name} is ${process.env[name]}; it is a number from ${least} to 3600`));
  }
  delete process.env[name];
  return seconds;
}
