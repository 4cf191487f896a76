/**
 * The calls that static servers make, `stat`, `lstat`, `fstat`, `open`, `read` and `close` of `node:fs`, and the first two of its promises,
 * on the loop. On Node.js each is a trip to the threadpool, which costs several times what the call itself does for a file in memory; a
 * `stat` and a `createReadStream()` are five. The addon makes those that need not wait, for regular files on local file systems; every other
 * call goes to Node.js as it came, and so does each that fails, so that all errors are those of Node.js.
 *
 * A program sees what it sees on Node.js: the answer comes later, in a macrotask of its own, in the caller's async context, in the order
 * of the calls that were made here. `Stats` are made by Node.js, for the very file that was found. A descriptor is a real one; it is *ours*
 * from `open` until a call on it has to go to Node.js. From then on all go there, or they might overtake it. It is closed here only if it
 * was read here: a program that does not wait may still use it in a call that this file does not see.
 *
 * A turn of the loop answers a limited number of calls and bytes; what comes beyond goes to Node.js at once. Where the addon refuses path
 * after path, it is asked ever more rarely, so that programs without such files pay next to nothing. It is loaded by a program that goes
 * on with such calls after its start.
 */

import { type Method, Patch } from '@millrace/base/patch';
import { builtin, isPlainObject, isUint8Array } from '@millrace/base/realm';
import { setTimeout } from '@millrace/base/timers';
import { atTurnEnd, onceAt } from '@millrace/base/turn';
import type { FileCallsBinding } from '../native/binding.js' with { 'resolution-mode': 'import' };
import type { Part } from './feature.cjs';
import { areOriginal, type BindingName, whyReplaced } from './fs-binding.cjs';
import {
  applyAll,
  checkModules,
  pass,
  passPromise,
  replacedBefore,
  sentence,
  undoAll,
} from './functions.cjs';

const fs = builtin('node:fs');
const { isProxy } = builtin('node:util').types;
const { fstatSync, readFileSync } = fs;
// Applications may replace the global one.
const { Promise: NodePromise } = globalThis;
const { bind } = Function.prototype;

type Stats = import('node:fs').Stats;
type Path = string | Uint8Array;

/** In a worker a process cannot change its folder. node:worker_threads says it, too, but loads node:stream with it. */
const isWorker = (process.chdir as { readonly disabled?: boolean }).disabled === true;

