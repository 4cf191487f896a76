/** Steps of `make test`, `make check-all` and `make test-matrix`, in order. A new step or folder of tests is a new line here. */

import { provision } from './debian.js';
import { addon, sanitizedSuite } from './lib/addon.js';
import { cmakeTests, ctestStep, uvbatch, uvbatchFuzz } from './lib/cmake.js';
import { exitWith, Failure } from './lib/failure.js';
import { goChecks, goFuzz, goPackages, goPlatforms, goTests, workflows } from './lib/go.js';
import { published } from './lib/packed.js';
import { typed } from './lib/paths.js';
import { otherPlatforms } from './lib/platforms.js';
import { programOn, suiteOn } from './lib/runtimes.js';
import { build, generator, labApps, libuv, packages } from './lib/setup.js';
import { suite } from './lib/suite.js';
import { checkTools } from './lib/tools.js';

const fuzzSeconds = secondsOf('FUZZ_SECONDS', 60, 1);
const soakSeconds = secondsOf('SOAK_SECONDS', 120, 10);
/** Duration of each random test of a suite, and its addition to the limits. */
const fuzz = (share) => ({
  env: { FUZZ_SECONDS: String(fuzzSeconds / share) },
  extraSeconds: fuzzSeconds,
});
const javascript = { MILLRACE_NATIVE: '0' };

const command = (title, line) => {
  const [path, ...args] = line.split(' ');
  return { title, run: (quiet) => quiet(path, args) };
};

/**
 * The tests of the packages, on each path. A missing addon is an error, and not another run in JavaScript. They start processes and wait
 * for them more than they compute.
 */
const tested = typed.map((name) => `packages/${name}/test`);
export const withAddon = {
  concurrency: 5,
  first: [
    'millrace/test/auto/features',
    'millrace/test/tools/run',
    'millrace/test/auto/quiet',
    'millrace/test/auto/ways',
    'millrace/test/tools/dashboard',
    'millrace/test/auto/settings',
    'nats/test/rooms/durable',
    'millrace/test/native/load',
    'millrace/test/tools/dashboard/page',
    'cluster/test/drain',
    'monitor/test/block',
    'cluster/test/reload',
    'nats/test/tasks/cli',
    'pool/test/piscina-api',
    'pool/test/lifecycle',
    'millrace/test/conformance/differential',
  ].map((name) => `packages/${name}.test.js`),
  env: { MILLRACE_NATIVE: '1' },
};
/** Tests that ask nothing of the addon; those of nats do so only where rooms and sockets of one machine do, too. */
const addonFree = [
  ...tested.filter((folder) => folder !== 'packages/millrace/test'),
  ...['batch', 'conformance', 'emitter', 'engine', 'pg', 'tools'].map(
    (name) => `packages/millrace/test/${name}`,
  ),
];
const inJavaScript = {
  ...withAddon,
  without: [
    ...addonFree,
    // They have no test without it.
    ...[
      'native/file-calls',
      'net/enlarge-size',
      'threads/close',
      'threads/delivery',
      'threads/process',
      'threads/worker',
    ].map((name) => `packages/millrace/test/${name}.test.js`),
  ],
  env: javascript,
};
const slowOfLab = [
  'experiment/test/run',
  'experiment/test/main',
  'run/test/demo',
  'load/test/generator',
  'compare/test/compare',
  'experiment/test/measure',
  'load/test/driver',
  'report/test/render',
].map((name) => `packages/lab/${name}.test.js`);
/** Packed, installed and bundled. The first that runs packs for all. */
const asPublished = published.map((name) => `packages/${name}/test-package`);

const suites = [
  suite('the packages, with the addon', tested, withAddon),
  suite('millrace in JavaScript', tested, {
    ...inJavaScript,
    // With the long tests: it starts many processes.
    without: [...inJavaScript.without, 'packages/millrace/test/auto'],
  }),
  // They wait for servers and clocks more than they compute.
  suite('tests of the lab', ['packages/lab'], {
    without: ['packages/lab/test-package'],
    concurrency: 5,
    first: slowOfLab,
  }),
  suite('tests of the benchmarks', ['bench']),
  suite('tests of the chat', ['examples/chat/test', 'examples/chat/soak/test'], { concurrency: 4 }),
  suite('tests of the scripts', ['scripts/test']),
  suite('tests of the cursors', ['examples/cursors/test']),
  suite('tests of the overload', ['examples/overload/test'], { concurrency: 2 }),
  suite('tests of the compute', ['examples/compute/test'], { concurrency: 3 }),
];

