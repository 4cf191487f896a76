/**
 * Makes the parts of a working copy ready that a target needs: finds tools, installs packages, builds. npm, TypeScript, node-gyp, CMake
 * and Go detect changes by themselves.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isProvided, provision } from '../debian.js';
import { addonPart } from './addon.js';
import { cmakeTests, uvbatch } from './cmake.js';
import { Failure } from './failure.js';
import { goPackages } from './go.js';
import { root, typed } from './paths.js';
import { socketify } from './socketify.js';
import { checkTools } from './tools.js';
import { which } from './which.js';

/**
 * Installs the packages of a lock file, unless that was done since it was written.
 *
 * @param {string} [folder] of the lock file, relative to the root
 * @param {boolean} [compiles] false where there is no compiler: then packages of others that need one, as SQLite for examples and tests, stay
 *   without their binary, and the next set-up installs again
 * @returns {import('./steps.js').Step}
 */
export const packages = (folder = '.', compiles = true) => ({
  title: folder === '.' ? 'npm packages' : `npm packages of ${folder}`,
  required: true,
  run: async (quiet) => {
    const cwd = join(root, folder);
    const written = (path) => statSync(join(cwd, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (written('node_modules/.package-lock.json') > written('package-lock.json'))
      return 'unchanged';
    const scripts = compiles ? [] : ['--ignore-scripts'];
    await quiet('npm', ['ci', '--no-audit', '--no-fund', ...scripts], { cwd });
    if (compiles) return undefined;
    rmSync(join(cwd, 'node_modules/.package-lock.json'));
    return 'without a compiler: no SQLite for examples and their tests';
  },
});

/** Compiles the packages from TypeScript, each after its dependencies; this is their type check as well. */
export const build = {
  title: 'build of the packages',
  required: true,
  run: async (quiet) => {
    for (const name of typed.filter(hasLeftovers)) {
      rmSync(join(root, `packages/${name}/dist`), { recursive: true });
      rmSync(join(root, `.cache/types/${name}.tsbuildinfo`), { force: true });
    }
    await quiet('npm', ['run', 'build']);
  },
};

/** Reports whether dist has a module that was removed from src: the compiler leaves it there. */
function hasLeftovers(name) {
  const names = (folder) => {
    const path = join(root, 'packages', name, folder);
    const isThere = statSync(path, { throwIfNoEntry: false });
    return isThere ? readdirSync(path, { recursive: true }) : [];
  };
  const sources = new Set(names('src').map((path) => path.replace(/ts$/, 'js')));
  const isCompiled = (path) => /\.c?js(\.map)?$/.test(path) && !path.startsWith('uplot');
  return names('dist').some((path) => isCompiled(path) && !sources.has(path));
}

/** Builds the load generator from C. */
export const generator = {
  title: 'build of the load generator',
  run: async () => {
    const { buildGenerator } = await import('../../packages/lab/load/build.js');
    await buildGenerator().catch((error) => {
      throw new Failure(error.message);
    });
  },
};

/** libuv, and pkg-config, which one test uses, and says when it is missing. */
export const libuv = provision(['libuv1-dev', 'pkg-config'], 'libuv');

const apps = 'bench/claims/auto/apps/installed';

/** Installs and builds the applications of the lab's experiments that have packages of their own. */
export const labApps = [
  packages(apps),
  {
    title: 'build of the Next.js page',
    required: true,
    run: (quiet) => {
      const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
      const next = join(root, apps, 'node_modules/next/dist/bin/next');
      return quiet(process.execPath, [next, 'build', join(apps, 'next')], { env });
    },
  },
];

const parts = {
  packages: { steps: [packages()] },
  typescript: { steps: [packages(), build] },
  get node() {
    const { tools, step } = addonPart();
    const compiles = tools.length > 0 || which(process.env.CC || 'cc') !== undefined;
    return { tools, steps: [packages('.', compiles), build, step] };
  },
  load: { tools: ['cmake', 'cc'], steps: [generator] },
  c: { tools: ['cmake', 'cc'], steps: [libuv, uvbatch] },
  go: { tools: ['go'], steps: [goPackages] },
  streaming: { steps: [cmakeTests('streaming', 'examples/streaming', { libuv: 'any' })] },
  bench: { steps: [packages('bench')] },
  'stall-peers': { steps: [packages('bench/programs/stalls/peers')] },
  socketify: { steps: [socketify] },
  apps: { steps: labApps },
};

/**
 * Returns the steps that make parts ready.
 *
 * @param {string[]} names of parts above, or of packages of debian.js
 * @returns {import('./steps.js').Step[]}
 */
export function stepsFor(names) {
  const programs = names.filter((name) => !(name in parts));
  const unknown = programs.find((name) => !isProvided(name));
  if (unknown) {
    throw new Failure(`there is no part ${unknown}; there are ${Object.keys(parts).join(', ')}`);
  }
  const chosen = names.filter((name) => name in parts).map((name) => parts[name]);
  return [
    checkTools(...chosen.flatMap(({ tools = [] }) => tools)),
    ...chosen.flatMap(({ steps }) => steps),
    ...(programs.length > 0 ? [provision(programs)] : []),
  ];
}
