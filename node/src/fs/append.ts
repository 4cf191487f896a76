import type { PathLike } from 'node:fs';
import type promises from 'node:fs/promises';
import { isUint8Array } from '../core/realm.cjs';
import { nextTick, queueMicrotask } from '../core/timers.cjs';
import {
  appendOptions,
  checkSpelling,
  isDurable,
  type Path,
  snapshot,
  toPath,
  type Understood,
} from './arguments.js';
import type { AppendRequest } from './backend.js';
import { baseOf } from './base.js';
import { backend } from './chosen.js';
import { Deferred } from './deferred.js';
import { nodeAppendFile, rejectAborted } from './node-fs.js';
import { type Chain, chainFor, passOn, type Step } from './order.js';
import { Records } from './records.js';
import { counters } from './stats.js';

/** Node.js writes more than this in several pieces, between which others may write: that is left to it. */
const maxRecordBytes = 512 * 1024;
/** A commit is one write, and a copy of what it writes. */
const maxCommitBytes = 4 * 1024 * 1024;

class Append extends Deferred<void> {
  readonly durable: boolean;
  readonly signal: AbortSignal | null;

  constructor(durable: boolean, signal: AbortSignal | null) {
    super();
    this.durable = durable;
    this.signal = signal;
  }

  settle(error: NodeJS.ErrnoException | null): void {
    // A record that only has to be written does not depend on a sync that another one in its commit asked for.
    if (error === null || (!this.durable && error.syscall === 'fdatasync')) this.resolve();
    else this.reject(error);
  }

  abort(): void {
    this.resolve(rejectAborted(this.signal!));
  }
}

/** Appends to one file that are written together. Takes more of them until it is their turn. */
class Commit implements AppendRequest, Step {
  readonly shared = false;
  readonly path: Path;
  readonly base: string | null;
  readonly mode: number;
  readonly records = new Records();
  durable = false;
  readonly #chain: Chain;
  #appends: Append[] = [];
  #open = true;

  constructor(chain: Chain, path: Path, mode: number) {
    this.#chain = chain;
    this.path = path;
    this.base = baseOf(path);
    this.mode = mode;
  }

  /** Only if the path was spelled the same: it is part of the error that a caller gets. */
  takes(path: Path, mode: number, bytes: number): boolean {
    return (
      this.#open &&
      this.path === path &&
      this.mode === mode &&
      this.records.size + bytes <= maxCommitBytes
    );
  }

  add(data: string | Uint8Array, size: number, { durable, signal }: Understood): Promise<void> {
    this.records.add(data, size);
    const append = new Append(durable, signal);
    this.#appends.push(append);
    if (durable) this.durable = true;
    return append.promise;
  }

  start(): void {
    atEndOfTick(this);
  }

  write(): void {
    this.#open = false;
    if (this.#appends.some(isAborted)) this.#dropAborted();
    if (this.#appends.length === 0) {
      this.#end();
      return;
    }
    counters.commits++;
    try {
      backend.append(this);
    } catch (error) {
      // Nothing was begun, but the commits after this one must be.
      this.done(this.#appends.map(() => error as NodeJS.ErrnoException));
    }
  }

  done(errors: readonly (NodeJS.ErrnoException | null)[] | null): void {
    let last: NodeJS.ErrnoException | null = null;
    for (let i = 0; i < this.#appends.length; i++) {
      const error = errors === null ? null : errors[i]!;
      this.#appends[i]!.settle(error !== null && error === last ? copyOf(error) : error);
      last = error;
    }
    this.#end();
  }

  #dropAborted(): void {
    const appends = this.#appends;
    this.records.keep((i) => !isAborted(appends[i]!));
    for (const append of appends) if (isAborted(append)) append.abort();
    this.#appends = appends.filter((append) => !isAborted(append));
  }

  #end(): void {
    this.records.free();
    this.#chain.leave();
  }
}

const isAborted = ({ signal }: Append): boolean => signal?.aborted === true;

/** Each caller gets an error of its own. */
function copyOf(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  return Object.assign(new Error(error.message), error);
}

let starting: Commit[] = [];

/**
 * After the microtasks that are due now, in the `process.nextTick` queue: callers whose promises the last commit has just
 * resolved can still have their next record in this one.
 */
