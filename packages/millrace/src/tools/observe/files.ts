/**
 * Files that are read, looked at and appended to by `node:fs`, with callbacks and with promises. Arguments, results and errors are passed on
 * as they are. Two ways of reading are told apart: whole files by `readFile`, and streams, as servers of static files use them: `stat`,
 * `open`, `read` until the end, `close`, each a job of the threadpool. A stream counts when it is closed: only then its size is known.
 */
import fs, { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type Method, type Patch, patchMethod } from '@millrace/base/patch';
import { isUint8Array, isURL } from '@millrace/base/realm';
import { nextTick } from '@millrace/base/timers';
import { onceAt } from '@millrace/base/turn';

/** Files requested, and the calls per tick. */
export interface FilesReport {
  /** Calls of `readFile` with a path, of `fs.promises` and with a callback. */
  reads: number;
  /** Calls among these that have a callback. */
  callbackReads: number;
  /** Calls among these that were the only one of their tick. */
  loneReads: number;
  /** Files among these with more than 256 KB, which are not read on the loop. */
  largeReads: number;
  /** Ticks with such calls. */
  readTicks: number;
  /** Most calls of `readFile` in a tick. */
  mostReadsInTick: number;
  /** Calls of `readFile` for a FileHandle, which are left to Node.js. */
  handleReads: number;
  /** Calls of `appendFile` with a path. */
  appends: number;
  /**
   * Files appended to, tick by tick: the most commits that `fs` would need. It also merges appends that come while a commit
   * is in flight.
   */
  commits: number;
  /** Calls of `stat`, `lstat` and `fstat`. */
  stats: number;
  /** Files opened for reading by `fs.open`, as streams do, and closed. */
  streams: number;
  /** Files among these with at most 256 KB read. */
  smallStreams: number;
  /** Jobs of the threadpool for the small ones: `open`, each `read`, `close`. */
  streamTrips: number;
}

/** Bytes that auto reads on the loop at most. */
const mostOnLoop = 256 * 1024;
/** Descriptors that are watched at once; a program that closes them by other means leaves them here. */
const mostOpen = 10_000;

interface Stream {
  trips: number;
  bytes: number;
}

type Note = (args: unknown[]) => void;

