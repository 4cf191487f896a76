/** The suites of tests: where they are, which begin first, and which run beside each other. A new folder of tests is a new line here. */

import { exitWith, Failure } from './lib/failure.js';
import { goTests } from './lib/go.js';
import { published } from './lib/packed.js';
import { typed } from './lib/paths.js';
import { suiteOn } from './lib/releases.js';
import { programOn } from './lib/runtimes.js';
import { suite } from './lib/suite.js';
import { uvbatchTests } from './lib/uvbatch.js';

export const fuzzSeconds = secondsOf('FUZZ_SECONDS', 60, 1);
const soakSeconds = secondsOf('SOAK_SECONDS', 120, 10);

/**
 * Their tests, on each path. A missing addon is an error, and not another run in JavaScript. They start processes and wait
 * for them more than they compute.
 */
export const withAddon = {
  folders: typed.map((name) => `packages/${name}/test`),
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
/** They ask nothing of the addon; those of nats do so only where rooms and sockets of one machine do, too. */
export const addonFree = [
  ...typed.filter((name) => name !== 'millrace').map((name) => `packages/${name}/test`),
  ...['batch', 'conformance', 'emitter', 'engine', 'tools'].map(
    (name) => `packages/millrace/test/${name}`,
  ),
];
/** They have no test without it. */
const addonOnly = [
  'native/file-calls',
  'net/enlarge-size',
  'threads/close',
  'threads/delivery',
  'threads/process',
  'threads/worker',
].map((name) => `packages/millrace/test/${name}.test.js`);
const inJavaScript = {
  ...withAddon,
  without: [...addonFree, ...addonOnly],
  env: { MILLRACE_NATIVE: '0' },
};

export const suites = [
  suite({ title: 'the packages, with the addon', ...withAddon }),
  suite({
    title: 'millrace in JavaScript',
    ...inJavaScript,
    // With the long tests: it starts many processes.
    without: [...inJavaScript.without, 'packages/millrace/test/auto'],
  }),
  suite({
    title: 'tests of the lab',
    folders: ['packages/lab'],
    without: ['packages/lab/test-package'],
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
    ].map((name) => `packages/lab/${name}.test.js`),
  }),
  suite({ title: 'tests of the benchmarks', folders: ['bench'] }),
  suite({
    title: 'tests of the chat',
    folders: ['examples/chat/test', 'examples/chat/soak/test'],
    concurrency: 4,
  }),
  suite({ title: 'tests of the scripts', folders: ['scripts/test'] }),
  suite({ title: 'tests of the cursors', folders: ['examples/cursors/test'] }),
  suite({ title: 'tests of the overload', folders: ['examples/overload/test'], concurrency: 2 }),
  suite({ title: 'tests of the compute', folders: ['examples/compute/test'], concurrency: 3 }),
];

/** Packed, installed and bundled. The first that runs packs for all. */
const asPublished = published.map((name) => `packages/${name}/test-package`);

/** They install, compile and start programs, and do not mind a busy machine: each list beside the others. */
export const beside = [
  [
    suite({ title: 'tests of the docs', folders: ['docs/test'], concurrency: 2 }),
    suite({
      title: 'tests of the deployment',
      folders: ['deploy/test', 'deploy/scaler/test'],
      concurrency: 2,
    }),
  ],
  [suite({ title: 'tests of the npm packages', folders: asPublished })],
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
  programOn('Bun', 'packages/millrace/test/runtimes/smoke.js'),
  programOn('Deno', 'packages/millrace/test/runtimes/smoke.js'),
];

export const longSuites = [
  suite({
    title: 'long tests of the packages',
    ...withAddon,
    first: [],
    long: true,
    env: { ...withAddon.env, FUZZ_SECONDS: String(fuzzSeconds / 10) },
    extraSeconds: fuzzSeconds,
  }),
  suite({ title: 'long tests in JavaScript', ...inJavaScript, first: [], long: true }),
  suite({
    title: 'long tests of the lab',
    folders: ['packages/lab'],
    long: true,
    without: ['packages/lab/experiment/truth'],
    concurrency: 3,
  }),
  suite({
    title: 'long tests of the benchmarks',
    folders: ['bench'],
    long: true,
    concurrency: 3,
  }),
  suite({ title: 'long tests of the chat', folders: ['examples/chat/test'], long: true }),
  suite({ title: 'long tests of the cursors', folders: ['examples/cursors/test'], long: true }),
  suite({ title: 'long tests of the overload', folders: ['examples/overload/test'], long: true }),
  suite({
    // One sends a gigabyte.
    title: 'long tests of the compute',
    folders: ['examples/compute/test'],
    long: true,
    extraSeconds: 300,
  }),
  suite({ title: 'long tests of the docs', folders: ['docs/test'], long: true }),
  suite({ title: 'long tests of the npm packages', folders: asPublished, long: true }),
  suite({
    title: `fuzz for ${fuzzSeconds} s`,
    folders: ['packages/millrace/test/conformance'],
    env: { FUZZ_SECONDS: String(fuzzSeconds) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'fuzz of the engine',
    folders: ['packages/base/test', 'packages/millrace/test/engine'],
    // How long each of its random tests takes.
    env: { FUZZ_SECONDS: String(fuzzSeconds / 5) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'fuzz of nats',
    folders: ['packages/nats/test'],
    env: { FUZZ_SECONDS: String(fuzzSeconds / 5) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'auto, in JavaScript',
    folders: ['packages/millrace/test/auto'],
    concurrency: 3,
    env: { MILLRACE_NATIVE: '0' },
  }),
  suite({
    title: 'rooms across machines, in JavaScript',
    folders: ['packages/nats/test/rooms'],
    concurrency: 2,
    env: { MILLRACE_NATIVE: '0' },
  }),
  suite({ title: 'images and containers', folders: ['deploy/test-image'], extraSeconds: 900 }),
  suite({
    title: 'behaviours of @fastify/under-pressure and piscina',
    folders: ['packages/guard/test-peers', 'packages/pool/test-peers'],
  }),
  suite({
    title: 'tests of packages under auto',
    folders: ['packages/millrace/test-peers/auto'],
    // About 2,000 processes for the tests of Node.js alone.
    extraSeconds: 1800,
  }),
  suite({
    title: 'fuzz of the guard',
    folders: ['packages/guard/test/faults'],
    env: { FUZZ_SECONDS: String(fuzzSeconds / 5) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'fuzz of the pool',
    folders: ['packages/pool/test'],
    env: { FUZZ_SECONDS: String(fuzzSeconds / 10) },
    extraSeconds: fuzzSeconds,
  }),
  suite({
    title: 'the lab against known truths',
    folders: ['packages/lab/experiment/truth'],
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
    folders: ['examples/chat/soak'],
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
