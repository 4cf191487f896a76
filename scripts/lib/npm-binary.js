import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { projectCache } from './paths.js';

const installing = new Map();

/**
 * Installs a program from npm into the project's cache: a package that holds a binary for this machine, and of which
 * nothing is run at installation. Without a network, what an earlier run has installed is as good.
 *
 * @param {object} what
 * @param {string} what.name of the package
 * @param {string} what.tag version or tag
 * @param {string} what.folder in the cache
 * @param {string} what.path of the binary in the package
 * @param {import('./steps.js').Quiet} quiet
 * @returns {Promise<{ path: string, version: string } | null>} `version` is what it prints; null when it cannot be had
 */
export async function npmBinary({ name, tag, folder, path }, quiet) {
  const prefix = join(projectCache, folder);
  const args = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  const install = () =>
    quiet('npm', ['install', '--prefix', prefix, ...args, `${name}@${tag}`]).catch(() => {});
  if (!installing.has(folder)) installing.set(folder, install());
  await installing.get(folder);
  const binary = join(prefix, 'node_modules', name, path);
  const version = versionOf(binary);
  return version === null ? null : { path: binary, version };
}

function versionOf(binary) {
  try {
    return execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}
