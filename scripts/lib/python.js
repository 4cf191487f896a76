/** Installs Python packages into the project's cache; the system's Python is unchanged. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectCache } from './paths.js';
import { Skip } from './steps.js';

/** Returns the folder of packages with their versions, for PYTHONPATH. */
export const pythonFolder = (names, options = []) =>
  join(projectCache, 'python', [...names, ...options].join('+').replace(/==|[^\w.+-]/g, '-'));

/**
 * Unpacks packages and their dependencies, unless they are there.
 *
 * @param {string[]} names with their versions
 * @param {import('./steps.js').Quiet} quiet
 * @param {string[]} [options] of pip
 * @returns {Promise<string>} the folder, for PYTHONPATH
 * @throws {Skip} if they cannot be fetched
 */
export async function pythonPackages(names, quiet, options = []) {
  const folder = pythonFolder(names, options);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}`;
  const args = ['-m', 'pip', 'install', '--quiet', '--target', partial];
  try {
    await quiet('python3', [...args, ...options, ...names]);
  } catch {
    rmSync(partial, { recursive: true, force: true });
    throw new Skip(`pip could not fetch ${names.join(' and ')}`);
  }
  renameSync(partial, folder);
  return folder;
}
