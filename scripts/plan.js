/** What `make test`, `make check-all` and `make test-matrix` do, in order. A new step is a new line here. */

import { addon, sanitizedSuite } from './lib/addon.js';
import { ctestStep, variant } from './lib/cmake.js';
import { command } from './lib/command.js';
import { generatorBuild } from './lib/generator.js';
import { goChecks, goFuzz, goPackages, goPlatforms, goTests } from './lib/go.js';
import { labApps } from './lib/lab-apps.js';
import { provision } from './lib/provision.js';
import { repository } from './lib/repository.js';
import { generator, millrace, packages, tools } from './lib/setup.js';
import { uvbatch, uvbatchBuild, uvbatchFuzz, uvbatchProject, uvbatchTests } from './lib/uvbatch.js';
import { workflows } from './lib/workflows.js';
import {
  addonFree,
  beside,
  fuzzSeconds,
  longSuites,
  releases,
  suites,
  withAddon,
} from './suites.js';

const ring = { source: 'packages/millrace/addon/test', compiler: 'cc' };

export const testSteps = [
  tools('git', 'make', 'cmake', 'cc', 'python3', 'go'),
  [
    [
      packages(),
      millrace,
      addon,
      command('format and lint', 'node_modules/.bin/biome ci --colors=off --error-on-warnings'),
      command(
        'types as users see them',
        'node_modules/.bin/tsc --noEmit -p packages/tsconfig.types.json',
      ),
    ],
    [
      generator,
      uvbatch,
      provision(['chromium', 'nats-server', 'postgresql', 'prometheus', 'redis-server']),
    ],
    [goPackages, goChecks(['go', 'go/goja'])],
  ],
  repository(
    [...suites, ...beside.flat(), ...longSuites].flatMap((step) => step.folders ?? step.folder),
  ),
  ctestStep('tests of the generator', 'packages/lab/load/build'),
  variant({ ...ring, title: 'tests of the ring', name: 'ring', flags: '-O2 -g' }),
  uvbatchBuild(
    {
      title: 'libuvbatch, the newest libuv',
      name: 'uvbatch-newest',
      compiler: 'cc',
      flags: '-O1 -g',
    },
    { newest: true },
  ),
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
  uvbatchBuild(
    {
      title: 'libuvbatch, the newest libuv, ASan and UBSan',
      name: 'uvbatch-newest-asan',
      compiler: 'cc',
      flags: '-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all',
    },
    { newest: true },
  ),
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
  sanitizedSuite({
    title: 'long tests of millrace, addon under ASan',
    ...withAddon,
    first: [],
    long: true,
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
  packages('packages/millrace/test-peers/auto'),
  ...labApps,
  ...longSuites,
];
