/** Files that `fs.promises` is asked for in one tick. Arguments, results and errors are passed on as they are. */
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isUint8Array, isURL } from '../core/realm.cjs';
import { nextTick } from '../core/timers.cjs';
import { wrapMethod } from '../net/patch.js';
import type { Observer } from './observer.js';

/** Files that were asked for, and how many came together. */
export interface FilesReport {
  /** Calls of `readFile` with a path. */
  reads: number;
  /** Ticks with such calls: times that `fs` hands files over. */
  readTicks: number;
  mostReadsInTick: number;
  /** Calls of `appendFile` with a path. */
  appends: number;
  /** Files appended to, tick by tick: commits of `fs` at most. What comes while one is under way is gathered as well. */
  commits: number;
}

export class FilesObserver implements Observer<FilesReport> {
  readonly #counts = { reads: 0, readTicks: 0, mostReadsInTick: 0, appends: 0, commits: 0 };
  readonly #appended = new Set<string>();
  #readsInTick = 0;
  #isTick = false;
  #isOn = false;
  #undo: (() => void)[] = [];

  start(): void {
    this.#isOn = true;
    this.#undo = [
      this.#watch('readFile', () => {
        this.#counts.reads++;
        this.#readsInTick++;
      }),
      this.#watch('appendFile', (path) => {
        this.#counts.appends++;
        this.#appended.add(path);
      }),
    ];
    syncBuiltinESMExports();
  }

  stop(): void {
    this.#isOn = false;
    for (const undo of this.#undo.splice(0)) undo();
    syncBuiltinESMExports();
    this.#endTick();
  }

  /** Calls that were seen. */
  get count(): number {
    return this.#counts.reads + this.#counts.appends;
  }

  read(): FilesReport {
    return { ...this.#counts };
  }

  #watch(name: 'readFile' | 'appendFile', note: (path: string) => void): () => void {
    const observer = this;
    return wrapMethod(promises, name, (original) => {
      // Async, as what it replaces.
      return async function (this: unknown, ...args: unknown[]) {
        if (observer.#isOn && isPath(args[0])) {
          observer.#joinTick();
          note(String(args[0]));
        }
        return Reflect.apply(original, this, args);
      };
    });
  }

  #joinTick(): void {
    if (this.#isTick) return;
    this.#isTick = true;
    nextTick(this.#endTick);
  }

  readonly #endTick = (): void => {
    const counts = this.#counts;
    this.#isTick = false;
    counts.commits += this.#appended.size;
    this.#appended.clear();
    if (this.#readsInTick === 0) return;
    counts.readTicks++;
    counts.mostReadsInTick = Math.max(counts.mostReadsInTick, this.#readsInTick);
    this.#readsInTick = 0;
  };
}

/** How Node.js 20 asks for the modules that it loads. */
const moduleFile = /\.[cm]?[jt]s$/;

/** A FileHandle is left to Node.js. */
function isPath(path: unknown): boolean {
  if (isURL(path)) return !moduleFile.test(path.pathname);
  return typeof path === 'string' || isUint8Array(path);
}
