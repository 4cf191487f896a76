/** Installs the packages as a user does, with nothing from the network. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { npmEnvironment } from './npm-environment.js';
import { packed } from './packed.js';
import { root } from './paths.js';

/** Folder for all files of such a test. Its path has a blank, as paths of users may. */
export const place = mkdtempSync(join(tmpdir(), 'millrace package '));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

export const npm = realpathSync(
  process.env.PATH.split(delimiter)
    .map((folder) => join(folder, 'npm'))
    .find(existsSync),
);

/** PATH with a shell and Node.js, but without compiler, make and Python. */
export const bare = join(place, 'bin');
mkdirSync(bare);
symlinkSync(process.execPath, join(bare, 'node'));
symlinkSync('/bin/sh', join(bare, 'sh'));

/** Runs Node.js; rejects unless it exits with code 0. */
export function node(args, { cwd, env }) {
  const options = { cwd, env: npmEnvironment(place, env), timeout: 240_000 };
  return promisify(execFile)(process.execPath, args, options);
}

/**
 * Installs a package and the packages of ours that it needs, from their tarballs, in an empty folder, without running a script. Packages
 * of others are copied from this working copy, without optional ones, except for the addon of this platform.
 *
 * @param {string} name of the package
 * @param {object} [options]
 * @param {string} [options.as] name of the folder
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {string[]} [options.args] more arguments of `npm install`
 */
export async function install(name, { as = name.replace('/', '-'), env, args = [] } = {}) {
  const all = await packed();
  const folder = join(place, as);
  mkdirSync(folder);
  const dependencies = {};
  const optionalDependencies = {};
  const add = (each) => {
    if (each in dependencies) return;
    const own = all.get(each);
    dependencies[each] = `file:${own?.tarball ?? join(root, 'node_modules', each)}`;
    Object.keys(own?.manifest.dependencies ?? {}).forEach(add);
  };
  add(name);
  if ('millrace' in dependencies) {
    const [addon] = [...all.values()].filter(({ manifest }) => manifest.os);
    optionalDependencies[addon.manifest.name] = `file:${addon.tarball}`;
  }
  const manifest = { private: true, dependencies, optionalDependencies };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const command = ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', ...args];
  const { stdout, stderr } = await node([npm, ...command], { cwd: folder, env });
  const optional = args.includes('--omit=optional') ? [] : Object.keys(optionalDependencies);
  return {
    folder,
    /** Folder of the package. */
    installed: join(folder, 'node_modules', name),
    /** Names of all installed packages. */
    names: [...Object.keys(dependencies), ...optional],
    output: `${stdout}${stderr}`,
  };
}