/** Steps that install, compile and start programs, and do not mind a busy machine: each list beside the others. */
const beside = [
  [
    suite('tests of the docs', ['docs/test'], { concurrency: 2 }),
    suite('tests of the deployment', ['deploy/test', 'deploy/scaler/test'], { concurrency: 2 }),
  ],
  [suite('tests of the npm packages', asPublished)],
  [
    ctestStep('tests of libuvbatch', 'c', { parallel: 2 }),
    goTests('tests of go', 'go'),
    goTests('tests of go/goja', 'go/goja'),
  ],
];

export const testSteps = [
  checkTools('git', 'make', 'cmake', 'cc', 'python3', 'go'),
  [
    [
      packages(),
      build,
      addon,
      command('format and lint', 'node_modules/.bin/biome ci --colors=off --error-on-warnings'),
      command(
        'types as users see them',
        'node_modules/.bin/tsc --noEmit -p packages/tsconfig.types.json',
      ),
    ],
    [
      generator,
      libuv,
      uvbatch,
      provision(['chromium', 'nats-server', 'postgresql', 'prometheus', 'redis-server']),
    ],
    [goPackages, goChecks(['go', 'go/goja'])],
  ],
  ctestStep('tests of the generator', 'packages/lab/load'),
  cmakeTests('tests of the ring', 'packages/millrace/addon/test'),
  uvbatchTests('newest'),
  cmakeTests('tests of the streaming', 'examples/streaming', { libuv: 'any' }),
  ...suites,
  beside,
];

const releases = [
  ...['20', '22', '24', '26'].flatMap((release) => [
    suiteOn(release, 'addon', tested, withAddon),
    suiteOn(release, 'JavaScript', tested, inJavaScript),
  ]),
  programOn('Bun', 'packages/millrace/test/runtimes/smoke.js'),
  programOn('Deno', 'packages/millrace/test/runtimes/smoke.js'),
];

export const matrixSteps = [
  checkTools('make', 'cc', 'python3'),
  packages(),
  build,
  // Built once, with this Node.js: it has to load in all the others.
  addon,
  ...releases,
];

const long = { long: true };
const longSuites = [
  suite('long tests of the packages', tested, {
    ...withAddon,
    ...long,
    first: [],
    env: { ...withAddon.env, ...fuzz(10).env },
    extraSeconds: fuzzSeconds,
  }),
  suite('long tests in JavaScript', tested, { ...inJavaScript, ...long, first: [] }),
  suite('long tests of the lab', ['packages/lab'], {
    ...long,
    without: ['packages/lab/experiment/truth'],
    concurrency: 3,
  }),
  suite('long tests of the benchmarks', ['bench'], { ...long, concurrency: 3 }),
  suite('long tests of the chat', ['examples/chat/test'], long),
  suite('long tests of the cursors', ['examples/cursors/test'], long),
  suite('long tests of the overload', ['examples/overload/test'], long),
  // One sends a gigabyte.
  suite('long tests of the compute', ['examples/compute/test'], { ...long, extraSeconds: 300 }),
  suite('long tests of the docs', ['docs/test'], long),
  suite('long tests of the scripts', ['scripts/test'], long),
  suite('long tests of the npm packages', asPublished, long),
  suite(`fuzz for ${fuzzSeconds} s`, ['packages/millrace/test/conformance'], fuzz(1)),
  suite('fuzz of the engine', ['packages/base/test', 'packages/millrace/test/engine'], fuzz(5)),
  suite(
    'fuzz of sockets and files',
    ['fs/changing', 'net/enlarge-random', 'net/random', 'ws/key-random'].map(
      (name) => `packages/millrace/test/${name}.test.js`,
    ),
    fuzz(10),
  ),
  suite('fuzz of nats', ['packages/nats/test'], fuzz(5)),
  suite('auto, in JavaScript', ['packages/millrace/test/auto'], {
    concurrency: 3,
    env: javascript,
  }),
  suite('rooms across machines, in JavaScript', ['packages/nats/test/rooms'], {
    concurrency: 2,
    env: javascript,
  }),
  suite('images and containers', ['deploy/test-image'], { extraSeconds: 900 }),
  suite('behaviours of @fastify/under-pressure and piscina', [
    'packages/guard/test-peers',
    'packages/pool/test-peers',
  ]),
  // About 2,000 processes for the tests of Node.js alone.
  suite('tests of packages under auto', ['packages/millrace/test-peers/auto'], {
    extraSeconds: 1800,
  }),
  // They compile a lot.
  suite('bundlers, frameworks and test runners', ['packages/millrace/test-peers/tools'], {
    extraSeconds: 1800,
  }),
  suite('fuzz of the guard', ['packages/guard/test/faults'], fuzz(5)),
  suite('fuzz of the pool', ['packages/pool/test'], fuzz(10)),
  suite('the lab against known truths', ['packages/lab/experiment/truth'], {
    ...long,
    extraSeconds: 400,
  }),
  goTests('tests of bench/go', 'bench/go'),
  ...['go', 'go/goja'].map((folder) =>
    goTests(`${folder} on one processor and four`, folder, {
      args: ['-race', '-cpu=1,4', '-count=3'],
      timeout: 900,
    }),
  ),
  // There are two, and a busy machine needs longer for what faults interrupt.
  suite(`soaks of the chat for ${soakSeconds} s`, ['examples/chat/soak'], {
    ...long,
    env: { SOAK_SECONDS: String(soakSeconds) },
    extraSeconds: 5 * soakSeconds,
  }),
];