function atEndOfTick(commit: Commit): void {
  if (starting.push(commit) === 1) queueMicrotask(afterMicrotasks);
}

function afterMicrotasks(): void {
  nextTick(writeAll);
}

function writeAll(): void {
  const commits = starting;
  starting = [];
  for (const commit of commits) commit.write();
}

/** What is copied as a record: text as UTF-8; null when Node.js has to see the data. */
function toRecord(data: unknown, encoding: BufferEncoding | null): string | Uint8Array | null {
  if (typeof data === 'string') {
    if (data.length > maxRecordBytes) return null;
    return encoding === null || encoding === 'utf8' ? data : Buffer.from(data, encoding);
  }
  if (!ArrayBuffer.isView(data) || data.byteLength > maxRecordBytes) return null;
  if (isUint8Array(data)) return data;
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function commitTo(path: Path, data: string | Uint8Array, options: Understood): Promise<void> {
  const size = typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength;
  const chain = chainFor(path);
  const { last } = chain;
  let promise: Promise<void>;
  if (last instanceof Commit && last.takes(path, options.mode, size)) {
    promise = last.add(data, size, options);
  } else {
    const commit = new Commit(chain, path, options.mode);
    promise = commit.add(data, size, options);
    chain.add(commit);
  }
  counters.appends++;
  counters.bytes += size;
  return promise;
}

function passOnAppend(path: unknown, file: Path | null, data: unknown, options: unknown) {
  const node = nodeAppendFile as (path: unknown, data: unknown, options: unknown) => Promise<void>;
  return passOn((to, kept) => node(to, data, kept), path, file, options, false);
}

/** Node.js has `flush` for it, but not with a FileHandle. */
async function passOnDurable(path: unknown, file: Path | null, data: unknown, options: unknown) {
  const own = snapshot(options) as { flush?: unknown };
  if (typeof (own.flush ?? false) === 'boolean') own.flush = true;
  await passOnAppend(path, file, data, own);
  const { datasync } = path as Partial<promises.FileHandle>;
  if (typeof datasync === 'function') await datasync.call(path as promises.FileHandle);
}

/** What `appendFile` takes as data: as that of `node:fs/promises`. */
export type AppendData = Parameters<typeof promises.writeFile>[1];
/** Options of `appendFile`: those of `node:fs/promises`, and `durable`. */
export type AppendOptions = Exclude<Parameters<typeof promises.writeFile>[2], string> & {
  /** Resolve only when the record is on the disk (fdatasync). Default false. `flush: true` does the same. */
  durable?: boolean | undefined;
};

/**
 * `appendFile` of `node:fs/promises` with group commit: one commit a file is in flight, what is appended meanwhile is
 * gathered and becomes the next, in the order of the calls. A commit opens the file, writes all its records at once, and
 * closes it, so a log can be rotated by renaming it. No record is divided between two commits.
 *
 * Each call resolves when its own record is wholly in the file, with `durable: true` when it is on the disk as well. When a
 * commit fails half-way, for instance because the disk is full, the records that were written are resolved, and those after
 * are rejected with the error of the system; a part of the first of them may be in the file.
 *
 * Strings and buffers of up to 512 KiB are taken as they are at the time of the call. Larger ones, iterables, streams,
 * a FileHandle, and flags other than `a` are passed on to `node:fs/promises`, in order; it reads a buffer while it writes it.
 */
export const appendFile = function appendFile(
  path: unknown,
  data: unknown,
  options?: unknown,
): Promise<void> {
  let durable: boolean;
  const file = toPath(path);
  const understood = file === null ? null : appendOptions(options);
  try {
    durable = isDurable(options);
    if (understood === null) checkSpelling(options);
  } catch (error) {
    return Promise.reject(error);
  }
  const record = understood === null ? null : toRecord(data, understood.encoding);
  if (record !== null) return commitTo(file!, record, understood!);
  return durable
    ? passOnDurable(path, file, data, options)
    : passOnAppend(path, file, data, options);
} as (
  path: PathLike | promises.FileHandle,
  data: AppendData,
  options?: AppendOptions | BufferEncoding | null,
) => Promise<void>;
