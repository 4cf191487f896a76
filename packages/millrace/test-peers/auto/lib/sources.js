/**
 * Folders of packages with their tests. npm gives the code. If its package comes without the tests, they are taken from Debian's source
 * package and put beside the code; the tests of Node.js itself have a folder of their own. Debian's archives come from the mirror that
 * apt uses here, and are pinned by their hashes: which release of Debian this is does not matter. They are kept in the cache of the user.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { userCache } from '../../../../../scripts/lib/paths.js';

const modules = join(import.meta.dirname, '../node_modules');
const archives = join(userCache, 'sources');
const helper = '/usr/lib/apt/apt-helper';
/** For an archive; the largest has 20 MB. */
const longestMs = 300_000;

/**
 * @param {object} source
 * @param {string} [source.package] folder of the package in node_modules
 * @param {string} [source.checkout] folder of a checkout with its dependencies, in the folder that SUITES names, in place of the package
 * @param {{ path: string, sha256: string, take?: string }} [source.debian] an archive: its path on a mirror of Debian, its hash, and the
 *   folder to take, default test
 * @returns {string} the folder with the code and the tests
 * @throws when the archive cannot be had
 */
export function folderOf({ package: name, checkout, debian }) {
  if (checkout) return join(process.env.SUITES, checkout);
  if (!debian) return join(modules, name);
  const { take = 'test', sha256 } = debian;
  const folder = name ? join(modules, name) : join(archives, sha256);
  const mark = join(folder, `.tests-${sha256}`);
  if (existsSync(mark)) return folder;
  const partial = `${folder}.${process.pid}.partial`;
  mkdirSync(partial, { recursive: true });
  mkdirSync(folder, { recursive: true });
  try {
    const patterns = ['--anchored', '--no-wildcards-match-slash', '--wildcards', `*/${take}`];
    const args = ['-xf', archiveOf(debian), '-C', partial, '--strip-components=1', ...patterns];
    execFileSync('tar', args, { stdio: 'pipe' });
    rmSync(join(folder, take), { recursive: true, force: true });
    renameSync(join(partial, take), join(folder, take));
    writeFileSync(mark, '');
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
}

function archiveOf({ path, sha256 }) {
  const archive = join(archives, basename(path));
  if (existsSync(archive) && hashOf(archive) === sha256) return archive;
  mkdirSync(archives, { recursive: true });
  const partial = `${archive}.${process.pid}.partial`;
  try {
    for (const mirror of mirrors()) {
      try {
        const args = ['download-file', new URL(path, mirror).href, partial, `SHA256:${sha256}`];
        execFileSync(helper, args, { stdio: 'pipe', timeout: longestMs });
        renameSync(partial, archive);
        return archive;
      } catch {
        // The next one may have it.
      }
    }
    throw new Error(`${basename(path)} is on none of the mirrors that apt uses here`);
  } finally {
    rmSync(partial, { force: true });
  }
}

function mirrors() {
  if (!existsSync(helper)) return [];
  const args = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'];
  return new Set(execFileSync('apt-get', args, { encoding: 'utf8' }).split('\n').filter(Boolean));
}

const hashOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');
