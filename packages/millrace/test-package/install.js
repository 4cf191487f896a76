/** Packs the package and installs it as a user would, with nothing from the network. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** The folder of all that these tests make. Paths of users have blanks, too. */
export const place = mkdtempSync(join(tmpdir(), 'millrace package '));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

export const npm = realpathSync(
  process.env.PATH.split(delimiter)
    .map((folder) => join(folder, 'npm'))
    .find(existsSync),
);

/** A PATH with a shell and Node.js, and no compiler, no make and no Python. */
export const bare = join(place, 'bin');
mkdirSync(bare);
symlinkSync(process.execPath, join(bare, 'node'));
symlinkSync('/bin/sh', join(bare, 'sh'));

/** The environment without what npm or a user has set for the tests, and settings that keep npm to this folder. */
export function environment(added = {}) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_nodedir$)|MILLRACE_|NODE_)/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    npm_config_userconfig: join(place, 'npmrc'),
    npm_config_cache: join(place, 'cache'),
    npm_config_update_notifier: 'false',
    // Where the headers are beside Node.js, a download of them has to fail.
    ...(existsSync(join(dirname(realpathSync(process.execPath)), '../include/node/node_api.h')) && {
      npm_config_disturl: 'http://127.0.0.1:1',
    }),
    ...added,
  };
}

/** Runs Node.js; rejects unless it exits with code 0. */
export function node(args, { cwd, env }) {
  return execute(process.execPath, args, { cwd, env: environment(env), timeout: 240_000 });
}

/** What the package asks for at run time. */
const ours = JSON.parse(readFileSync(join(repository, 'packages/millrace/package.json'), 'utf8'));

/**
 * @param {string} folder of the package
 * @param {string[]} [args] more arguments of `npm pack`
 * @returns {Promise<{ tarball: string, files: string[] }>}
 */
export async function pack(folder, args = []) {
  const { stdout } = await node([npm, 'pack', '--json', '--pack-destination', place, ...args], {
    cwd: folder,
  });
  const [{ filename, files }] = Object.values(JSON.parse(stdout));
  return { tarball: join(place, filename), files: files.map(({ path }) => path) };
}

/**
 * Installs a tarball in an empty folder.
 *
 * @param {string} name of the folder
 * @param {string} tarball
 * @param {Record<string, string>} [env] added to the environment
 * @param {string[]} [args] more arguments of `npm install`
 * @returns {Promise<{ folder: string, said: string }>} the folder, and what the script of the package printed
 */
export async function install(name, tarball, env, args = []) {
  const folder = join(place, name);
  mkdirSync(folder);
  // From here, so that no network is needed.
  const needed = Object.keys(ours.dependencies).map((name) => [
    name,
    `file:${join(repository, 'node_modules', name)}`,
  ]);
  const dependencies = { millrace: `file:${tarball}`, ...Object.fromEntries(needed) };
  const manifest = { private: true, dependencies, allowScripts: { [`file:${tarball}`]: true } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const all = ['install', '--offline', '--no-audit', '--no-fund', '--foreground-scripts', ...args];
  const { stdout, stderr } = await node([npm, ...all], { cwd: folder, env });
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('millrace '));
  return { folder, said: said.join('\n'), output: `${stdout}${stderr}` };
}

/** What a program that uses an installed package finds. */
export async function use(folder, env) {
  const program = `
    import { BatchEmitter, batch, native, nativeError } from 'millrace';
    import { cached } from '@millrace/guard/cached';
    import { limits } from '@millrace/monitor';
    cached(() => {}, { ttl: 1 });
    limits();
    const double = batch(async (items) => items.map((item) => item * 2));
    const emitter = new BatchEmitter();
    const seen = [];
    emitter.on('event', (value) => seen.push(value));
    emitter.emit('event', 1);
    emitter.emit('event', 2);
    const doubled = await Promise.all([double(1), double(2)]);
    emitter.close();
    console.log(JSON.stringify({ native, nativeError, doubled, seen }));
  `;
  const { stdout, stderr } = await node(['--input-type=module', '-e', program], {
    cwd: folder,
    env,
  });
  return { ...JSON.parse(stdout), stderr };
}

/** What `use()` finds where everything works. */
export const works = { doubled: [2, 4], seen: [1, 2], stderr: '' };

/** What an installation without a compiler says. */
export const unbuilt =
  /^millrace does everything in JavaScript here, .* \((.+)\); to try again: npm rebuild millrace$/;
