import type { PathLike } from 'node:fs';
import type promises from 'node:fs/promises';
import { isUint8Array } from '@millrace/base/realm';
import { afterMicrotasks, Turn } from '@millrace/base/turn';
import {
  appendOptions,
  baseOf,
  checkSpelling,
  isDurable,
  type Path,
  snapshot,
  toPath,
  type Understood,
} from './arguments.js';
import type { AppendRequest } from './backend.js';
import { counters, refuse, weightOf } from './bounds.js';
import { backend } from './native.js';
import { Deferred, nodeAppendFile, rejectAborted, rejection } from './node-fs.js';
import { type Chain, type Chains, isFeeding, ordered, passOn, type Step } from './order.js';
import { Records } from './records.js';

/** Node.js writes more than this in several pieces, between which others may write: that is left to it. */
const maxRecordBytes = 512 * 1024;
/** A commit is one write, and a copy of what it writes. */
const maxCommitBytes = 4 * 1024 * 1024;

class Append extends Deferred<void> {
  readonly options: Understood;
  /** `this` of the call. */
  readonly caller: unknown;

  constructor(options: Understood, caller: unknown) {
    super();
    this.options = options;
    this.caller = caller;
  }

  abort(): void {
    this.resolve(rejectAborted(this.options.signal!));
  }

  /** Settles as another promise; undefined: the record is in the file. */
  settle(as: Promise<void> | undefined): void {
    this.resolve(as);
  }
}

/** Appends to one file that are written together. Takes more of them until it is their turn. */
export class Commit implements AppendRequest, Step {
  readonly shared = false;
  readonly refused: AppendRequest['refused'] = null;
  readonly path: Path;
  readonly base: string | null;
  readonly mode: number;
  readonly records = new Records();
  durable = false;
  readonly #chain: Chain;
  protected appends: Append[] = [];
  #weight = 0;
  #open = true;

  constructor(chain: Chain, path: Path, mode: number) {
    this.#chain = chain;
    this.path = path;
    this.base = baseOf(path);
    this.mode = mode;
  }

  /** Reports whether a record may join: only if the path was spelled the same, as it is part of the error that a caller gets. */
  takes(path: Path, mode: number, bytes: number): boolean {
    return (
      this.#open &&
      this.path === path &&
      this.mode === mode &&
      this.records.size + bytes <= maxCommitBytes
    );
  }

  /** Adds a record whose weight was reserved. */
  add(
    data: string | Uint8Array,
    size: number,
    options: Understood,
    caller: unknown,
  ): Promise<void> {
    this.records.add(data, size);
    const append = new Append(options, caller);
    this.appends.push(append);
    if (options.durable) this.durable = true;
    return append.promise;
  }

  start(): void {
    starting.add(this);
  }

  write(): void {
    this.#open = false;
    this.#weight = weightOf(this.records.size, this.records.count);
    if (this.appends.some(isAborted)) this.#dropAborted();
    if (this.appends.length === 0) {
      this.end();
      return;
    }
    counters.commits++;
    try {
      backend.append(this);
    } catch (error) {
      // Nothing was begun, but the commits after this one must be.
      this.done(this.appends.map(() => error as NodeJS.ErrnoException));
    }
  }

  done(errors: readonly (NodeJS.ErrnoException | null)[] | null): void {
    const { appends } = this;
    for (let i = 0; i < appends.length; i++) {
      const error = errors === null ? null : errors[i]!;
      // A record that only has to be written does not depend on a sync that another one in its commit asked for.
      const isIn =
        error === null || (!appends[i]!.options.durable && error.syscall === 'fdatasync');
      appends[i]!.settle(isIn ? undefined : this.failed(i, error, errors!));
    }
    this.end();
  }

  /** Result for a record that, according to `error`, is not wholly in the file. Each caller gets an error of its own. */
  protected failed(
    _index: number,
    error: NodeJS.ErrnoException,
    _errors: readonly (NodeJS.ErrnoException | null)[],
  ): Promise<void> {
    return rejection(Object.assign(new Error(error.message), error));
  }

  protected end(): void {
    this.records.free();
    this.#chain.leave(this.#weight);
  }

  #dropAborted(): void {
    const appends = this.appends;
    this.records.keep((i) => !isAborted(appends[i]!));
    for (const append of appends) if (isAborted(append)) append.abort();
    this.appends = appends.filter((append) => !isAborted(append));
  }
}

