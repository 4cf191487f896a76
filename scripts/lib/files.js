import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from './paths.js';

/** Folders of what is installed or built, wherever they are; and those that have one place. */
const MADE = ['node_modules', 'dist', 'build', '.cache'];
const MADE_PATHS = [
  'packages/lab/types',
  'packages/millrace/deps',
  'packages/millrace/prebuilds',
].map((path) => join(path));

/**
 * Every file under a folder, sorted, without what is installed or built.
 *
 * @param {string} folder relative to the root; a missing one has no files
 * @returns {string[]} relative to the root
 */
export function files(folder) {
  return entries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return isMade(path) ? [] : files(path);
    return entry.isFile() ? [path] : [];
  });
}

/**
 * The outermost folders of what is installed or built.
 *
 * @param {string} folder relative to the root
 * @returns {string[]} relative to the root
 */
export function madeFolders(folder) {
  return entries(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .flatMap((path) => (isMade(path) ? [path] : madeFolders(path)));
}

const isMade = (path) => MADE.includes(basename(path)) || MADE_PATHS.includes(path);

function entries(folder) {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true })
      .filter(({ name }) => name !== '.git')
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
