/** Installs socketify, uWebSockets compiled for Python, as a peer of a benchmark. It comes from PyPI, as uWebSockets is not on npm. */
import { existsSync } from 'node:fs';
import { pythonFolder, pythonPackages } from './python.js';

export const version = '0.0.31';

const names = [`socketify==${version}`];

/** Folder for PYTHONPATH. */
export const folder = pythonFolder(names);

/** @type {import('./steps.js').Step} */
export const socketify = {
  title: 'uWebSockets by socketify',
  run: async (quiet) => {
    if (existsSync(folder)) return 'unchanged';
    await pythonPackages(names, quiet);
  },
};