const isAborted = ({ options }: Append): boolean => options.signal?.aborted === true;

/** Starts commits after the microtasks: callers whose promises the last commit has just resolved can still have their next record in this one. */
const starting = new Turn<Commit>(afterMicrotasks, (commits) => {
  for (const commit of commits) commit.write();
});

/** Writes the commits that wait for the end of the tick. */
export const writeAll = starting.flush;

/** Copies data as a record: text as UTF-8; null when Node.js has to see the data. */
export function toRecord(
  data: unknown,
  encoding: BufferEncoding | null,
): string | Uint8Array | null {
  if (typeof data === 'string') {
    if (data.length > maxRecordBytes) return null;
    return encoding === null || encoding === 'utf8' ? data : Buffer.from(data, encoding);
  }
  if (!ArrayBuffer.isView(data) || data.byteLength > maxRecordBytes) return null;
  if (isUint8Array(data)) return data;
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** A kind of commit, and what orders those of one file. */
interface Kind {
  readonly chains: Chains;
  readonly Commit: typeof Commit;
}

/** Null when there is no room for it. */
export function commitTo(
  { chains, Commit: Own }: Kind,
  path: Path,
  data: string | Uint8Array,
  options: Understood,
  caller?: unknown,
): Promise<void> | null {
  const size = typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength;
  const weight = weightOf(size, 1);
  const chain = chains.reserve(path, weight);
  if (chain === null) return null;
  const { last } = chain;
  let promise: Promise<void>;
  try {
    if (last instanceof Commit && last.takes(path, options.mode, size)) {
      promise = last.add(data, size, options, caller);
    } else {
      const commit = new Own(chain, path, options.mode);
      promise = commit.add(data, size, options, caller);
      chain.add(commit);
    }
  } catch (error) {
    // There is no memory for it.
    chain.release(weight);
    return Promise.reject(error);
  }
  counters.appends++;
  counters.bytes += size;
  return promise;
}

const byName: Kind = { chains: ordered, Commit };

function passOnAppend(path: unknown, file: Path | null, data: unknown, options: unknown) {
  const node = nodeAppendFile as (path: unknown, data: unknown, options: unknown) => Promise<void>;
  const call = (to: unknown, kept: unknown) => node(to, data, kept);
  return passOn('appendFile', call, path, file, options, false, data);
}

/** Node.js has `flush` for it, but not with a FileHandle. */
async function passOnDurable(path: unknown, file: Path | null, data: unknown, options: unknown) {
  const own = snapshot(options) as { flush?: unknown };
  if (typeof (own.flush ?? false) === 'boolean') own.flush = true;
  await passOnAppend(path, file, data, own);
  const { datasync } = path as Partial<promises.FileHandle>;
  if (typeof datasync === 'function') await datasync.call(path as promises.FileHandle);
}

/** Data for `appendFile`, as for that of `node:fs/promises`. */
export type AppendData = Parameters<typeof promises.writeFile>[1];
/** Options of `appendFile`: those of `node:fs/promises`, and `durable`. */
export type AppendOptions = Exclude<Parameters<typeof promises.writeFile>[2], string> & {
  /** Resolves only when the record is on the disk (fdatasync). Default false. `flush: true` does the same. */
  durable?: boolean | undefined;
};

/**
 * `appendFile` of `node:fs/promises` with group commit: one commit per file is in flight, and the records appended meanwhile
 * form the next, in the order of the calls. A commit opens the file, writes all its records at once, and closes it, so a log
 * can be rotated by renaming it. No record is divided between two commits.
 *
 * Each call resolves when its own record is wholly in the file, with `durable: true` when it is on the disk as well. When a
 * commit fails half-way, for instance because the disk is full, the records that were written are resolved, and those after
 * are rejected with the error of the system; a part of the first of them may be in the file.
 *
 * Strings and buffers of up to 512 KiB are copied at the time of the call. Larger ones, iterables, streams, a FileHandle, and
 * flags other than `a` are passed on to `node:fs/promises`, in order; it reads a buffer while it writes it.
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
  if (record !== null && !isFeeding(file!)) {
    return commitTo(byName, file!, record, understood!) ?? refuse('appendFile');
  }
  return durable
    ? passOnDurable(path, file, data, options)
    : passOnAppend(path, file, data, options);
} as (
  path: PathLike | promises.FileHandle,
  data: AppendData,
  options?: AppendOptions | BufferEncoding | null,
) => Promise<void>;
