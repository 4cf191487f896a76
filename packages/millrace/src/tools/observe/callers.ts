/** Places in the application: the line that called, below the frames of Node.js, of packages and of Millrace. */
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installed } from '@millrace/base/installed';
import { thisPackage } from '../../package.cjs';

/** A line of a file. */
export interface Place {
  /** Path of the file. */
  file: string;
  line: number;
}

/** Number of frames, more than a driver and a framework put between. */
const frames = 50;
const { folder } = installed({ ...thisPackage, name: 'millrace' });
/** The folder of the compiled code of Millrace; null in a bundle, where the application's own is not told apart. */
const ours = folder === null ? null : join(folder, `dist${sep}`);
const packages = `${sep}node_modules${sep}`;

/**
 * The first frame of the application; null if there is none, as after a callback of Node.js. With `isDirect` null as well if a package or a
 * module of Node.js stands between, other than `node:events`. Costs some ten µs: for a few calls, not for each.
 */
export function callerPlace(isDirect = false): Place | null {
  if (ours === null) return null;
  for (const site of callSites()) {
    const name = site.getFileName();
    if (name == null) continue;
    if (name.startsWith('node:')) {
      if (isDirect && name !== 'node:events') return null;
      continue;
    }
    const file = pathOf(name);
    if (file === null || file.startsWith(ours)) continue;
    if (file.includes(packages)) {
      if (isDirect) return null;
      continue;
    }
    return { file, line: site.getLineNumber() ?? 1 };
  }
  return null;
}

function callSites(): NodeJS.CallSite[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  const holder: { stack?: unknown } = {};
  try {
    Error.stackTraceLimit = frames;
    Error.prepareStackTrace = (_, sites) => sites;
    Error.captureStackTrace(holder, callerPlace);
    return Array.isArray(holder.stack) ? holder.stack : [];
  } catch {
    // Frozen intrinsics.
    return [];
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
    Reflect.set(Error, 'prepareStackTrace', prepareStackTrace);
  }
}

function pathOf(name: string): string | null {
  if (!name.startsWith('file:')) return name;
  try {
    return fileURLToPath(name);
  } catch {
    return null;
  }
}
