/**
 * Finds the addon: the one that was built here, or a prebuilt one for this platform. It is optional: without it everything
 * works in JavaScript, and `nativeError` says why.
 *
 * MILLRACE_NATIVE in the environment: `0` leaves it alone, `1` makes a missing one an error of the import. MILLRACE_PREBUILD:
 * the folder to look in instead of the package, for a build with sanitizers.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { MillraceError } from '@millrace/base/errors';
import { installed } from '@millrace/base/installed';
import { refused } from '@millrace/base/options';
import { isError, otherRuntime } from '@millrace/base/realm';
import { thisPackage } from '../package.cjs';
import type { Binding } from './binding.js';

const elfMagic = 0x7f454c46;
const class64LittleEndian = 0x0201;

/** Sets whether the addon is loaded, in the environment. */
const setting = process.env?.MILLRACE_NATIVE ?? '';

if (!['', '0', '1'].includes(setting)) {
  throw refused('the environment', 'MILLRACE_NATIVE', setting, '0, 1, or not set');
}

/** Paths in the package, in the order in which they are tried. addon/prebuild.cjs makes the prebuilt ones. */
function candidates(): string[] {
  const { platform, arch, versions } = process;
  // A library of the other C library does not load, so that nothing has to find out which one this is. That of musl comes
  // first: glibc has no library of musl's name, but musl takes glibc's name for its own.
  const tags = platform === 'linux' ? ['.musl', '.glibc'] : [''];
  const uv = `uv${versions.uv!.split('.')[0]}`;
  return [
    'build/Release/millrace.node',
    ...tags.map((tag) => `prebuilds/${platform}-${arch}/node.napi.${uv}${tag}.node`),
  ];
}

/** The first candidate that works, or what is wrong with each that is there, in one line. */
function load(): Binding | string {
  if (setting === '0') return 'MILLRACE_NATIVE is 0';
  // These runtimes offer Node-API without the libuv beneath it, and end the process when that is called.
  if (otherRuntime !== null) return `${otherRuntime} has no libuv for it`;
  const { folder: own, missing } = installed(thisPackage);
  const folder = process.env.MILLRACE_PREBUILD || own;
  if (folder === null) return `it is bundled, and ${missing}`;
  const require = createRequire(join(folder, 'package.json'));
  const faults: string[] = [];
  for (const path of candidates().map((each) => join(folder, each))) {
    if (!existsSync(path)) continue;
    const addon = open(path, require);
    if (typeof addon !== 'string') return addon;
    faults.push(addon);
  }
  if (faults.length > 0) return faults.join('; ');
  return `no addon was built for ${process.platform}-${process.arch}; run npm rebuild millrace`;
}

function open(path: string, require: NodeJS.Require): Binding | string {
  try {
    if (isCutShort(path)) return `${path} is cut short; run npm rebuild millrace`;
    const addon = require(path) as Binding;
    if (addon.package === thisPackage.version) return addon;
    const other = addon.package === undefined ? 'something else' : `millrace ${addon.package}`;
    return `${path} is of ${other}, not of millrace ${thisPackage.version}; run npm rebuild millrace`;
  } catch (error) {
    const text = isError(error) ? error.message : String(error);
    const line = text.replace(/\s+/g, ' ').trim();
    return line.includes(path) ? line : `${path}: ${line}`;
  }
}

const loaded = load();

/** The addon; null where everything is done in JavaScript. */
export const binding: Binding | null = typeof loaded === 'string' ? null : loaded;

/** Reason why there is no addon; null when there is one. */
export const nativeError: string | null = typeof loaded === 'string' ? loaded : null;

if (setting === '1' && nativeError !== null) {
  throw new MillraceError(
    'MILLRACE_E_NATIVE',
    `MILLRACE_NATIVE is 1, but there is no addon: ${nativeError}; with MILLRACE_NATIVE unset, JavaScript does without it`,
  );
}

/**
 * Reports whether a library is shorter than it says: a copy or a build that was interrupted. The system's loader maps what
 * should be there and ends the process with SIGBUS. Other formats than ELF are checked by the system itself.
 */
function isCutShort(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(64);
    readSync(file, header, 0, header.length, 0);
    if (header.readUInt32BE(0) !== elfMagic) return false;
    if (header.readUInt16BE(4) !== class64LittleEndian) return false;
    // The table of the sections is the last thing in it.
    const end =
      header.readBigUInt64LE(40) + BigInt(header.readUInt16LE(58) * header.readUInt16LE(60));
    return fstatSync(file).size < end;
  } finally {
    closeSync(file);
  }
}
