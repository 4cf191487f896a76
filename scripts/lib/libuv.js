/** A newer libuv than the one that Debian has, for the tests of libuvbatch. */
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { build } from './cmake.js';
import { userCache } from './paths.js';
import { which } from './which.js';

/** The crate of Rust that carries its sources, unchanged; and the release of libuv that is in it. */
const crate = { name: 'libuv-sys2', version: '1.53.1' };
const libuvVersion = '1.53.0';

const folder = join(userCache, `libuv-${libuvVersion}`);

/**
 * Builds libuv, once, and keeps it.
 *
 * @param {import('./steps.js').Quiet} quiet
 * @returns {Promise<string | undefined>} the folder that it is installed in; undefined: its sources cannot be had here
 */
export async function newestLibuv(quiet) {
  const installed = join(folder, 'installed');
  if (existsSync(join(installed, 'include/uv.h'))) return installed;
  if (!which('cargo')) return undefined;
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  try {
    // It downloads the crate alone, without what that depends on, into cargo's own folder.
    const fetched = await quiet('cargo', ['info', `${crate.name}@${crate.version}`]).catch(
      (error) => error,
    );
    if (fetched instanceof Error) return undefined;
    cpSync(sources(), join(partial, 'source'), { recursive: true });
    await build(
      {
        source: join(partial, 'source'),
        folder: join(partial, 'build'),
        settings: {
          BUILD_TESTING: 'OFF',
          CMAKE_BUILD_TYPE: 'RelWithDebInfo',
          CMAKE_INSTALL_PREFIX: join(partial, 'installed'),
          CMAKE_INSTALL_LIBDIR: 'lib',
        },
        target: 'install',
      },
      quiet,
    );
    rmSync(join(partial, 'build'), { recursive: true });
    rmSync(join(partial, 'source'), { recursive: true });
    renameSync(partial, folder);
    return installed;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Where cargo has put the sources of the crate: each registry has a folder. */
function sources() {
  const registries = join(process.env.CARGO_HOME || join(homedir(), '.cargo'), 'registry/src');
  const found = readdirSync(registries)
    .map((registry) => join(registries, registry, `${crate.name}-${crate.version}`, 'libuv'))
    .find(existsSync);
  if (!found) throw new Error(`cargo left no sources of ${crate.name} in ${registries}`);
  return found;
}
