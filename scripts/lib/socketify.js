/** Installs socketify, uWebSockets compiled for Python, as a peer of a benchmark. It comes from PyPI, as uWebSockets is not on npm. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectCache } from './paths.js';
import { Skip } from './steps.js';

export const version = '0.0.31';

/** Folder for PYTHONPATH. */
export const folder = join(projectCache, `socketify-${version}`);

/** @type {import('./steps.js').Step} */
export const socketify = {
  title: 'uWebSockets by socketify',
  run: async (quiet) => {
    if (existsSync(folder)) return 'unchanged';
    const fresh = `${folder}.new`;
    rmSync(fresh, { recursive: true, force: true });
    const pip = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check'];
    await quiet('python3', [...pip, '--target', fresh, `socketify==${version}`]).catch(() => {
      throw new Skip('pip of Python 3 could not install socketify; the benchmark leaves it out');
    });
    renameSync(fresh, folder);
  },
};
