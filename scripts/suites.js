/** The suites of tests: where they are, which begin first, and which run beside each other. A new folder of tests is a new line here. */

import { exitWith, Failure } from './lib/failure.js';
import { goTests } from './lib/go.js';
import { suiteOn } from './lib/releases.js';
import { programOn } from './lib/runtimes.js';
import { suite } from './lib/suite.js';
import { uvbatchTests } from './lib/uvbatch.js';

export const fuzzSeconds = secondsOf('FUZZ_SECONDS', 60, 1);
const soakSeconds = secondsOf('SOAK_SECONDS', 120, 10);

/**
 * The tests of millrace, on each path. A missing addon is an error, and not another run in JavaScript. They start processes
 * and wait for them more than they compute.
 */
export const withAddon = {
  folder: 'node/test',
  concurrency: 5,
  first: [
    'auto/features',
    'cli/run',
    'auto/quiet',
    'auto/ways',
    'cli/dashboard',
    'auto/settings',
    'nats/rooms/durable',
    'native/load',
    'dashboard/page',
    'cluster/drain',
    'monitor/block',
    'cluster/reload',
    'nats/tasks/cli',
    'pool/piscina-api',
    'pool/lifecycle',
    'conformance/differential',
  ].map((name) => `node/test/${name}.test.js`),
  env: { MILLRACE_NATIVE: '1' },
};
/** They ask nothing of the addon; those of nats do so only where rooms and sockets of one machine do, too. */
export const addonFree = [
  'batch',
  'cli',
  'cluster',
  'conformance',
  'core',
  'dashboard',
  'emitter',
  'engine',
  'guard',
  'metrics',
  'monitor',
  'nats',
  'observe',
  'pool',
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

export const suites = [
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
  suite({ title: 'tests of the benchmarks', folder: 'bench' }),
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
export const beside = [
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

export const releases = [
  ...['20', '22', '24', 'latest'].flatMap((release) => [
    suiteOn(release, { path: 'addon', ...withAddon }),
    suiteOn(release, { path: 'JavaScript', ...inJavaScript }),
  ]),
  programOn('Bun', 'node/test/runtimes/smoke.js'),
  programOn('Deno', 'node/test/runtimes/smoke.js'),
];

export const longSuites = [
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
    title: 'fuzz of the engine',
    folder: 'node/test/engine',
    // How long each of its random tests takes.
    env: { FUZZ_SECONDS: String(fuzzSeconds / 5) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'fuzz of nats',
    folder: 'node/test/nats',
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
    folder: 'node/test/nats/rooms',
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

/** Takes a setting out of the environment, so that only the steps that hand it on have it. */
function secondsOf(name, otherwise, least) {
  const seconds = Number(process.env[name] || otherwise);
  if (!(seconds >= least && seconds <= 3600)) {
    exitWith(new Failure(`${name} is ${process.env[name]}; it is a number from ${least} to 3600`));
  }
  delete process.env[name];
  return seconds;
}
