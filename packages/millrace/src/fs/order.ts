/**
 * Order among the calls on one path: a call that comes after a write that is not over yet waits for it. A path without a
 * pending write has no entry here, and costs nothing.
 *
 * Paths are compared as resolved text: two names of one file (links, another case) are two files. Whatever waits also waits for
 * the reads between two writes, so that none of them sees a half-rewritten file.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type promises from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { captureContext, runInContext, runUnnoticed } from '@millrace/base/context';
import { baseOf, fromBase, isAborted, opening, type Path, snapshot, toPath } from './arguments.js';
import { beginWrite, endWrite, refuse, weightOf } from './bounds.js';
import { Deferred, nodeWriteFile, stat } from './node-fs.js';

/** Step of work on a file. Calls `leave()` of its chain when it is over. */
export interface Step {
  /** May run beside other shared steps: it only reads. */
  readonly shared: boolean;
  start(): void;
}

/** The chains of paths with a pending write, by what orders them. */
export class Chains {
  readonly #byKey = new Map<string, Chain>();

  at(path: Path): Chain | undefined {
    return this.#byKey.size === 0 ? undefined : this.#byKey.get(keyOf(path));
  }

  /** The chain of a path about to be written, with room for `weight` bytes, which are to be given to its `leave()`. Null: no room. */
  reserve(path: Path, weight: number): Chain | null {
    const key = keyOf(path);
    const chain = this.#byKey.get(key);
    if (!beginWrite(weight, chain === undefined ? 0 : chain.pending)) return null;
    const reserved = chain === undefined ? this.#add(key, path) : chain;
    reserved.pending += weight;
    return reserved;
  }

  #add(key: string, path: Path): Chain {
    const chain = new Chain(path, () => this.#byKey.delete(key));
    this.#byKey.set(key, chain);
    return chain;
  }
}

/** Chains of the functions that programs call by name. */
export const ordered = new Chains();

/** The chain that a call on this path has to wait for. */
export function chainAt(path: Path): Chain | undefined {
  const chain = ordered.at(path);
  return chain === undefined || isFeeding(path) ? undefined : chain;
}

/** The absolute path that was asked for last, which is often the next as well. */
let known = '/';
let keyOfKnown = resolve(known);

function keyOf(path: Path): string {
  const text = typeof path === 'string' ? path : path.toString('latin1');
  if (text === known) return keyOfKnown;
  try {
    const key = resolve(text);
    if (isAbsolute(text)) {
      known = text;
      keyOfKnown = key;
    }
    return key;
  } catch {
    // A relative path, and the working directory is gone.
    return text;
  }
}

export class Chain {
  /** Bytes of the calls that are not over. */
  pending = 0;
  readonly #path: Path;
  readonly #base: string | null;
  readonly #onEnd: () => void;
  readonly #waiting: Step[] = [];
  #running = 0;
  /** True while the running steps are shared. */
  #shared = false;
  #ordered = true;
  #asked = false;
  #last: Step | null = null;

  constructor(path: Path, onEnd: () => void) {
    this.#path = path;
    this.#base = baseOf(path);
    this.#onEnd = onEnd;
  }

  /** The newest step. It may be over. */
  get last(): Step | null {
    return this.#last;
  }

  /** Starts the step when its turn comes: at once if nothing is before it. */
  add(step: Step): void {
    this.#last = step;
    if (this.#waiting.length === 0 && this.#mayStart(step)) {
      this.#start(step);
      return;
    }
    this.#waiting.push(step);
    if (step.shared) this.#askWhatItIs();
  }

  /** A step is over, and so many reserved bytes are free. */
  leave(weight: number): void {
    this.#running--;
    this.#startNext();
    this.release(weight);
  }

  /** Releases reserved bytes. */
  release(weight: number): void {
    this.pending -= weight;
    endWrite(weight);
    if (this.#running === 0) this.#onEnd();
  }

  /** Starts whatever waits, although others are not over. */
  startAll(): void {
    for (const step of this.#waiting.splice(0)) this.#start(step);
  }

  #mayStart(step: Step): boolean {
    return !this.#ordered || this.#running === 0 || (this.#shared && step.shared);
  }

  #start(step: Step): void {
    this.#running++;
    this.#shared = step.shared;
    step.start();
  }

  #startNext(): void {
    while (this.#waiting.length > 0 && this.#mayStart(this.#waiting[0]!)) {
      this.#start(this.#waiting.shift()!);
    }
  }

  /** The writer of a FIFO waits for its reader: a reader that waited for the writer would wait forever. */
  #askWhatItIs(): void {
    if (this.#asked) return;
    this.#asked = true;
    stat(fromBase(this.#path, this.#base), (error, stats) => {
      if (error !== null || stats.isFile() || stats.isDirectory()) return;
      this.#ordered = false;
      this.#startNext();
    });
  }
}

