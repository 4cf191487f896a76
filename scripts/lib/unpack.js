import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { Failure } from './failure.js';

/** Their files belong to the running system's loader; a second set of them cannot work. */
const NEVER = new Set(['libc6', 'libc-bin', 'base-files']);

/**
 * Unpacks a Debian package and those of its dependencies that the system lacks, without any rights.
 * `folder`/bin gets a launcher for each of its commands.
 *
 * @param {string} name of the package
 * @param {string} folder to make
 * @param {object} what
 * @param {string} [what.folder] of its commands: absolute, with `*` for a version
 * @param {string[]} [what.parts] packages that are unpacked with it in any case
 * @param {import('./steps.js').Quiet} quiet
 */
export async function unpack(name, folder, { folder: commands, parts = [] }, quiet) {
  const partial = `${folder}.partial`;
  const lists = `${folder}.lists`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(join(partial, 'debs'), { recursive: true });
  try {
    const debs = join(partial, 'debs');
    await download(name, parts, debs, [], quiet).catch(() =>
      withOwnLists(lists, quiet, (options) => download(name, parts, debs, options, quiet)),
    );
    for (const deb of readdirSync(debs)) {
      await quiet('dpkg', ['-x', join(debs, deb), join(partial, 'root')]);
    }
    rmSync(debs, { recursive: true });
    if (commands) writeLaunchers(partial, commands);
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
  } finally {
    for (const rest of [partial, lists]) rmSync(rest, { recursive: true, force: true });
  }
}

async function download(name, parts, folder, options, quiet) {
  const args = [...options, '--simulate', '--no-install-recommends', 'install', name, ...parts];
  const plan = execFileSync('apt-get', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const missing = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, each]) => each);
  const names = [...new Set([...missing, ...parts])];
  if (names.length === 0) throw new Failure(`apt-get has nothing to download for ${name}`);
  const wanted = names.filter((each) => !NEVER.has(each));
  await quiet('apt-get', [...options, 'download', ...wanted], { cwd: folder });
}

/** The system's package lists may be missing, or older than the archive: then fetch private ones. */
async function withOwnLists(folder, quiet, work) {
  for (const each of ['state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(folder, each), { recursive: true });
  }
  const options = [
    '-o',
    `Dir::State::lists=${folder}/state/lists`,
    '-o',
    `Dir::Cache=${folder}/cache`,
  ];
  await quiet('apt-get', [...options, 'update']);
  await work(options);
}

/** Launchers set the library path; they find their own folder, which may have been moved. */
function writeLaunchers(folder, commands) {
  const root = join(folder, 'root');
  const source = resolveVersion(root, commands);
  const libraries = libraryFolders(join(root, 'usr/lib')).concat(libraryFolders(join(root, 'lib')));
  const path = libraries.map((each) => `$here/${relative(folder, each)}`).join(':');
  mkdirSync(join(folder, 'bin'));
  const entries = readdirSync(source).filter((entry) => isProgram(join(source, entry)));
  for (const command of entries) {
    const script = [
      '#!/bin/sh',
      'here=$(dirname "$(dirname "$(readlink -f "$0")")")',
      `export LD_LIBRARY_PATH="${path}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`,
      '[ -d /etc/fonts ] || export FONTCONFIG_PATH="$here/root/etc/fonts"',
      `exec "$here/${relative(folder, join(source, command))}" "$@"`,
      '',
    ];
    writeFileSync(join(folder, 'bin', command), script.join('\n'), { mode: 0o755 });
  }
}

function isProgram(path) {
  const { mode } = statSync(path);
  return (mode & 0o170111) === 0o100111;
}

function resolveVersion(root, commands) {
  const [before, after] = commands.split('*');
  if (after === undefined) return join(root, commands);
  return join(root, before, readdirSync(join(root, before))[0], after);
}

/** Folders that hold shared libraries, at most two levels deep: lib/TRIPLE and lib/TRIPLE/PART. */
function libraryFolders(folder, depth = 2) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  const below = entries
    .filter((entry) => entry.isDirectory() && depth > 0)
    .flatMap((entry) => libraryFolders(join(folder, entry.name), depth - 1));
  return entries.some(({ name }) => /^lib.*\.so/.test(name)) ? [folder, ...below] : below;
}
