/**
 * Finds the addon: a local build by `millrace build`, or else the package of this platform, which is an
 * optional dependency. The addon is optional at run time, too: without it everything works in JavaScript, and `nativeError` has the reason.
 *
 * MILLRACE_NATIVE in the environment: `0` ignores the addon, `1` makes a missing one an error of the import. MILLRACE_PREBUILD:
 * the folder to search instead of the package, for a build with sanitizers.
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
import { candidates, thisPlatform } from './platforms.cjs';

const elfMagic = 0x7f454c46;
const class64LittleEndian = 0x0201;

/** Sets whether the addon is loaded, in the environment. */
const setting = process.env?.MILLRACE_NATIVE ?? '';

if (!['', '0', '1'].includes(setting)) {
  throw refused('the environment', 'MILLRACE_NATIVE', setting, '0, 1, or not set');
}

/**
 * Reason for the lack of an addon. `absent`: the package `name` is not installed; `faulty`: the one in `folder` cannot be used;
 * `forbidden`: Node.js loads no addons; `unknown`: no package has one for this platform; `runtime`: it could not work here.
 */
export interface Absence {
  readonly kind: 'off' | 'runtime' | 'forbidden' | 'unknown' | 'absent' | 'faulty';
  readonly why: string;
  /** Name of the package that has the addon, or would have it; absent for a local build. */
  readonly name?: string;
  readonly folder?: string;
}

/** Loads the first addon that works, or returns the fault of each one found, in one line. */
function load(): Binding | Absence {
  if (setting === '0') return { kind: 'off', why: 'MILLRACE_NATIVE is 0' };
  // These runtimes have Node-API without the libuv beneath it, and end the process on a call of libuv.
  if (otherRuntime !== null) {
    return { kind: 'runtime', why: `${otherRuntime} has no libuv for it` };
  }
  const { folder: own, missing } = installed(thisPackage);
  const folder = process.env.MILLRACE_PREBUILD || own;
  if (folder === null) return { kind: 'runtime', why: `it is bundled, and ${missing}` };
  const require = createRequire(join(folder, 'package.json'));
  const faults: Absence[] = [];
  const compiled = join(folder, 'addon/build/Release/millrace.node');
  if (existsSync(compiled)) {
    const addon = open(compiled, require);
    if (typeof addon !== 'string') return addon;
    faults.push(faulty(addon, { folder }));
  }
  const places = [join(folder, 'package.json')];
  for (const name of candidates().map((each) => `@millrace/${each}`)) {
    const found = installed({ name, version: thisPackage.version, places });
    if (found.folder === null) continue;
    const addon = open(join(found.folder, 'millrace.node'), require);
    if (typeof addon !== 'string') return addon;
    faults.push(faulty(addon, { name, folder: found.folder }));
  }
  if (faults.length === 0) return nothing(places);
  // An addon for the other C library is installed as well if the package manager checks only the processor.
  const fitting = faults.find(({ name }) => name === `@millrace/${thisPlatform()}`) ?? faults[0]!;
  return { ...fitting, why: faults.map(({ why }) => why).join('; ') };
}

/** Describes the lack of any addon. */
function nothing(places: string[]): Absence {
  const platform = thisPlatform();
  if (!candidates().includes(platform)) {
    return { kind: 'unknown', why: `there is no package with an addon for ${platform}` };
  }
  const name = `@millrace/${platform}`;
  const { missing } = installed({ name, version: thisPackage.version, places });
  return { kind: 'absent', name, why: missing! };
}

function faulty(why: string, where: { name?: string; folder: string }): Absence {
  // Node.js reports this for any addon.
  const isForbidden = why.endsWith('loading addons is disabled.');
  return { kind: isForbidden ? 'forbidden' : 'faulty', why, ...where };
}

function open(path: string, require: NodeJS.Require): Binding | string {
  try {
    if (isCutShort(path)) return `${path} is cut short`;
    const addon = require(path) as Binding;
    if (addon.package === thisPackage.version) return addon;
    const other = addon.package === undefined ? 'something else' : `millrace ${addon.package}`;
    return `${path} is of ${other}, not of millrace ${thisPackage.version}`;
  } catch (error) {
    const text = isError(error) ? error.message : String(error);
    const line = text.replace(/\s+/g, ' ').trim();
    return line.includes(path) ? line : `${path}: ${line}`;
  }
}

const loaded = load();

/** The addon; null if everything runs in JavaScript. */
export const binding: Binding | null = 'why' in loaded ? null : loaded;

/** Reason for its lack, for `millrace doctor`; null when there is an addon. */
export const absence: Absence | null = 'why' in loaded ? loaded : null;

/** Reason why there is no addon; null when there is one. */
export const nativeError: string | null = absence === null ? null : absence.why;

if (setting === '1' && absence !== null) {
  throw new MillraceError(
    'MILLRACE_E_NATIVE',
    `MILLRACE_NATIVE is 1, but there is no addon: ${absence.why}; npx millrace doctor says what to do, and with MILLRACE_NATIVE unset, JavaScript does without it`,
    { cause: absence },
  );
}

/**
 * Reports whether a library is shorter than its header says: an interrupted copy or build. The system's loader maps the missing
 * part and ends the process with SIGBUS. Other formats than ELF are checked by the system itself.
 */
function isCutShort(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(64);
    readSync(file, header, 0, header.length, 0);
    if (header.readUInt32BE(0) !== elfMagic) return false;
    if (header.readUInt16BE(4) !== class64LittleEndian) return false;
    // The section table is at the end of the file.
    const end =
      header.readBigUInt64LE(40) + BigInt(header.readUInt16LE(58) * header.readUInt16LE(60));
    return fstatSync(file).size < end;
  } finally {
    closeSync(file);
  }
}
