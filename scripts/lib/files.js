import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.js';

/** Folders of what is installed or built. */
const MADE = ['node_modules', 'dist', 'build', '.cache'];

/**
 * Every file under a folder, sorted, without what is installed or built.
 *
 * @param {string} folder relative to the root; a missing one has no files
 * @returns {string[]} relative to the root
 */
export function files(folder) {
  return entries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return MADE.includes(entry.name) ? [] : files(path);
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
    .flatMap(({ name }) => {
      const path = join(folder, name);
      return MADE.includes(name) ? [path] : madeFolders(path);
    });
}

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
