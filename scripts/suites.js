/** What `make test`, `make check-all` and `make test-matrix` do, in order. A new step is a new line here. */

import { addon, sanitizedSuite } from './lib/addon.js';
import { ctestStep, variant } from './lib/cmake.js';
import { command } from './lib/command.js';
import { exitWith, Failure } from './lib/failure.js';
import { generatorBuild } from './lib/generator.js';
import { goChecks, goFuzz, goPackages, goPlatforms, goTests } from './lib/go.js';
import { provision } from './lib/provision.js';
import { suiteOn } from './lib/releases.js';
import { repository } from './lib/repository.js';
import { programOn } from './lib/runtimes.js';
import { generator, millrace, packages, tools } from './lib/setup.js';
import { suite } from './lib/suite.js';
import { uvbatch, uvbatchBuild, uvbatchFuzz, uvbatchProject, uvbatchTests } from './lib/uvbatch.js';
import { workflows } from './lib/workflows.js';

const fuzzSeconds = secondsOf('FUZZ_SECONDS', 60, 1);
const soakSeconds = secondsOf('SOAK_SECONDS', 120, 10);

/**
 * The tests of millrace, on each path. A missing addon is an error, and not another run in JavaScript. They start processes
 * and wait for them more than they compute.
 */
const withAddon = {
  folder: 'node/test',
  concurrency: 5,
  first: [
    'auto/features',
    'cli/run',
    'auto/quiet',
    'auto/ways',
    'cli/dashboard',
    'auto/settings',
    'ws/fleet/durable',
    'native/load',
    'dashboard/page',
    'cluster/drain',
    'monitor/block',
    'cluster/reload',
    'pool/durable/cli',
    'pool/piscina-api',
    'pool/lifecycle',
    'conformance/differential',
  ].map((name) => `node/test/${name}.test.js`),
  env: { MILLRACE_NATIVE: '1' },
};
/** They ask nothing of the addon; the last two do so only where rooms and sockets of one machine do, too. */
const addonFree = [
  'batch',
  'broker',
  'cli',
  'cluster',
  'conformance',
  'core',
  'dashboard',
  'emitter',
  'guard',
  'metrics',
  'monitor',
  'observe',
  'pool',
  'ws/fleet',
  'ws/socket-io-cluster',
].map((name) => `node/test/${name}`);
/** They have no test without it. */
const addonOnly = [
  'net/enlarge-size',
  'threads/close',
  'threads/delivery',
  'threads/process',
  'threads/worker',
].map((name) => `node/test/${name}.test.js`);
const inJavaScript = {
  ...withAddon,
  without: [...addonFree, ...addonOnly],
  env: { MILLRACE_NATIVE: '0' },
};

const suites = [
  suite({ title: 'millrace with the addon', ...withAddon }),
  suite({
    title: 'millrace in JavaScript',
    ...inJavaScript,
    // With the long tests: it starts many processes.
    without: [...inJavaScript.without, 'node/test/auto'],
  }),
  suite({
    title: 'tests of the lab',
    folder: 'lab',
    // They wait for servers and clocks more than they compute.
    concurrency: 5,
    first: [
      'experiment/test/run',
      'experiment/test/main',
      'run/test/demo',
      'load/test/generator',
      'experiment/test/adhoc',
      'experiment/test/measure',
      'load/test/driver',
      'report/test/render',
    ].map((name) => `lab/${name}.test.js`),
  }),
  suite({
    title: 'tests of the chat',
    folder: 'examples/chat/test',
    concurrency: 4,
  }),
  suite({ title: 'tests of the scripts', folder: 'scripts/test' }),
  suite({ title: 'tests of the overload', folder: 'examples/overload/test', concurrency: 2 }),
  suite({ title: 'tests of the compute', folder: 'examples/compute/test', concurrency: 3 }),
];

