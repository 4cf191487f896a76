/**
 * The steps that make a working copy ready: check the tools, install the npm packages, build. Each
 * is passed over when nothing it reads has changed.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { root } from './paths.js';
import { whenChanged } from './stamp.js';
import { checkTools } from './tools.js';

/**
 * @param {string[]} names of the tools that the target needs besides Node.js and npm
 * @returns {import('./steps.js').Step}
 */
export function tools(...names) {
  return {
    title: 'tools',
    required: true,
    run: async () => checkTools(['npm', ...names]),
  };
}

/**
 * Installs what a lock file names.
 *
 * @param {string} folder of the lock file, relative to the root
 * @returns {import('./steps.js').Step}
 */
export function packages(folder = '.') {
  const what = {
    name: folder === '.' ? 'packages' : `packages-${folder.replaceAll('/', '-')}`,
    inputs: [join(folder, 'package-lock.json')],
    outputs: [join(folder, 'node_modules/.package-lock.json')],
  };
  const options = { cwd: join(root, folder) };
  return {
    title: folder === '.' ? 'npm packages' : `npm packages of ${folder}`,
    required: true,
    run: async (quiet) => {
      const install = () => quiet('npm', ['ci', '--no-audit', '--no-fund'], options);
      return (await whenChanged(what, install)) ? 'installed' : 'unchanged';
    },
  };
}

/** Builds the package `millrace`, which checks its types as well. */
export const millrace = {
  title: 'build of millrace',
  required: true,
  run: async (quiet) => {
    const what = {
      name: 'millrace',
      inputs: [
        'package-lock.json',
        'node/package.json',
        'node/tsconfig.json',
        'node/copy-uplot.js',
        'node/src',
      ],
      outputs: ['index', 'fs/index', 'net/index', 'threads/index', 'ws/index', 'uplot/uplot'].map(
        (name) => `node/dist/${name}.js`,
      ),
    };
    const build = async () => {
      // A module that is gone from src must not live on in dist.
      rmSync(join(root, 'node/dist'), { recursive: true, force: true });
      await quiet('npm', ['run', 'build', '--workspace=millrace']);
    };
    return (await whenChanged(what, build)) ? 'built' : 'unchanged';
  },
};

/** Builds the load generator from C; its own build knows whether there is anything to do. */
export const generator = {
  title: 'build of the load generator',
  run: async () => {
    try {
      const { buildGenerator } = await import('../../lab/load/build.js');
      await buildGenerator();
    } catch (error) {
      throw new Failure(error.message);
    }
  },
};
