/** The functions of Node.js that ours are made of; and errors and rejections as Node.js makes them. */
import fs from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { nextTick } from '@millrace/base/timers';
import { readFile } from './originals.cjs';

export {
  appendFile as nodeAppendFile,
  readFile as nodeReadFile,
  readWithCallback,
  writeFile as nodeWriteFile,
} from './originals.cjs';

export const { open, write, fdatasync, close, stat } = fs;

/** Rejects with the error of Node.js for a signal that has been aborted; opens nothing. */
export function rejectAborted(signal: AbortSignal): Promise<never> {
  return readFile('.', { signal }) as Promise<never>;
}

const codes = getSystemErrorMap();

/** The number of libuv on this system for a name such as `ENOENT`. */
export function codeOf(name: string): number {
  for (const [code, [known]] of codes) if (known === name) return code;
  return Number.NaN;
}

/** The error that Node.js makes of a code of libuv. */
export function systemError(
  errno: number,
  syscall: string | undefined,
  path: string | Buffer | null,
): NodeJS.ErrnoException {
  const [code, text] = codes.get(errno) ?? [`UNKNOWN`, 'unknown error'];
  let message = syscall === undefined ? `${code}: ${text}` : `${code}: ${text}, ${syscall}`;
  const known = path === null ? null : knownAs(path);
  if (known !== null) message += ` '${known}'`;
  const error: NodeJS.ErrnoException = new Error(message);
  error.errno = errno;
  error.code = code;
  if (syscall !== undefined) error.syscall = syscall;
  if (known !== null) error.path = known;
  return error;
}

/** A path as errors of Node.js name it: without half a surrogate pair, and on Windows without the prefix for long paths. */
export function knownAs(path: string | Buffer): string {
  const known = Buffer.from(path as string).toString();
  if (process.platform !== 'win32') return known;
  return known.replace(/^\\\\\?\\UNC\\/, '\\\\').replace(/^\\\\\?\\/, '');
}

/** A promise with its two ends, in one object and without a closure of ours. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  protected readonly resolve: (value: T | PromiseLike<T>) => void;
  protected readonly reject: (error: unknown) => void;

  constructor() {
    this.promise = new Promise<T>(keepEnds);
    this.resolve = lastResolve as typeof this.resolve;
    this.reject = lastReject;
  }
}

let lastResolve: (value: never) => void;
let lastReject: (error: unknown) => void;

function keepEnds(resolve: (value: never) => void, reject: (error: unknown) => void): void {
  lastResolve = resolve;
  lastReject = reject;
}

/**
 * Rejects with `error`, some ticks later. Resolve a promise with this one instead of rejecting it: V8 then finds the async
 * functions that wait for that promise, and the stack of the error names them, as a stack of Node.js' own errors does.
 */
export function rejection(error: Error): Promise<never> {
  return new Promise<void>(atNextTick).then(function reject() {
    Error.captureStackTrace(error, reject);
    throw error;
  });
}

// In the microtask queue the links from promise to promise are made first.
const atNextTick = (resolve: () => void): void => nextTick(resolve);
