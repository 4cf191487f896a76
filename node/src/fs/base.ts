/**
 * A relative path is opened some time after its call, and somebody may have called `process.chdir()` in between. Only then
 * is the path made absolute: a valid path may become invalid by leading through folders that this process may not enter.
 */
import { isAbsolute, resolve } from 'node:path';
import { isError } from '../core/realm.cjs';
import type { Path } from './arguments.js';
import { knownAs } from './system-error.js';

/** For a relative path the working directory; null for an absolute one, or if the working directory is gone. */
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

/** What to open now for a path that was given when `base` was its base. */
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
