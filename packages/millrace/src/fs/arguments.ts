/**
 * Finds the calls that are understood exactly. Everything else, right or wrong, is left to `node:fs/promises`, so that callers
 * see its checks and errors. And has paths mean what they meant when they were given.
 */

import { isAbsolute, resolve, toNamespacedPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseValue, unknown } from '@millrace/base/options';
import { isAbortSignal, isError, isPlainObject, isUint8Array, isURL } from '@millrace/base/realm';
import { boolean, nearest } from '@millrace/base/schema';
import { knownAs } from './node-fs.js';

/** A path as backends take it. */
export type Path = string | Buffer;

/**
 * A path for a backend, which nobody changes any more; null when Node.js has to see it. On Windows it becomes absolute at once, with the
 * prefix for long paths, as in Node.js itself.
 */
export function toPath(path: unknown): Path | null {
  if (typeof path === 'string') return path.includes('\0') ? null : toNamespacedPath(path);
  if (isUint8Array(path)) {
    if (path.includes(0)) return null;
    const bytes = Buffer.from(path);
    const text = bytes.toString();
    // As text where that means the same, so that it counts as one file for the order, however it was given.
    return Buffer.from(text).equals(bytes) ? toNamespacedPath(text) : bytes;
  }
  if (!isURL(path)) return null;
  try {
    return toPath(fileURLToPath(path));
  } catch {
    return null;
  }
}

const encodings = new Map<unknown, BufferEncoding>([
  ['utf8', 'utf8'],
  ['utf-8', 'utf8'],
  ['latin1', 'latin1'],
  ['binary', 'latin1'],
  ['ascii', 'ascii'],
  ['hex', 'hex'],
  ['base64', 'base64'],
  ['base64url', 'base64url'],
  ['utf16le', 'utf16le'],
  ['utf-16le', 'utf16le'],
  ['ucs2', 'utf16le'],
  ['ucs-2', 'utf16le'],
]);

/** Null for none, undefined when Node.js has to see it. */
function toEncoding(encoding: unknown): BufferEncoding | null | undefined {
  return encoding === undefined || encoding === null ? null : encodings.get(encoding);
}

/** Under the permission model of Node.js its own functions ask whether a file may be touched. Ours would not. */
const isRestricted = process.permission !== undefined;

/** Options that were understood. */
export interface Understood {
  readonly encoding: BufferEncoding | null;
  readonly signal: AbortSignal | null;
  readonly mode: number;
  readonly durable: boolean;
}

const none: Understood = { encoding: null, signal: null, mode: 0o666, durable: false };
const ofEncoding = new Map<unknown, Understood>();
for (const [name, encoding] of encodings) ofEncoding.set(name, { ...none, encoding });

const readNames = new Set(['encoding', 'flag', 'signal']);
const appendNames = new Set(['encoding', 'flag', 'signal', 'mode', 'flush', 'durable']);
const nodeAppendNames = new Set(['encoding', 'flag', 'mode', 'flush']);
const nodeReadNames = new Set(['encoding', 'flag']);

export function readOptions(options: unknown): Understood | null {
  return understand(options, 'r', readNames);
}

export function appendOptions(options: unknown): Understood | null {
  return understand(options, 'a', appendNames);
}

/**
 * Options of a program that knows nothing of this module. A signal is left to Node.js, as it may be aborted between the steps
 * of a call, of which we have fewer.
 */
export function plainReadOptions(options: unknown): Understood | null {
  return understand(options, 'r', nodeReadNames);
}

export function plainAppendOptions(options: unknown): Understood | null {
  return understand(options, 'a', nodeAppendNames);
}

/** Null when Node.js has to see them. */
function understand(
  options: unknown,
  ownFlag: string,
  names: ReadonlySet<string>,
): Understood | null {
  if (isRestricted) return null;
  if (options === undefined || options === null) return none;
  if (typeof options === 'string') return ofEncoding.get(options) ?? null;
  if (typeof options !== 'object') return null;
  try {
    // Node.js sees a getter of a class in some calls and not in others.
    if (!isPlainObject(options)) return null;
    for (const name in options) if (!names.has(name)) return null;
    const given = options as Record<string, unknown>;
    const { flag, signal, mode = 0o666, flush = false, durable = false } = given;
    const encoding = toEncoding(given.encoding);
    if (encoding === undefined || (flag !== undefined && flag !== ownFlag)) return null;
    if (signal !== undefined && (!isAbortSignal(signal) || signal.aborted)) return null;
    if (!Number.isInteger(mode) || (mode as number) < 0 || (mode as number) > 0o7777) return null;
    if (typeof flush !== 'boolean') return null;
    return {
      encoding,
      signal: signal ?? null,
      mode: mode as number,
      durable: flush || durable === true,
    };
  } catch {
    // A getter threw. It will throw for Node.js as well, which turns that into a rejection.
    return null;
  }
}