const elsewhere = ['darwin/arm64', 'freebsd/amd64', 'freebsd/386', 'windows/amd64', 'linux/arm64'];

export const longSteps = [
  provision(['clang', 'buildah', 'crun']),
  goChecks(['bench/go']),
  // freebsd/386 is 32 bits, kqueue and no assembler, in one.
  goPlatforms('go', [...elsewhere, 'linux/386']),
  generatorTests('asan'),
  generatorTests('clang', { compiler: 'clang' }),
  uvbatchTests('newest-asan'),
  ...['asan', 'tsan', 'clang'].map(uvbatchTests),
  cmakeTests('ring, TSan', 'packages/millrace/addon/test', { preset: 'tsan' }),
  cmakeTests('ring, ASan and UBSan', 'packages/millrace/addon/test', { preset: 'asan' }),
  sanitizedSuite('millrace, addon under ASan', tested, { ...withAddon, without: addonFree }),
  sanitizedSuite('long tests of millrace, addon under ASan', tested, {
    ...withAddon,
    ...long,
    first: [],
    without: addonFree,
  }),
  ctestStep('long tests of libuvbatch', 'c', {
    parallel: 2,
    env: { HAMMER_EVENTS: '50000000', FUZZ_SECONDS: String(fuzzSeconds / 5) },
    seconds: fuzzSeconds / 5 + 300,
    args: ['--tests-regex', '^post_test|^differential'],
  }),
  uvbatchFuzz(Math.ceil(fuzzSeconds / 5)),
  goFuzz('go', fuzzSeconds),
  goTests('100 million tasks in Go', 'go', {
    args: ['-run=Million'],
    env: { MILLRACE_TASKS: '100000000' },
    timeout: 900,
  }),
  goTests('goja from a module proxy', 'go', {
    args: ['-run=ModuleOfGoja'],
    env: { MILLRACE_COMPILE_GOJA: '1' },
    timeout: 600,
  }),
  workflows,
  ...releases,
  ...otherPlatforms(),
  packages('packages/millrace/test-peers/auto'),
  packages('packages/millrace/test-peers/tools'),
  ...labApps,
  ...longSuites,
];

/** The folders whose tests run. */
export const folders = [...testSteps, ...longSteps].flat(2).flatMap(({ folders = [] }) => folders);

/** libuvbatch, built once more with a preset of c/CMakePresets.json. */
function uvbatchTests(preset) {
  return cmakeTests(`libuvbatch, ${preset}`, 'c', {
    preset,
    libuv: preset.startsWith('newest') ? 'newest' : 'any',
    ...(preset === 'clang' && { compiler: 'clang' }),
    parallel: 2,
    seconds: 300,
  });
}

/** The load generator, built once more; it then loads its bare server. */
function generatorTests(preset, options) {
  return cmakeTests(`generator, ${preset}`, 'packages/lab/load', {
    preset,
    ...options,
    after: (folder, quiet) => quiet(process.execPath, ['packages/lab/load/test/bare.js', folder]),
  });
}

/** Takes a setting out of the environment, so that only the steps that pass it on have it. */
function secondsOf(name, otherwise, least) {
  const seconds = Number(process.env[name] || otherwise);
  if (!(seconds >= least && seconds <= 3600)) {
    exitWith(new Failure(`${name} is ${process.env[name]}; it is a number from ${least} to 3600`));
  }
  delete process.env[name];
  return seconds;
}
