/** Packages of Debian 13, whatever Debian the machine has: fetched, unpacked into the project's cache, and not installed. */
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectCache } from './paths.js';
import { Skip } from './steps.js';

const key = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Unpacks a package without its dependencies, unless it is there.
 *
 * @param {string} name
 * @param {import('./steps.js').Quiet} quiet
 * @param {'amd64' | 'arm64'} [processor]
 * @returns {Promise<string>} the folder that represents `/`
 * @throws {Skip} if it cannot be fetched
 */
export async function debian13(name, quiet, processor = 'amd64') {
  const place = join(projectCache, 'debian13', processor);
  const folder = join(place, name);
  const unpacked = join(folder, 'root');
  if (existsSync(unpacked)) return unpacked;
  const list = join(place, 'sources.list');
  const settings = {
    'APT::Architecture': processor,
    'Dir::Etc::sourcelist': list,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(place, 'lists'),
    'Dir::Cache': join(place, 'cache'),
  };
  const own = Object.entries(settings).flatMap(([setting, value]) => ['-o', `${setting}=${value}`]);
  for (const each of ['lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(place, each), { recursive: true });
  }
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(list, `deb [signed-by=${key}] http://deb.debian.org/debian trixie main\n`);
    // Each time: the versions of an older list may be gone.
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
