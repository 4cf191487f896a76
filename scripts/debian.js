/**
 * What a stranger's machine may lack, from Debian packages: commands that tests and benchmarks need,
 * and libuv.
 *
 * A command is looked for on the PATH, where Debian puts it, and among the packages unpacked
 * earlier. `make test` calls `provide`, which fetches what is missing: with `apt-get install` where
 * that is allowed, otherwise by unpacking the package and its dependencies into
 * ~/.cache/millrace/debian (XDG_CACHE_HOME is respected), which needs no rights at all. A test
 * calls `find` alone, and is skipped by name when there is nothing.
 *
 *     const chromium = find('chromium');
 *     test('…', { skip: !chromium && 'needs chromium' }, …);
 */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Failure } from './lib/failure.js';
import { userCache } from './lib/paths.js';
import { unpack } from './lib/unpack.js';
import { which } from './lib/which.js';

/**
 * Debian packages: the commands that are used, and the folder where Debian keeps them; or the header of a library.
 * `parts` are packages that it has to be unpacked together with, though the system has them.
 */
const packages = {
  chromium: { commands: ['chromium'], folder: '/usr/lib/chromium' },
  postgresql: {
    commands: ['initdb', 'pg_ctl', 'postgres'],
    folder: '/usr/lib/postgresql/*/bin',
    // Installing a server starts it, at once and at every boot; unpacking does not.
    server: true,
  },
  'redis-server': { commands: ['redis-server'], folder: '/usr/bin', server: true },
  'nats-server': { commands: ['nats-server'], folder: '/usr/sbin', server: true },
  prometheus: { commands: ['prometheus', 'promtool'], folder: '/usr/bin', server: true },
  buildah: { commands: ['buildah'], folder: '/usr/bin' },
  crun: { commands: ['crun'], folder: '/usr/bin' },
  clang: { commands: ['clang'], folder: '/usr/bin', parts: ['libclang-rt-dev'] },
  'pkg-config': { commands: ['pkg-config'], folder: '/usr/bin' },
  // Its libuv.so is a link to a file of libuv1.
  'libuv1-dev': { header: 'uv.h', parts: ['libuv1'] },
};

/**
 * The path of a command, or undefined when it is not on this machine.
 *
 * @param {string} command one that a package above lists
 * @returns {string | undefined}
 */
export function find(command) {
  const name = Object.keys(packages).find((each) => packages[each].commands?.includes(command));
  if (!name) throw new Failure(`scripts/debian.js lists no package with ${command}`);
  return which(command, [...expand(packages[name].folder), join(unpacked(name), 'bin')]);
}

/**
 * The folder whose `include` has the header of a library, or undefined when it is not on this machine.
 *
 * @param {string} name of the package
 * @returns {string | undefined}
 */
export function prefix(name) {
  const own = (process.env.CMAKE_PREFIX_PATH ?? '').split(delimiter).filter(Boolean);
  const usual = ['/usr', '/usr/local', '/opt/homebrew', join(unpacked(name), 'root/usr')];
  return [...own, ...usual].find((each) =>
    existsSync(join(each, 'include', packages[name].header)),
  );
}

/**
 * Fetches a package unless all of its commands, or its header, are there.
 *
 * @param {string} name of the package
 * @param {import('./lib/steps.js').Quiet} quiet
 * @throws {Failure} when it cannot be had on this machine
 */
export async function provide(name, quiet) {
  const { commands, server } = packages[name];
  const complete = () => (commands ? commands.every(find) : prefix(name) !== undefined);
  if (complete()) return;
  if (process.getuid() === 0 && !server) await install(name, quiet).catch(() => {});
  if (complete()) return;
  await unpack(name, unpacked(name), packages[name], quiet).catch(() => {});
  if (!complete()) throw new Failure(`it could not be fetched; on Debian: apt-get install ${name}`);
}

async function install(name, quiet) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { parts = [] } = packages[name];
  const args = ['install', '--yes', '--no-install-recommends', name, ...parts];
  try {
    await quiet('apt-get', args, { env });
  } catch {
    // The package lists are missing or older than the archive.
    await quiet('apt-get', ['update'], { env });
    await quiet('apt-get', args, { env });
  }
}

const unpacked = (name) => join(userCache, 'debian', name);

/** Expands the one `*` of a path, the newest version first. */
function expand(pattern) {
  const [before, after] = pattern.split('*');
  if (after === undefined) return [pattern];
  try {
    const versions = readdirSync(before).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(before, version, after));
  } catch {
    return [];
  }
}
