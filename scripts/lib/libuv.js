/** A newer libuv than the one that Debian has, for the tests of libuvbatch. */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { userCache } from './paths.js';
import { Skip } from './steps.js';

/** The crate of Rust that carries its unchanged sources. */
const CRATE = 'libuv-sys2@1.53.1';

/**
 * Builds libuv, once, and keeps it.
 *
 * @param {import('./steps.js').Quiet} quiet
 * @param {{ name: string, args: string[] }} [other] another platform than this machine's, and the arguments of CMake for it
 * @returns {Promise<string>} the folder that it is installed in
 * @throws {Skip} if its sources cannot be fetched
 */
export async function newestLibuv(quiet, { name = '', args: given = [] } = {}) {
  const folder = join(userCache, CRATE, name);
  const installed = join(folder, 'installed');
  if (existsSync(join(installed, 'lib/libuv.a'))) return installed;
  // Cargo downloads the crate alone, without what it depends on, into a folder of its own.
  await quiet('cargo', ['info', CRATE]).catch(() => {
    throw new Skip('the sources of the newest libuv come by cargo 1.82 or newer');
  });
  const settings = {
    BUILD_TESTING: 'OFF',
    CMAKE_BUILD_TYPE: 'RelWithDebInfo',
    CMAKE_INSTALL_PREFIX: installed,
    CMAKE_INSTALL_LIBDIR: 'lib',
    LIBUV_BUILD_SHARED: name === '' ? 'ON' : 'OFF',
  };
  const args = Object.entries(settings).map(([setting, value]) => `-D${setting}=${value}`);
  const build = join(folder, 'build');
  await quiet('cmake', ['-S', sources(), '-B', build, ...args, ...given]);
  await quiet('cmake', ['--build', build, '--parallel', '2', '--target', 'install']);
  return installed;
}

/** Finds the sources. Each registry has a folder in that of cargo. */
function sources() {
  const registries = join(process.env.CARGO_HOME || join(homedir(), '.cargo'), 'registry/src');
  const place = join(CRATE.replace('@', '-'), 'libuv');
  return readdirSync(registries)
    .map((registry) => join(registries, registry, place))
    .find(existsSync);
}
