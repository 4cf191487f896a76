/**
 * The steps that make a working copy ready: check the tools, install the npm packages, build. Each
 * is passed over when nothing it reads has changed.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { projectCache, root, typed } from './paths.js';
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

/** Compiles the packages from TypeScript, each after those that it uses; this is their type check as well. */
export const millrace = {
  title: 'build of the packages',
  required: true,
  run: async (quiet) => {
    const what = {
      name: 'millrace',
      inputs: [
        'package-lock.json',
        'packages/millrace/copy-uplot.js',
        'packages/tsconfig.json',
        'packages/tsconfig.options.json',
        ...typed.flatMap((name) =>
          ['src', 'tsconfig.json'].map((each) => `packages/${name}/${each}`),
        ),
      ],
      outputs: [
        ...typed.map((name) => `packages/${name}/dist`),
        'packages/millrace/dist/uplot',
        'packages/nats/dist/tasks/index.js',
      ],
    };
    const build = async () => {
      // A module that is gone from src must not live on in dist.
      for (const name of typed) {
        rmSync(join(root, `packages/${name}/dist`), { recursive: true, force: true });
      }
      rmSync(join(projectCache, 'types'), { recursive: true, force: true });
      await quiet('npm', ['run', 'build']);
    };
    return (await whenChanged(what, build)) ? 'built' : 'unchanged';
  },
};

/** Builds the load generator from C; its own build knows whether there is anything to do. */
export const generator = {
  title: 'build of the load generator',
  run: async () => {
    try {
      const { buildGenerator } = await import('../../packages/lab/load/build.js');
      await buildGenerator();
    } catch (error) {
      throw new Failure(error.message);
    }
  },
};
