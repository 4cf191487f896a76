/**
 * Order among the calls on one path: a call that comes after a write that is not over yet waits for it. A path without a
 * pending write has no entry here, and costs nothing.
 *
 * Paths are compared as resolved text: two names of one file (links, another case) are two files. Whatever waits also waits for
 * the reads between two writes, so that none of them sees a half-rewritten file.
 */
import { isAbsolute, resolve } from 'node:path';
import { captureContext, runInContext } from '../core/dispatch/context.js';
import { isAborted, type Path, snapshot } from './arguments.js';
import { asWritten, baseOf, fromBase } from './base.js';
import { Deferred } from './deferred.js';
import { stat } from './node-fs.js';

/** One thing to do with a file. Calls `leave()` of its chain when it is over. */
export interface Step {
  /** May run beside other shared steps: it only reads. */
  readonly shared: boolean;
  start(): void;
}

const chains = new Map<string, Chain>();

/** The chain of a path with a pending write. */
export function chainAt(path: Path): Chain | undefined {
  return chains.size === 0 ? undefined : chains.get(keyOf(path));
}

/** The chain of a path about to be written. */
export function chainFor(path: Path): Chain {
  const key = keyOf(path);
  let chain = chains.get(key);
  if (chain === undefined) {
    chain = new Chain(key, path);
    chains.set(key, chain);
  }
  return chain;
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
  readonly #key: string;
  readonly #path: Path;
  readonly #base: string | null;
  readonly #waiting: Step[] = [];
  #running = 0;
  /** Those running are shared. */
  #shared = false;
  #ordered = true;
  #asked = false;
  #last: Step | null = null;

  constructor(key: string, path: Path) {
    this.#key = key;
    this.#path = path;
    this.#base = baseOf(path);
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

  /** A step is over. */
  leave(): void {
    this.#running--;
    this.#startNext();
    if (this.#running === 0) chains.delete(this.#key);
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
  readonly #run: () => Promise<T>;
  readonly #context = captureContext('auto');

  constructor(chain: Chain, shared: boolean, run: () => Promise<T>) {
    super();
    this.shared = shared;
    this.#chain = chain;
    this.#run = run;
  }

  start(): void {
    runInContext(this.#context, startCall, this as Call<unknown>);
  }

  run(): void {
    this.#run().then(
      (value) => {
        this.resolve(value);
        this.#chain.leave();
      },
      (error) => {
        this.reject(error);
        this.#chain.leave();
      },
    );
  }
}

const startCall = (call: Call<unknown>): void => call.run();

/** A function of `node:fs/promises` whose arguments begin with a path and end with options. */
export type NodeCall<T> = (path: unknown, options: unknown) => Promise<T>;

/**
 * Passes a call on to Node.js when its turn has come: now, if nothing is before it. `file` is null when its path cannot be
 * compared.
 */
export function passOn<T>(
  node: NodeCall<T>,
  path: unknown,
  file: Path | null,
  options: unknown,
  shared: boolean,
): Promise<T> {
  let kept = options;
  try {
    if (file === null || isAborted(options)) return node(path, options);
    if (chainAt(file) !== undefined) kept = snapshot(options);
    else if (shared) return node(path, options);
  } catch {
    // A getter threw. It will throw for Node.js as well, which turns that into a rejection.
    return node(path, options);
  }
  const chain = chainFor(file);
  const base = baseOf(file);
  const call = new Call(chain, shared, () => {
    const opened = fromBase(file, base);
    const result = node(opened, kept);
    if (opened === file) return result;
    return result.catch((error) => Promise.reject(asWritten(error, opened, file)));
  });
  chain.add(call);
  return call.promise;
}
