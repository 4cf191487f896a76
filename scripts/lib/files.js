import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.js';

/**
 * Every file under a folder, sorted, without the files that git ignores: those that are installed or built.
 *
 * @param {string} folder relative to the root; a missing one has no files
 * @returns {string[]} relative to the root
 */
export function files(folder) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', folder];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return [
    ...new Set(listed.split('\0').filter((path) => path && existsSync(join(root, path)))),
  ].sort();
}
