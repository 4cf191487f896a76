/**
 * `readFile` and `appendFile` for programs that were written for `node:fs/promises`, and `readFile` for those of `node:fs`: with them a
 * program can tell no difference except by time. So no call waits for one that it would not wait for in Node.js, nothing is refused, and
 * what cannot be done is left to Node.js, whose errors are then its own, with the stack of the caller. `this` is that of the caller:
 * stacks show it.
 *
 * Null or false is returned for a call that Node.js has to carry out from its beginning.
 */
import type { Method } from '@millrace/base/patch';
import { PendingCallback, useAddon } from '../auto/functions.cjs';
import { binding } from '../native/load.js';
import { Commit, commitTo, toRecord, writeAll } from './append.js';
import {
  asWritten,
  baseOf,
  fromBase,
  opening,
  type Path,
  plainAppendOptions,
  plainReadOptions,
  toPath,
  type Understood,
} from './arguments.js';
import type { ReadRequest } from './backend.js';
import { beginRead, endRead } from './bounds.js';
import { backend } from './native.js';
import { close, codeOf, nodeAppendFile, nodeReadFile, rejection, systemError } from './node-fs.js';
import { Chains } from './order.js';
import { gather, Read } from './read.js';

type Call<Value> = (this: unknown, ...args: unknown[]) => Promise<Value>;

const read = nodeReadFile as Call<Buffer | string>;
const append = nodeAppendFile as unknown as Call<void>;

/** Paths of large files, and how many reads of each go to Node.js without a try, which is dear where it comes to nothing. */
const larges = new Map<Path, number>();
const untried = 64;
const mostLarges = 1000;

function noteLarge(path: Path): void {
  if (typeof path !== 'string') return;
  if (larges.size === mostLarges) larges.clear();
  larges.set(path, untried);
}

function isLarge(path: Path): boolean {
  const left = larges.get(path);
  if (left === undefined) return false;
  if (left > 1) larges.set(path, left - 1);
  else larges.delete(path);
  return true;
}

class PlainRead extends Read {
  override readonly tooLarge = (): void => {
    endRead();
    noteLarge(this.path);
    this.fail();
  };
  readonly #caller: unknown;

  constructor(path: Path, options: Understood, caller: unknown) {
    super(path, options);
    this.#caller = caller;
  }

  /** Node.js tries again: later than it would have failed, never sooner. */
  protected override fail(): void {
    const { path, base, encoding } = this;
    this.resolve(opening(path, base, (opened) => read.call(this.#caller, opened, encoding)));
  }
}

export function readFile(
  this: unknown,
  path: unknown,
  options: unknown,
): Promise<Buffer | string> | null {
  const file = toPath(path);
  const understood = file === null || isLarge(file) ? null : plainReadOptions(options);
  if (understood === null || !beginRead()) return null;
  const request = new PlainRead(file!, understood, this);
  request.start();
  return request.promise;
}

if (binding !== null) useAddon(binding);

/** A read of `node:fs`, whose caller is called back. */
class CallbackRead implements ReadRequest {
  readonly path: Path;
  readonly base: string | null;
  readonly encoding: BufferEncoding | null;
  readonly cancelled = false;
  readonly #node: Method;
  readonly #caller: unknown;
  readonly #callback: Method;
  readonly #pending: PendingCallback;

  constructor(path: Path, options: Understood, node: Method, caller: unknown, callback: Method) {
    this.path = path;
    this.base = baseOf(path);
    this.encoding = options.encoding;
    this.#node = node;
    this.#caller = caller;
    this.#callback = callback;
    this.#pending = new PendingCallback('FSREQCALLBACK', callback, undefined);
  }

  done(error: NodeJS.ErrnoException | null, data: Buffer | string | undefined): void {
    endRead();
    if (error === null) this.#pending.call([null, data]);
    else this.#fail();
  }

  tooLarge(): void {
    endRead();
    noteLarge(this.path);
    this.#fail();
  }

  /** Node.js tries again: later than it would have failed, never sooner. */
  #fail(): void {
    const { path } = this;
    const callback = this.#callback;
    const opened = fromBase(path, this.base);
    const told: Method =
      opened === path
        ? callback
        : function (error, ...rest) {
            Reflect.apply(callback, this, [asWritten(error, opened, path), ...rest]);
          };
    this.#pending.passOn(this.#node, this.#caller, [opened, this.encoding, told]);
  }
}

/**
 * `readFile` of `node:fs`, which is `node`, with the arguments `args`. False as well where it gains nothing: what the addon does not
 * read, Node.js reads as fast.
 */
export function readFileThen(node: Method, caller: unknown, args: readonly unknown[]): boolean {
  const [path, options, last] = args;
  const callback = last || options;
  const file = backend.name === 'native' && typeof callback === 'function' ? toPath(path) : null;
  const understood =
    file === null || isLarge(file) ? null : plainReadOptions(last ? options : null);
  if (understood === null || !beginRead()) return false;
  gather(new CallbackRead(file!, understood, node, caller, callback as Method));
  return true;
}

/** Appends that are under way, by file: they wait for each other, and for nothing else. */
const chains = new Chains();

class PlainCommit extends Commit {
  override readonly refused = (fd: number, written: number): void => {
    // Copied before the end, which gives the memory back.
    const rests = this.appends.map((append, i) => {
      const isIn = written > 0 && this.records.ends[i]! <= written;
      const rest = isIn ? undefined : this.#byNode(i, written);
      append.settle(rest);
      return rest;
    });
    this.end();
    if (fd >= 0) Promise.allSettled(rests).then(() => close(fd));
  };

  protected override failed(
    index: number,
    error: NodeJS.ErrnoException,
    errors: readonly (NodeJS.ErrnoException | null)[],
  ): Promise<void> {
    const { errno = codeOf('EIO'), syscall } = error;
    const { length } = this.records.bytes;
    if (syscall === 'fdatasync') {
      // The system may report it only once: that Node.js can sync now means nothing.
      const failure = systemError(errno, 'fsync', null);
      return this.#byNode(index, length).then(() => rejection(failure));
    }
    // Of the first record that a write could not take a part may be in the file; of those behind it nothing is.
    const isUntouched =
      syscall !== 'close' && (syscall !== 'write' || errors[index - 1]?.syscall === 'write');
    if (isUntouched) return this.#byNode(index, 0);
    return rejection(systemError(errno, syscall, null));
  }

  /** Node.js appends what is not among the first `written` bytes of the commit. */
  #byNode(index: number, written: number): Promise<void> {
    const { path, base, mode, records } = this;
    const { options, caller } = this.appends[index]!;
    const from = Math.max(index === 0 ? 0 : records.ends[index - 1]!, written);
    const rest = Buffer.from(records.bytes.subarray(from, records.ends[index]!));
    return opening(path, base, (opened) =>
      append.call(caller, opened, rest, { mode, flush: options.durable }),
    );
  }
}

const plain = { chains, Commit: PlainCommit };

export function appendFile(
  this: unknown,
  path: unknown,
  data: unknown,
  options: unknown,
): Promise<void> | null {
  const file = toPath(path);
  if (file === null) return null;
  const understood = plainAppendOptions(options);
  const record = understood === null ? null : toRecord(data, understood.encoding);
  const promise = record === null ? null : commitTo(plain, file, record, understood!, this);
  if (promise === null) startBefore(file);
  return promise;
}

/** Node.js would have begun them before what comes now. */
function startBefore(file: Path): void {
  const chain = chains.at(file);
  if (chain === undefined) return;
  chain.startAll();
  writeAll();
}