class Call<T> extends Deferred<T> implements Step {
  readonly shared: boolean;
  readonly #chain: Chain;
  readonly #weight: number;
  readonly #run: () => Promise<T>;
  readonly #context = captureContext('auto');

  constructor(chain: Chain, weight: number, shared: boolean, run: () => Promise<T>) {
    super();
    this.shared = shared;
    this.#chain = chain;
    this.#weight = weight;
    this.#run = run;
  }

  start(): void {
    runInContext(this.#context, startCall, this as Call<unknown>);
  }

  run(): void {
    // Resolved with the result, not rejected with its error: so the stack of the error names who waits.
    this.resolve(this.#run().finally(() => this.#chain.leave(this.#weight)));
  }
}

const startCall = (call: Call<unknown>): void => call.run();

/** A write whose data comes from the code that runs; `outer`: whose data comes from the code of that one. */
interface Feed {
  readonly chain: Chain;
  readonly outer: Feed | undefined;
  isOver: boolean;
}

const feed = new AsyncLocalStorage<Feed | undefined>();
let feeds = 0;

/**
 * Reports whether the code that runs makes the data of a running write to this path, which waits for it: it must not wait for
 * that.
 */
export function isFeeding(path: Path): boolean {
  if (feeds === 0) return false;
  const chain = ordered.at(path);
  if (chain === undefined) return false;
  for (let at = feed.getStore(); at !== undefined; at = at.outer) {
    if (at.chain === chain && !at.isOver) return true;
  }
  return false;
}

/** Runs a write whose data comes from an async iterable. */
async function runFed<T>(chain: Chain, run: () => Promise<T>): Promise<T> {
  const own: Feed = { chain, outer: feeds === 0 ? undefined : feed.getStore(), isOver: false };
  feeds++;
  try {
    return await runUnnoticed(feed, own, run);
  } finally {
    own.isOver = true;
    // Promises cost less while no storage is in use.
    if (--feeds === 0) feed.disable();
  }
}

const isAsyncIterable = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && Symbol.asyncIterator in data;

/** Bytes of the data of a call, as far as they are known before it is read. */
function sizeOf(data: unknown): number {
  if (typeof data === 'string') return data.length;
  return ArrayBuffer.isView(data) ? data.byteLength : 0;
}

/** A function of `node:fs/promises` whose arguments begin with a path and end with options. */
export type NodeCall<T> = (path: unknown, options: unknown) => Promise<T>;

/**
 * Passes a call on to Node.js when its turn has come: now, if nothing is before it. `file` is null when its path cannot be
 * compared. `data` is what the call writes.
 */
export function passOn<T>(
  name: string,
  node: NodeCall<T>,
  path: unknown,
  file: Path | null,
  options: unknown,
  shared: boolean,
  data?: unknown,
): Promise<T> {
  let kept = options;
  try {
    if (file === null || isAborted(options)) return node(path, options);
    const before = ordered.at(file);
    if (before === undefined ? shared : isFeeding(file)) return node(path, options);
    if (before !== undefined) kept = snapshot(options);
  } catch {
    // A getter threw. It will throw for Node.js as well, which turns that into a rejection.
    return node(path, options);
  }
  const weight = weightOf(sizeOf(data), 1);
  const chain = ordered.reserve(file, weight);
  if (chain === null) return refuse(name);
  const base = baseOf(file);
  const run = () => opening(file, base, (opened) => node(opened, kept));
  const isFed = isAsyncIterable(data);
  const call = new Call(chain, weight, shared, isFed ? () => runFed(chain, run) : run);
  chain.add(call);
  return call.promise;
}

/**
 * `writeFile` of `node:fs/promises`, which does the work. Several calls for one path run in the order in which they were
 * made, also with calls of `appendFile` and `readFile`.
 *
 * As with `node:fs/promises` a buffer is not copied: leave it alone until the promise is settled. Calls on the path that the
 * code of an async iterable makes while its own data is written do not wait for that write, which waits for them. But a stream
 * must not wait for another call on the path that it is written to: that call waits for its end.
 *
 * Rejects with MILLRACE_E_OVERLOADED when more bytes wait than `configure()` allows.
 */
export const writeFile = function writeFile(
  path: unknown,
  data: unknown,
  options?: unknown,
): Promise<void> {
  const node = nodeWriteFile as (path: unknown, data: unknown, options: unknown) => Promise<void>;
  const call = (file: unknown, kept: unknown) => node(file, data, kept);
  return passOn('writeFile', call, path, toPath(path), options, false, data);
} as typeof promises.writeFile;