export class FilesObserver {
  readonly #counts = {
    ...{ reads: 0, callbackReads: 0, loneReads: 0, largeReads: 0, readTicks: 0 },
    ...{ mostReadsInTick: 0, handleReads: 0, appends: 0, commits: 0, stats: 0 },
    ...{ streams: 0, smallStreams: 0, streamTrips: 0 },
  };
  readonly #appended = new Set<string>();
  readonly #open = new Map<number, Stream>();
  #readsInTick = 0;
  #isHandleKnown = false;
  #isOn = false;
  #patches: Patch[] = [];

  start(): void {
    this.#isOn = true;
    this.#patches = [
      ...this.#wholeFiles(),
      ...['stat', 'lstat'].map((name) => this.#noting(promises, name, this.#noteStat)),
      ...['stat', 'lstat', 'fstat'].map((name) => this.#noting(fs, name, this.#noteStat)),
      ...this.#streams(),
    ];
    syncBuiltinESMExports();
  }

  stop(): void {
    this.#isOn = false;
    for (const patch of this.#patches.splice(0)) patch.undo();
    syncBuiltinESMExports();
    this.#open.clear();
    this.#endTick();
  }

  /** Calls that were seen. */
  get count(): number {
    const { reads, handleReads, appends, stats, streams } = this.#counts;
    return reads + handleReads + appends + stats + streams;
  }

  read(): FilesReport {
    return { ...this.#counts };
  }

  #wholeFiles(): Patch[] {
    const observer = this;
    const counts = this.#counts;
    return [
      patchMethod(promises, 'readFile', (original) => {
        // Async, as what it replaces.
        return async function readFile(this: unknown, ...args: unknown[]) {
          const result = Reflect.apply(original, this, args);
          if (!observer.#isOn) return result;
          if (isPath(args[0])) {
            observer.#noteRead();
            result.then(observer.#noteSize, ignore);
          } else if (isHandle(args[0])) counts.handleReads++;
          return result;
        };
      }),
      patchMethod(fs, 'readFile', (original) => {
        return function readFile(this: unknown, ...args: unknown[]) {
          if (!observer.#isOn || !isPath(args[0])) return Reflect.apply(original, this, args);
          onResult(args, observer.#noteSize);
          const result = Reflect.apply(original, this, args);
          // After it, since it may throw.
          observer.#noteRead();
          counts.callbackReads++;
          return result;
        };
      }),
      patchMethod(promises, 'open', (original) => {
        return async function open(this: unknown, ...args: unknown[]) {
          const result = Reflect.apply(original, this, args);
          if (!observer.#isHandleKnown) result.then(observer.#knowHandle, ignore);
          return result;
        };
      }),
      patchMethod(promises, 'appendFile', (original) => {
        return async function appendFile(this: unknown, ...args: unknown[]) {
          if (observer.#isOn && isPath(args[0])) {
            counts.appends++;
            observer.#appended.add(String(args[0]));
            observer.#tick();
          }
          return Reflect.apply(original, this, args);
        };
      }),
    ];
  }

  #streams(): Patch[] {
    return [
      this.#noting(fs, 'open', (args) => {
        if (!isForReading(args[1])) return;
        onResult(args, (fd) => {
          if (this.#open.size < mostOpen) this.#open.set(fd as number, { trips: 1, bytes: 0 });
        });
      }),
      this.#noting(fs, 'read', (args) => {
        const stream = this.#open.get(args[0] as number);
        if (stream === undefined) return;
        stream.trips++;
        onResult(args, (bytes) => {
          stream.bytes += bytes as number;
        });
      }),
      this.#noting(fs, 'close', ([fd]) => this.#noteClose(fd as number)),
    ];
  }

  #noting(target: object, name: string, note: Note): Patch {
    const observer = this;
    return patchMethod(target, name, (original) => {
      return function (this: unknown, ...args: unknown[]) {
        if (observer.#isOn) note(args);
        return Reflect.apply(original, this, args);
      };
    });
  }

  readonly #noteStat = (): void => {
    this.#counts.stats++;
  };

  #noteClose(fd: number): void {
    const stream = this.#open.get(fd);
    if (stream === undefined) return;
    this.#open.delete(fd);
    const counts = this.#counts;
    counts.streams++;
    if (stream.bytes > mostOnLoop) return;
    counts.smallStreams++;
    counts.streamTrips += stream.trips + 1;
  }

  #noteRead(): void {
    this.#counts.reads++;
    this.#readsInTick++;
    this.#tick();
  }

  readonly #noteSize = (contents: unknown): void => {
    if ((contents as { length: number }).length > mostOnLoop) this.#counts.largeReads++;
  };

  /** The class of FileHandles is not public; each handle has it. */
  readonly #knowHandle = (handle: object): void => {
    if (!this.#isOn || this.#isHandleKnown) return;
    this.#isHandleKnown = true;
    const note = () => {
      this.#counts.handleReads++;
    };
    this.#patches.push(this.#noting(Object.getPrototypeOf(handle), 'readFile', note));
  };

  readonly #tick = onceAt(nextTick, () => this.#endTick());

  #endTick(): void {
    const counts = this.#counts;
    counts.commits += this.#appended.size;
    this.#appended.clear();
    if (this.#readsInTick === 0) return;
    counts.readTicks++;
    if (this.#readsInTick === 1) counts.loneReads++;
    counts.mostReadsInTick = Math.max(counts.mostReadsInTick, this.#readsInTick);
    this.#readsInTick = 0;
  }
}

/** Tells `note` the result, if the last argument is a callback. It sees a success before the callback does. */
function onResult(args: unknown[], note: (result: unknown) => void): void {
  const callback = args.at(-1);
  if (typeof callback !== 'function') return;
  args[args.length - 1] = function (this: unknown, ...results: unknown[]) {
    if (results[0] === null) note(results[1]);
    return Reflect.apply(callback as Method, this, results);
  };
}

const ignore = (): void => undefined;

/** Paths by which Node.js 20 reads the modules that it loads. */
const moduleFile = /\.[cm]?[jt]s$/;

/** A file descriptor or a FileHandle is left to Node.js. */
function isPath(path: unknown): boolean {
  if (isURL(path)) return !moduleFile.test(path.pathname);
  return typeof path === 'string' || isUint8Array(path);
}

const isHandle = (value: unknown): boolean =>
  typeof (value as { fd?: unknown } | null | undefined)?.fd === 'number';

const isForReading = (flags: unknown): boolean =>
  flags === 'r' || flags === 0 || flags === undefined || typeof flags === 'function';