/** They install, compile and start programs, and do not mind a busy machine: each list beside the others. */
const beside = [
  [
    suite({ title: 'tests of the docs', folder: 'docs/test', concurrency: 2 }),
    suite({ title: 'tests of the deployment', folder: 'deploy/test', concurrency: 2 }),
  ],
  [suite({ title: 'tests of the package', folder: 'node/test-package' })],
  [
    uvbatchTests('tests of libuvbatch'),
    ...['go', 'go/goja'].map((folder) => goTests({ title: `tests of ${folder}`, folder })),
  ],
];

const ring = { source: 'node/addon/test', compiler: 'cc' };

const releases = [
  ...['20', '22', '24', 'latest'].flatMap((release) => [
    suiteOn(release, { path: 'addon', ...withAddon }),
    suiteOn(release, { path: 'JavaScript', ...inJavaScript }),
  ]),
  programOn('Bun', 'node/test/runtimes/smoke.js'),
  programOn('Deno', 'node/test/runtimes/smoke.js'),
];

const longSuites = [
  suite({
    title: 'long tests of millrace',
    ...withAddon,
    first: [],
    long: true,
    env: { ...withAddon.env, FUZZ_SECONDS: String(fuzzSeconds / 10) },
    extraSeconds: fuzzSeconds,
  }),
  suite({ title: 'long tests in JavaScript', ...inJavaScript, first: [], long: true }),
  suite({
    title: 'long tests of the lab',
    folder: 'lab',
    long: true,
    without: ['lab/soak', 'lab/experiment/truth'],
    concurrency: 3,
  }),
  suite({ title: 'long tests of the chat', folder: 'examples/chat/test', long: true }),
  suite({ title: 'long tests of the overload', folder: 'examples/overload/test', long: true }),
  suite({
    // One sends a gigabyte.
    title: 'long tests of the compute',
    folder: 'examples/compute/test',
    long: true,
    extraSeconds: 300,
  }),
  suite({ title: 'long tests of the docs', folder: 'docs/test', long: true }),
  suite({ title: 'long tests of the package', folder: 'node/test-package', long: true }),
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
    title: 'fuzz of the broker',
    folder: 'node/test/broker',
    env: { FUZZ_SECONDS: String(fuzzSeconds / 5) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'auto, in JavaScript',
    folder: 'node/test/auto',
    concurrency: 3,
    env: { MILLRACE_NATIVE: '0' },
  }),
  suite({
    title: 'rooms across machines, in JavaScript',
    folder: 'node/test/ws/fleet',
    concurrency: 2,
    env: { MILLRACE_NATIVE: '0' },
  }),
  suite({ title: 'images and containers', folder: 'deploy/test-image', extraSeconds: 900 }),
  suite({
    title: 'behaviours of @fastify/under-pressure and piscina',
    folder: 'node/test-peers',
    without: ['node/test-peers/auto'],
  }),
  suite({
    title: 'tests of packages under auto',
    folder: 'node/test-peers/auto',
    extraSeconds: 300,
  }),
  suite({
    title: 'fuzz of the guard',
    folder: 'node/test/guard/faults',
    env: { FUZZ_SECONDS: String(fuzzSeconds / 5) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'fuzz of the pool',
    folder: 'node/test/pool',
    env: { FUZZ_SECONDS: String(fuzzSeconds / 10) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'the lab against known truths',
    folder: 'lab/experiment/truth',
    long: true,
    extraSeconds: 400,
  }),
  goTests({ title: 'tests of bench/go', folder: 'bench/go' }),
  goTests({
    title: 'Go on one processor and four',
    folder: 'go',
    args: ['-cpu=1,4', '-count=3'],
    timeout: 900,
  }),
  goTests({
    title: 'go/goja, one and four',
    folder: 'go/goja',
    args: ['-cpu=1,4', '-count=3'],
    timeout: 900,
  }),
  suite({
    title: `soaks of the chat for ${soakSeconds} s`,
    folder: 'lab/soak',
    long: true,
    env: { SOAK_SECONDS: String(soakSeconds) },
    // There are two, and a busy machine needs longer for what faults interrupt.
    extraSeconds: 5 * soakSeconds,
  }),
];

export const testSteps = [
  tools('git', 'make', 'cmake', 'cc', 'python3', 'go'),
  [
    [
      packages(),
      millrace,
      addon,
      command('format and lint', 'node_modules/.bin/biome ci --colors=off --error-on-warnings'),
      command('types as users see them', 'node_modules/.bin/tsc --noEmit -p node/test-types'),
    ],
    [
      generator,
      uvbatch,
      provision(['chromium', 'nats-server', 'postgresql', 'prometheus', 'redis-server']),
    ],
    [goPackages, goChecks(['go', 'go/goja'])],
  ],
  repository([...suites, ...beside.flat(), ...longSuites].map(({ folder }) => folder)),
  ctestStep('tests of the generator', 'lab/load/build'),
  variant({ ...ring, title: 'tests of the ring', name: 'ring', flags: '-O2 -g' }),
  uvbatchProject('tests of the streaming', 'examples/streaming'),
  ...suites,
  beside,
];

export const matrixSteps = [
  tools('make', 'cc', 'python3'),
  packages(),
  millrace,
  // Built once, with this Node.js: it has to load in all the others.
  addon,
  ...releases,
];

export const longSteps = [
  provision(['clang', 'buildah', 'crun']),
  goChecks(['bench/go']),
  goPlatforms({
    title: 'Go and its tests elsewhere',
    folder: 'go',
    // freebsd/386 is 32 bits, kqueue and no assembler, in one.
    platforms: [
      ...['darwin/arm64', 'freebsd/amd64', 'freebsd/386', 'windows/amd64', 'linux/arm64'],
      'linux/386',
    ],
    verb: 'vet',
  }),
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
  uvbatchBuild({
    title: 'libuvbatch, ASan and UBSan',
    name: 'uvbatch-asan',
    compiler: 'cc',
    flags: '-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all',
  }),
  uvbatchBuild({
    title: 'libuvbatch, TSan',
    name: 'uvbatch-tsan',
    compiler: 'cc',
    flags: '-O1 -g -fsanitize=thread',
  }),
  uvbatchBuild({
    title: 'libuvbatch, clang and UBSan',
    name: 'uvbatch-clang',
    compiler: 'clang',
    flags: '-O1 -g -fsanitize=undefined -fsanitize-trap=undefined',
  }),
  variant({
    ...ring,
    title: 'ring, TSan',
    name: 'ring-tsan',
    flags: '-O1 -g -fsanitize=thread',
  }),
  variant({
    ...ring,
    title: 'ring, ASan and UBSan',
    name: 'ring-asan',
    flags: '-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all',
  }),
  sanitizedSuite({
    title: 'millrace, addon under ASan',
    ...withAddon,
    without: addonFree,
  }),
  uvbatchTests('long tests of libuvbatch', {
    env: { HAMMER_EVENTS: '50000000', FUZZ_SECONDS: String(fuzzSeconds / 5) },
    seconds: fuzzSeconds / 5 + 300,
    args: ['--tests-regex', '^post_test|^differential'],
  }),
  uvbatchFuzz(Math.ceil(fuzzSeconds / 5)),
  goFuzz({ folder: 'go', seconds: fuzzSeconds }),
  goTests({
    title: '100 million tasks in Go',
    folder: 'go',
    race: false,
    run: 'Million',
    env: { MILLRACE_TASKS: '100000000' },
    timeout: 900,
  }),
  goTests({
    title: 'goja from a module proxy',
    folder: 'go',
    race: false,
    run: 'ModuleOfGoja',
    env: { MILLRACE_COMPILE_GOJA: '1' },
    timeout: 600,
  }),
  workflows,
  ...releases,
  packages('node/test-peers/auto'),
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