/** Calls and bytes of one turn. A call takes some microseconds. */
const callsOfTurn = 256;
const bytesOfTurn = 1024 * 1024;
/** Bytes of one read, those of a chunk of a stream. Copying more takes as long as the trip that is saved. */
const longestRead = 64 * 1024;
/** Paths that the addon refuses in a row before the next ones go to Node.js: as many as 2 ** refusals in a row beyond `freely`. */
const refusals = 16;
const freely = 12;
const mostSkipped = 4096;
/** Ms after the start in which no call counts, and calls after that of which the last one loads the addon: many programs end before. */
const settledMs = 100;
const callsToLoad = 32;
/** File systems on local disks that can read without waiting. Overlayfs and tmpfs cannot. */
const localTypes: readonly unknown[] = ['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'f2fs'];
/** Bytes; the number has to be exact. */
const farthest = 2 ** 52;
/** A mount that the addon does not know is this less its ID. */
const unknownMount = -2;

/** Functions beneath the calls. All `Stats` come from `fstat`. */
const ofStat = ['stat', 'fstat'] as const;
const ofLstat = ['lstat', 'fstat'] as const;
const ofFstat = ['fstat'] as const;
const ofOpen = ['open'] as const;
const ofRead = ['read'] as const;
const ofClose = ['close'] as const;

const callbackNames = ['stat', 'lstat', 'fstat', 'open', 'read', 'close'] as const;
const promiseNames = ['stat', 'lstat'] as const;

export class FileCallsPart implements Part {
  state: Part['state'] = 'waiting';
  why: string | null = null;
  readonly #patches: readonly Patch[];
  #isOn = false;
  /** Null: not loaded, or there is none. */
  #addon: FileCallsBinding | null = null;
  /** Calls until it is loaded. */
  #toLoad = Number.POSITIVE_INFINITY;
  /** Our descriptors, and whether they have been read. */
  readonly #ours = new Map<number, boolean>();
  #calls = callsOfTurn;
  #bytes = bytesOfTurn;
  /** Paths that were refused in a row, and those that go to Node.js before the addon is asked again. */
  #refused = 0;
  #skipped = 0;

  constructor() {
    const part = this;
    const stats = (original: Method, follows: boolean): Method =>
      function stat(this: unknown, ...args: unknown[]): unknown {
        const callback = statsCallback(args);
        const answer = callback === null ? null : part.#stat(args[0], follows);
        return answer === null ? pass(original, this, args) : tell(callback!, null, answer);
      };
    const callbacks: Record<(typeof callbackNames)[number], (original: Method) => Method> = {
      stat: (original) => stats(original, true),
      lstat: (original) => stats(original, false),
      fstat: (original) =>
        function fstat(this: unknown, ...args: unknown[]): unknown {
          const callback = statsCallback(args);
          const answer = part.#fstat(callback, args[0]);
          return answer === null ? pass(original, this, args) : tell(callback!, null, answer);
        },
      open: (original) =>
        function open(this: unknown, ...args: unknown[]): unknown {
          const callback = readingCallback(args);
          const fd = callback === null ? null : part.#open(args[0]);
          return fd === null ? pass(original, this, args) : tell(callback!, null, fd);
        },
      read: (original) =>
        function read(this: unknown, ...args: unknown[]): unknown {
          const callback = functionOf(args[5]);
          const bytes = part.#read(callback, args);
          return bytes === null
            ? pass(original, this, args)
            : tell(callback!, null, bytes, args[1]);
        },
      close: (original) =>
        function close(this: unknown, ...args: unknown[]): unknown {
          const callback = functionOf(args[1]);
          const isClosed = part.#close(callback, args[0]);
          return isClosed ? tell(callback!, null) : pass(original, this, args);
        },
    };
    // Async and without an await, so that stacks are the same.
    const promised =
      (follows: boolean) =>
      (original: Method): Method =>
        ({
          async stat(...args: unknown[]): Promise<unknown> {
            const answer = isUsual(args[1]) ? part.#stat(args[0], follows) : null;
            return answer === null ? passPromise(original, this, args) : later(answer);
          },
        }).stat;
    this.#patches = [
      ...callbackNames.map((name) => new Patch(fs, name, callbacks[name])),
      ...promiseNames.map((name) => new Patch(fs.promises, name, promised(name === 'stat'))),
    ];
  }

  on(): undefined {
    // A worker closes the descriptors that Node.js knows of when it ends. The permission model has rules for each path.
    if (process.platform !== 'linux' || isWorker || process.permission !== undefined) return;
    if (tracesSyncIo()) return;
    const methods = [
      ...callbackNames.map((name) => [fs[name], name, 'function', 'new FSReqCallback('] as const),
      ...promiseNames.map(
        (name) => [fs.promises[name], name, 'async function', 'kUsePromises'] as const,
      ),
    ];
    const foreign = methods.find(
      ([method, name, kind, sign], i) =>
        !this.#patches[i]!.isApplied && !isOfNode(method, `${kind} ${name}(`, sign),
    );
    this.why = foreign === undefined ? whyReplaced() : replacedBefore(`fs.${foreign[1]}`);
    this.why ??= applyAll(this.#patches);
    if (this.why !== null) return;
    this.#isOn = true;
    setTimeout(() => {
      this.#toLoad = callsToLoad;
    }, settledMs).unref();
  }

  off(): void {
    this.#isOn = false;
    this.#ours.clear();
    undoAll(this.#patches);
  }

  /** Null stands, here and below, for a call that Node.js has to make. */
  #stat(path: unknown, follows: boolean): Stats | null {
    if (!isPath(path) || !this.#mayAsk(follows ? ofStat : ofLstat)) return null;
    const fd = this.#find((addon) => addon.fileLook(path, follows));
    if (fd === null) return null;
    const stats = fstatSync(fd);
    this.#addon!.fileDrop(fd);
    return stats;
  }

  #fstat(callback: unknown, fd: unknown): Stats | null {
    if (!this.#ours.has(fd as number)) return null;
    if (callback !== null && this.#mayCall(ofFstat) && this.#addon!.fileCheck(fd as number)) {
      this.#renewLater();
      return fstatSync(fd as number);
    }
    this.#ours.delete(fd as number);
    return null;
  }

  #open(path: unknown): number | null {
    if (!isPath(path) || !this.#mayAsk(ofOpen)) return null;
    const fd = this.#find((addon) => addon.fileOpen(path));
    if (fd === null) return null;
    this.#ours.set(fd, false);
    return fd;
  }

  #read(callback: unknown, args: readonly unknown[]): number | null {
    const [fd, buffer, offset, length, position] = args as [
      number,
      Uint8Array,
      number,
      number,
      number,
    ];
    if (!this.#ours.has(fd)) return null;
    const isPlain =
      callback !== null &&
      isUint8Array(buffer) &&
      isWhole(offset) &&
      isWhole(length) &&
      length > 0 &&
      length <= longestRead &&
      offset + length <= buffer.byteLength &&
      (position === undefined || position === null || (isWhole(position) && position < farthest));
    if (isPlain && length <= this.#bytes && this.#mayCall(ofRead)) {
      this.#renewLater();
      // All of it, as a refusal may come after most has been copied.
      this.#bytes -= length;
      const bytes = this.#addon!.fileRead(fd, buffer, offset, length, position ?? -1);
      if (bytes >= 0) {
        this.#bytes += length - bytes;
        this.#ours.set(fd, true);
        return bytes;
      }
    }
    this.#ours.delete(fd);
    return null;
  }

  #close(callback: unknown, fd: unknown): boolean {
    const isRead = this.#ours.get(fd as number);
    this.#ours.delete(fd as number);
    if (isRead !== true || callback === null || !this.#mayCall(ofClose)) return false;
    this.#renewLater();
    return this.#addon!.fileClose(fd as number);
  }

  /** A descriptor from the addon, after it has been told of the mount if it did not know that. */
  #find(ask: (addon: FileCallsBinding) => number): number | null {
    const addon = this.#addon!;
    let found = ask(addon);
    if (found <= unknownMount) {
      const id = unknownMount - found;
      const is = isLocal(id);
      if (is !== null) {
        addon.fileMount(id, is);
        found = ask(addon);
      }
    }
    if (found >= 0) {
      this.#refused = 0;
      this.#renewLater();
      return found;
    }
    this.#refused++;
    if (this.#refused >= refusals) {
      this.#skipped = Math.min(2 ** (this.#refused - freely), mostSkipped);
    }
    return null;
  }

  /** Reports whether the addon may be asked for one more path. */
  #mayAsk(beneath: readonly BindingName[]): boolean {
    if (this.#skipped === 0) return this.#mayCall(beneath);
    this.#skipped--;
    return false;
  }

  /** Reports whether the turn may answer one more, for which Node.js would use these functions. */
  #mayCall(beneath: readonly BindingName[]): boolean {
    if (!this.#isOn || !areOriginal(beneath)) return false;
    if (this.#addon === null) {
      this.#toLoad--;
      if (this.#toLoad === 0) this.#load();
      return false;
    }
    if (this.#calls === 0) return false;
    this.#calls--;
    if (this.#calls === 0) this.#renewLater();
    return true;
  }

  /** Renews the budget, but not if calls are only refused: there is nothing yet that the next turn could have too much of. */
  readonly #renewLater = onceAt(atTurnEnd, () => {
    this.#calls = callsOfTurn;
    this.#bytes = bytesOfTurn;
  });

  async #load(): Promise<void> {
    // `isWorker` may not say so in later releases.
    if (!builtin('node:worker_threads').isMainThread) {
      this.off();
      return;
    }
    try {
      checkModules();
      const { binding } = await import('../native/load.js');
      if (binding?.fileCanLook() !== true) return;
      this.#addon = binding;
      this.state = 'active';
    } catch (error) {
      this.why = sentence(error);
    }
  }
}

/** Calls back in a macrotask of its own, without a frame of ours in its stack. */
function tell(callback: Method, ...answer: unknown[]): undefined {
  atTurnEnd(Reflect.apply(bind, callback, [undefined, ...answer]));
}

const later = (answer: unknown): Promise<unknown> =>
  new NodePromise((resolve) => {
    atTurnEnd(() => resolve(answer));
  });

/** The callback of a call of `stat` that asks for the usual answer; null: Node.js has to look at it. */
function statsCallback([, options, callback]: readonly unknown[]): Method | null {
  if (typeof options === 'function') return functionOf(options);
  return isUsual(options) ? functionOf(callback) : null;
}

/** The callback of a call of `open` for reading; null: Node.js has to look at it. */
function readingCallback(args: readonly unknown[]): Method | null {
  const [, flags, mode, callback] = args;
  if (args.length < 3) return functionOf(flags);
  if (flags !== 'r' && flags !== undefined && flags !== null) return null;
  if (typeof mode === 'function') return functionOf(mode);
  const isMode = mode === undefined || mode === null || (isWhole(mode) && mode <= 0o7777);
  return isMode ? functionOf(callback) : null;
}

/** Returns the value if it is a function, but no Proxy, which would see how it is bound. */
const functionOf = (value: unknown): Method | null =>
  typeof value === 'function' && !isProxy(value) ? (value as Method) : null;

/** Options of `stat` that ask for nothing, and that can be read without being noticed. */
function isUsual(options: unknown): boolean {
  if (options === undefined) return true;
  if (typeof options !== 'object' || options === null || isProxy(options)) return false;
  if (!isPlainObject(options)) return false;
  const { bigint, ...others } = Object.getOwnPropertyDescriptors(options) as PropertyDescriptorMap;
  return Reflect.ownKeys(others).length === 0 && (bigint === undefined || bigint.value === false);
}

const isPath = (value: unknown): value is Path => typeof value === 'string' || isUint8Array(value);

const isWhole = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** Reports whether a file is local, by the type of the mount, without asking its file system, which may not answer. Null: this cannot be read now. */
function isLocal(id: number): boolean | null {
  try {
    const mounts = readFileSync('/proc/self/mountinfo', 'latin1').split('\n');
    const mount = mounts.find((line) => line.startsWith(`${id} `));
    return mount !== undefined && localTypes.includes(/ - (\S+) /.exec(mount)?.[1]);
  } catch {
    return null;
  }
}

/** Reports whether Node.js warns of each system call on the loop. */
const tracesSyncIo = (): boolean =>
  [...process.execArgv, process.env?.NODE_OPTIONS ?? ''].some((options) =>
    /--trace[-_]sync[-_]io/.test(options),
  );

/** The functions are those of Node.js 20 to 24, without virtual files. Others are left alone. */
function isOfNode(method: unknown, begin: string, sign: string): boolean {
  const source = String(method);
  return source.startsWith(begin) && source.includes(sign) && !source.includes('vfs');
}