/** Reports whether a call of `readFile` leaves its file as it is. */
export function onlyReads(options: unknown): boolean {
  if (typeof options !== 'object' || options === null) return true;
  try {
    const { flag } = options as { flag?: unknown };
    return flag === undefined || flag === 'r';
  } catch {
    return true;
  }
}

/** Reports whether Node.js refuses a call with these options before it does anything. May throw what a getter throws. */
export function isAborted(options: unknown): boolean {
  if (typeof options !== 'object' || options === null) return false;
  return (options as { signal?: AbortSignal }).signal?.aborted === true;
}

/** Options that the caller cannot change any more, for a call that waits. May throw what a getter throws. */
export function snapshot(options: unknown): unknown {
  if (typeof options !== 'object' || options === null) return options;
  return { __proto__: Object.getPrototypeOf(options), ...options };
}

const durable = boolean();

/** The one option that Node.js does not know. Throws MILLRACE_E_INVALID_OPTION. */
export function isDurable(options: unknown): boolean {
  if (typeof options !== 'object' || options === null) return false;
  const { durable: given } = options as { durable?: unknown };
  return given === undefined ? false : parseValue('appendFile()', 'durable', given, durable);
}

/**
 * Node.js ignores options that it does not know, and so does this module; but if a record is not durable that should be,
 * that would be noticed only when it is lost. Throws MILLRACE_E_INVALID_OPTION.
 */
export function checkSpelling(options: unknown): void {
  if (typeof options !== 'object' || options === null) return;
  for (const name of Object.keys(options)) {
    if (appendNames.has(name) || nearest(name, ['durable']) === undefined) continue;
    throw unknown('appendFile()', name, ['durable']);
  }
}

// A relative path is opened some time after its call, and somebody may have called `process.chdir()` in between. Only then is the
// path made absolute: a valid path may become invalid by leading through folders that this process may not enter.

/** Returns the working directory for a relative path; null for an absolute one, or if the working directory is gone. */
export function baseOf(path: Path): string | null {
  // An empty path leads nowhere, from anywhere.
  if (path.length === 0 || isAbsolute(typeof path === 'string' ? path : path.toString('latin1'))) {
    return null;
  }
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/** Returns the path to open now, for one given when `base` was its base. */
export function fromBase(path: Path, base: string | null): Path {
  if (base === null || base === baseOf(path)) return path;
  if (process.platform === 'win32') {
    const text = String(path);
    return /[\\/]$/.test(text) ? `${resolve(base, text)}\\` : resolve(base, text);
  }
  // Not normalized: behind a link, `..` is another folder.
  if (typeof path === 'string') return `${base}/${path}`;
  return Buffer.concat([Buffer.from(`${base}/`), path]);
}

/** An error of Node.js about what was opened, with the path as the caller wrote it. */
export function asWritten<E>(error: E, opened: Path, path: Path): E {
  if (opened === path || !isError(error)) return error;
  const [from, to] = [knownAs(opened), knownAs(path)];
  const named: NodeJS.ErrnoException = error;
  if (named.path !== from) return error;
  const { message, stack } = named;
  named.path = to;
  named.message = message.replace(`'${from}'`, () => `'${to}'`);
  if (stack !== undefined) named.stack = stack.replace(message, () => named.message);
  return error;
}

/** Has Node.js open a path that was given when `base` was its base; its errors name the path as the caller wrote it. */
export function opening<T>(
  path: Path,
  base: string | null,
  open: (opened: Path) => Promise<T>,
): Promise<T> {
  const opened = fromBase(path, base);
  const result = open(opened);
  if (opened === path) return result;
  return result.catch((error) => Promise.reject(asWritten(error, opened, path)));
}
