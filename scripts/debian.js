/**
 * Programs that tests and benchmarks need and a stranger's machine may lack, from Debian packages; and libuv.
 *
 * A program is looked for on the PATH, where Debian puts it, and among the packages that were unpacked before. `make` fetches the missing
 * ones: with `apt-get install` where that is allowed, otherwise by unpacking the package, and those of its dependencies that the system
 * lacks, into ~/.cache/millrace/debian (XDG_CACHE_HOME is respected), which needs no rights at all. A test only looks, and is skipped by
 * name if there is nothing:
 *
 *     const chromium = find('chromium');
 *     test('…', { skip: !chromium && 'needs chromium' }, …);
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { Failure } from './lib/failure.js';
import { userCache } from './lib/paths.js';
import { which } from './lib/which.js';

/**
 * Debian packages: the commands that are used, and the folder where Debian keeps them; or the header of a library.
 * `parts` are packages that it has to be unpacked together with, though the system has them.
 */
const packages = {
  chromium: { commands: ['chromium'], folder: '/usr/lib/chromium' },
  postgresql: {
    commands: ['initdb', 'pg_ctl', 'postgres'],
    folder: '/usr/lib/postgresql/*/bin',
    // Installing a server starts it, at once and at every boot; unpacking does not.
    server: true,
  },
  'redis-server': { commands: ['redis-server'], folder: '/usr/bin', server: true },
  'nats-server': { commands: ['nats-server'], folder: '/usr/sbin', server: true },
  prometheus: { commands: ['prometheus', 'promtool'], folder: '/usr/bin', server: true },
  buildah: { commands: ['buildah'], folder: '/usr/bin' },
  crun: { commands: ['crun'], folder: '/usr/bin' },
  clang: { commands: ['clang'], folder: '/usr/bin', parts: ['libclang-rt-dev'] },
  'pkg-config': { commands: ['pkg-config'], folder: '/usr/bin' },
  // Its libuv.so is a link to a file of libuv1.
  'libuv1-dev': { header: 'uv.h', parts: ['libuv1'] },
};

/** Packages whose files belong to the running system's loader; a second set of them cannot work. */
const NEVER = ['libc6', 'libc-bin', 'base-files'];

/** Reports whether a package is one of those above. */
export const isProvided = (name) => name in packages;

const placeOf = (name) => join(userCache, 'debian', name);

/**
 * The path of a command, or undefined when it is not on this machine.
 *
 * @param {string} command one that a package above lists
 * @returns {string | undefined}
 */
export function find(command) {
  const name = Object.keys(packages).find((each) => packages[each].commands?.includes(command));
  if (!name) throw new Failure(`scripts/debian.js lists no package with ${command}`);
  return which(command, [...expanded(packages[name].folder), join(placeOf(name), 'bin')]);
}

/**
 * The folder whose `include` has the header of a library, or undefined when it is not on this machine.
 *
 * @param {string} name of the package
 * @returns {string | undefined}
 */
export function prefix(name) {
  const own = (process.env.CMAKE_PREFIX_PATH ?? '').split(delimiter).filter(Boolean);
  const usual = ['/usr', '/usr/local', '/opt/homebrew', join(placeOf(name), 'root/usr')];
  const header = join('include', packages[name].header);
  return [...own, ...usual].find((each) => existsSync(join(each, header)));
}

/**
 * A step that fetches the packages which are not complete. Tests that miss a program are skipped by name; with CI=true the step
 * fails instead.
 *
 * @param {string[]} names of packages above
 * @param {string} [title]
 * @returns {import('./lib/steps.js').Step}
 */
export const provision = (names, title = 'programs that tests use') => ({
  title,
  run: async (quiet) => {
    for (const name of names) if (!isComplete(name)) await fetch(name, quiet);
    const missing = names.filter((name) => !isComplete(name));
    if (missing.length === 0) return names.join(', ');
    const note = `cannot be fetched; on Debian: apt-get install ${missing.join(' ')}`;
    if (process.env.CI === 'true') throw new Failure(note);
    return note;
  },
});

function isComplete(name) {
  const { commands } = packages[name];
  return commands ? commands.every(find) : prefix(name) !== undefined;
}

async function fetch(name, quiet) {
  const { parts = [], server } = packages[name];
  if (process.getuid() === 0 && !server) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const args = ['install', '--yes', '--no-install-recommends', name, ...parts];
    const install = () => quiet('apt-get', args, { env });
    // The package lists may be missing or older than the archive.
    const again = () => quiet('apt-get', ['update'], { env }).then(install);
    await install()
      .catch(again)
      .catch(() => {});
  }
  if (!isComplete(name)) await unpack(name, quiet).catch(() => {});
}

/** Unpacks a package and those of its dependencies that the system lacks. `bin` gets a launcher for each of its commands. */
async function unpack(name, quiet) {
  const folder = placeOf(name);
  const partial = `${folder}.partial`;
  const debs = join(partial, 'debs');
  rmSync(partial, { recursive: true, force: true });
  for (const each of ['debs', 'bin', 'lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(partial, each), { recursive: true });
  }
  try {
    // Lists of our own where the system's are missing, or older than the archive.
    const own = ['-o', `Dir::State::lists=${partial}/lists`, '-o', `Dir::Cache=${partial}/cache`];
    await download(name, debs, [], quiet).catch(async () => {
      await quiet('apt-get', [...own, 'update']);
      await download(name, debs, own, quiet);
    });
    for (const deb of readdirSync(debs)) {
      await quiet('dpkg', ['-x', join(debs, deb), join(partial, 'root')]);
    }
    for (const each of ['debs', 'lists', 'cache']) rmSync(join(partial, each), { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
    if (packages[name].folder) writeLaunchers(folder, packages[name].folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

async function download(name, folder, options, quiet) {
  const { parts = [] } = packages[name];
  const args = [...options, '--simulate', '--no-install-recommends', 'install', name, ...parts];
  const plan = execFileSync('apt-get', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const missing = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, each]) => each);
  const wanted = [...new Set([...missing, ...parts])].filter((each) => !NEVER.includes(each));
  await quiet('apt-get', [...options, 'download', ...wanted], { cwd: folder });
}

/** Launchers let the loader find the unpacked libraries. */
function writeLaunchers(folder, commands) {
  const found = (...args) =>
    execFileSync('find', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  const libraries = found(join(folder, 'root'), '-name', 'lib*.so*', '-printf', '%h\n');
  const path = [...new Set(libraries)].join(':');
  const [source] = expanded(join(folder, 'root', commands));
  for (const program of found('-L', source, '-maxdepth', '1', '-type', 'f', '-perm', '-111')) {
    const script = [
      '#!/bin/sh',
      `export LD_LIBRARY_PATH="${path}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`,
      `[ -d /etc/fonts ] || export FONTCONFIG_PATH="${folder}/root/etc/fonts"`,
      `exec "${program}" "$@"`,
      '',
    ];
    writeFileSync(join(folder, 'bin', basename(program)), script.join('\n'), { mode: 0o755 });
  }
}

/** A path whose one `*` stands for a version, the newest first. */
function expanded(pattern) {
  const [before, after] = pattern.split('*');
  if (after === undefined) return [pattern];
  const versions = existsSync(before) ? readdirSync(before) : [];
  return versions.sort((a, b) => Number(b) - Number(a)).map((each) => join(before, each, after));
}
