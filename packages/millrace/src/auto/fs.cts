/**
 * `readFile` and `appendFile` of `node:fs/promises` by `millrace/fs`. What is put there at first calls the functions of Node.js,
 * until two files are asked for in one tick: only then is there something to gather, and `millrace/fs` is loaded.
 */

import { type Method, Patch } from '@millrace/base/patch';
import { builtin, isURL } from '@millrace/base/realm';
import { nextTick } from '@millrace/base/timers';
import { checkModules, type Part, sentence } from './feature.cjs';
import { applyAll, passPromise, replacedBefore, undoAll } from './functions.cjs';

const { promises } = builtin('node:fs');

type Name = 'readFile' | 'appendFile';

const names: readonly Name[] = ['readFile', 'appendFile'];

export class FsPart implements Part {
  state: Part['state'] = 'waiting';
  why: string | null = null;
  readonly #patches: readonly Patch[];
  #isOn = false;
  #calledInTick = false;
  #isLoading = false;
  /** `millrace/fs`, once it is loaded. */
  #ours: Readonly<Record<Name, Method>> | null = null;

  constructor() {
    // millrace/fs has to be made of these, and not of ours.
    const node = require('../fs/originals.cjs') as Readonly<Record<Name, Method>>;
    const part = this;
    // Like the functions of Node.js: async, no constructors, and with the same names and lengths. They do not await, for then
    // they would be in the stack of each error.
    const ours = {
      async readFile(path: unknown, options: unknown) {
        return (
          part.#call('readFile', this, path, options) ??
          passPromise(node.readFile, this, [path, options])
        );
      },
      async appendFile(path: unknown, data: unknown, options: unknown) {
        return (
          part.#call('appendFile', this, path, data, options) ??
          passPromise(node.appendFile, this, [path, data, options])
        );
      },
    };
    this.#patches = names.map((name) => new Patch(promises, name, () => ours[name] as Method));
  }

  on(): undefined {
    const foreign = names.find(
      (name, i) => !this.#patches[i]!.isApplied && !isOfNode(promises[name]),
    );
    if (foreign === undefined) {
      const why = applyAll(this.#patches);
      if (why === null) this.#isOn = true;
      else this.why = why;
      return;
    }
    this.why = mayBeVirtual(promises[foreign])
      ? `Node.js ${process.version} has virtual files, which millrace/fs would not find; call it where yours are on a disk`
      : replacedBefore(`fs.promises.${foreign}`);
  }

  off(): void {
    this.#isOn = false;
    undoAll(this.#patches);
  }

  /** Null when Node.js is to be called. */
  #call(name: Name, caller: unknown, ...args: unknown[]): unknown {
    // The loader of ES modules of Node.js 20 reads its files with this, by URLs.
    if (!this.#isOn || (name === 'readFile' && isURL(args[0]))) return null;
    if (this.#ours !== null) return Reflect.apply(this.#ours[name], caller, args);
    this.#count();
    return null;
  }

  #count(): void {
    if (this.#calledInTick) {
      if (!this.#isLoading) this.#load();
      return;
    }
    this.#calledInTick = true;
    nextTick(() => {
      this.#calledInTick = false;
    });
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    try {
      checkModules();
      this.#ours = (await import('../fs/plain.js')) as unknown as Record<Name, Method>;
      this.state = 'active';
    } catch (error) {
      this.why = sentence(error);
    }
  }
}

/** All of them begin by completing their options, in Node.js 20 to 24. Of an unknown release they are left alone. */
function isOfNode(method: unknown): boolean {
  return /^async function \w+\([^)]*\) \{\s+options = getOptions\(options/.test(String(method));
}

/** From Node.js 26 on a file may be in a file system that the program has mounted (`node:vfs`). */
function mayBeVirtual(method: unknown): boolean {
  return /^async function \w+\([^)]*\) \{[\s\S]*\bvfsState\b/.test(String(method));
}
