/**
 * Checks of what runs the application: Node.js and its options, libuv, this package, its addon, and io_uring. Whether io_uring works is
 * tried rather than read from versions and settings, which do not say so alone. libuv is looked at before the addon is loaded, whose
 * ring would count as one of Node's.
 */
import { accessSync, constants, readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readText } from '@millrace/base/limits/kernel';
import type { Binding } from '../../native/binding.js';
import type { Absence } from '../../native/load.js';
import { thisPackage } from '../../package.cjs';
import { note, ok, onLinux, type Place, warning } from './report.js';

/** `engines` of package.json says the same. */
const LEAST = 20;
const RECOMMENDED = 22;

/** @param version of Node.js, as in `process.versions` */
export function nodeVersion(_place: Place, version: string = process.versions.node) {
  const major = Number.parseInt(version, 10);
  if (major >= RECOMMENDED) return ok(version);
  const fix = `install Node.js ${RECOMMENDED} or newer`;
  if (major < LEAST) return warning(version, `Millrace needs Node.js ${LEAST} or newer`, fix);
  return note(version, `Millrace works with it; ${RECOMMENDED} and newer are recommended`, fix);
}

/** Options that each Node.js process started from here gets. */
export function nodeOptions({ env: { NODE_OPTIONS: options } }: Place) {
  if (!options) return ok('not set');
  if (!options.includes('millrace/auto')) return ok(options);
  const means = 'each Node.js process that is started here has millrace/auto, npm and tools too';
  return note(options, means);
}

export function millraceVersion() {
  const folder = fileURLToPath(new URL('../../..', import.meta.url));
  const { version } = createRequire(import.meta.url)(`${folder}package.json`) as {
    version: string;
  };
  return ok(`${version} in ${folder.replace(/[/\\]$/, '')}`);
}

/** libuv, and how many rings it has open once a file has been read. */
export async function libuv({ platform, env }: Place) {
  const { uv } = process.versions;
  if (platform !== 'linux') return ok(uv);
  await readFile(fileURLToPath(import.meta.url));
  const { UV_USE_IO_URING: setting } = env;
  const set = setting === undefined ? '' : `, UV_USE_IO_URING is ${setting}`;
  if (openRings() === 0) return ok(`${uv}, does not use io_uring itself${set}`);
  return note(
    `${uv}, uses io_uring itself${set}`,
    'files go to the kernel without the thread pool',
  );
}

function openRings(): number {
  const folder = '/proc/self/fd';
  const isRing = (descriptor: string) => {
    try {
      return readlinkSync(join(folder, descriptor)) === 'anon_inode:[io_uring]';
    } catch {
      return false; // That of this very listing.
    }
  };
  return readdirSync(folder).filter(isRing).length;
}

/** The addon, or why there is none; a sentence where that is a setting out of range. */
async function loadAddon(): Promise<Binding | Absence | string> {
  try {
    const { binding, absence } = await import('../../native/load.js');
    return binding ?? absence!;
  } catch (error) {
    const { cause, message } = error as Error;
    return (cause as Absence | undefined) ?? message;
  }
}

export const addon = async (place: Place) => addonOf(await loadAddon(), place);

/** The finding about the addon, or about the reason why there is none. */
export function addonOf(loaded: Binding | Absence | string, place: Place) {
  if (typeof loaded !== 'string' && !('why' in loaded)) {
    return ok(`loaded, of millrace ${loaded.package}, with libuv ${loaded.uv}`);
  }
  const means =
    'the same behaviour in JavaScript: more system calls for fan-out and files, no larger reads, no records from threads';
  const isWindows = place.platform === 'win32';
  const unset = isWindows ? 'remove MILLRACE_NATIVE from the environment' : 'unset MILLRACE_NATIVE';
  if (typeof loaded === 'string') return warning(`not loaded: ${loaded}`, means, unset);
  const found = `not loaded: ${loaded.why}`;
  if (loaded.kind === 'off') return note(found, means, unset);
  return warning(found, means, fixOf(loaded, place));
}

function fixOf({ kind, name, folder }: Absence, { env, platform }: Place): string {
  switch (kind) {
    case 'forbidden':
      return 'start Node.js without --no-addons; with --permission, also with --allow-addons';
    case 'absent':
      return installCommand(`${name}@${thisPackage.version}`, env);
    case 'faulty':
      if (name === undefined) break;
      return `delete ${folder}, then ${installCommand(`${name}@${thisPackage.version}`, env)}`;
    case 'runtime':
      return 'run it on Node.js, with the package millrace installed';
  }
  return `npx millrace build${beforeBuild(platform, env)}`;
}

/** The command of the package manager that has started this process. It also mends a lock file that leaves the package out. */
function installCommand(what: string, { npm_config_user_agent: agent = '' }: NodeJS.ProcessEnv) {
  if (agent.startsWith('pnpm/')) return `pnpm add --save-optional ${what}`;
  if (agent.startsWith('yarn/')) return `yarn add --optional ${what}`;
  return `npm install --include=optional --save-optional ${what}`;
}

/** Returns the steps before a build: of several programs that would do, the first is named. */
function beforeBuild(platform: NodeJS.Platform, { PATH = '' }: NodeJS.ProcessEnv): string {
  // node-gyp looks for these in its own way.
  if (platform === 'win32') return '; it takes Python 3 and the C++ build tools of Visual Studio';
  const has = (program: string) =>
    PATH.split(delimiter).some((folder) => isProgram(join(folder, program)));
  const lacking = [['python3', 'python'], ['make'], ['cc', 'gcc', 'clang']]
    .filter((programs) => !programs.some(has))
    .map(([program]) => program);
  if (lacking.length === 0) return '';
  if (platform === 'darwin') return ', after xcode-select --install';
  return `, after installing ${lacking.join(', ')}`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** io_uring for the fan-out of `millrace/ws`. */
export const ioUring = onLinux(async (place) => {
  const binding = await loadAddon();
  if (typeof binding === 'string' || 'why' in binding)
    return note('not tried: no addon', 'only the addon uses it');
  const { disabled, seccomp } = ringSettings(place);
  const sysctl = disabled === null ? '' : `, kernel.io_uring_disabled ${disabled}`;
  const filter = seccomp === '2' ? ', seccomp filter' : ', no seccomp filter';
  const circumstances = `Linux ${release()}${sysctl}${seccomp === null ? '' : filter}`;
  try {
    binding.fanoutOpen(2);
    return ok(`works, ${circumstances}`);
  } catch (error) {
    return note(
      `refused (${(error as Error).message}), ${circumstances}`,
      'a message to many WebSockets takes one system call for each, not one for all',
      remedy(place),
    );
  }
});

function ringSettings({ root }: Place) {
  const status = readText(root, 'proc/self/status') ?? '';
  return {
    /** 0, 1 (without privileges), 2; null before Linux 6.6. */
    disabled: readText(root, 'proc/sys/kernel/io_uring_disabled')?.trim() ?? null,
    /** 2: the system calls of this process are filtered. */
    seccomp: /^Seccomp:\s*(\d+)$/m.exec(status)?.[1] ?? null,
  };
}

/** Returns the remedy for a refusal, by the settings here. */
export function remedy(place: Place): string {
  const { disabled, seccomp } = ringSettings(place);
  if (disabled === '1' || disabled === '2') return 'sysctl kernel.io_uring_disabled=0, as root';
  if (seccomp === '2')
    return "allow io_uring_setup and io_uring_enter in the container's seccomp profile";
  return 'a kernel of 5.6 or newer that is built with it';
}
