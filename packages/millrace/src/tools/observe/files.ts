/** Files that `fs.promises` is asked for in one tick. Arguments, results and errors are passed on as they are. */
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type Patch, patchMethod } from '@millrace/base/patch';
import { isUint8Array, isURL } from '@millrace/base/realm';
import { nextTick } from '@millrace/base/timers';
import { onceAt } from '@millrace/base/turn';

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

export class FilesObserver {
  readonly #counts = { reads: 0, readTicks: 0, mostReadsInTick: 0, appends: 0, commits: 0 };
  readonly #appended = new Set<string>();
  #readsInTick = 0;
  #isOn = false;
  #patches: Patch[] = [];

  start(): void {
    this.#isOn = true;
    this.#patches = [
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
    for (const patch of this.#patches.splice(0)) patch.undo();
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

  #watch(name: 'readFile' | 'appendFile', note: (path: string) => void): Patch {
    const observer = this;
    return patchMethod(promises, name, (original) => {
      // Async, as what it replaces.
      return async function (this: unknown, ...args: unknown[]) {
        if (observer.#isOn && isPath(args[0])) {
          observer.#tick();
          note(String(args[0]));
        }
        return Reflect.apply(original, this, args);
      };
    });
  }

  readonly #tick = onceAt(nextTick, () => this.#endTick());

  #endTick(): void {
    const counts = this.#counts;
    counts.commits += this.#appended.size;
    this.#appended.clear();
    if (this.#readsInTick === 0) return;
    counts.readTicks++;
    counts.mostReadsInTick = Math.max(counts.mostReadsInTick, this.#readsInTick);
    this.#readsInTick = 0;
  }
}

/** How Node.js 20 asks for the modules that it loads. */
const moduleFile = /\.[cm]?[jt]s$/;

/** A FileHandle is left to Node.js. */
function isPath(path: unknown): boolean {
  if (isURL(path)) return !moduleFile.test(path.pathname);
  return typeof path === 'string' || isUint8Array(path);
}
