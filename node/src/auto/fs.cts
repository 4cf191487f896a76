/**
 * `node:fs/promises` by `millrace/fs`. What is put there at first calls the functions of Node.js, until two files are asked for
 * in one tick: only then is there something to gather, and `millrace/fs` is loaded.
 */
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isURL } from '../core/realm.cjs';
import { nextTick } from '../core/timers.cjs';
import { checkModules, sentence } from './features.cjs';
import type { Part } from './part.cjs';
import { type AnyMethod, Patch } from './patch.cjs';

type Name = 'readFile' | 'writeFile' | 'appendFile';

const names: readonly Name[] = ['readFile', 'writeFile', 'appendFile'];

export class FsPart implements Part {
  state: Part['state'] = 'waiting';
  why: string | null = null;
  readonly #patches: readonly Patch[];
  #isOn = false;
  #calledInTick = false;
  #isLoading = false;
  /** `millrace/fs`, once it is loaded. */
  #ours: Readonly<Record<Name, AnyMethod>> | null = null;

  constructor() {
    // millrace/fs has to be made of these, and not of ours.
    require('../fs/originals.cjs');
    const target = (name: Name, original: AnyMethod, path: unknown): AnyMethod => {
      // The loader of ES modules of Node.js 20 reads its files with this, by URLs.
      if (!this.#isOn || isURL(path)) return original;
      if (this.#ours !== null) return this.#ours[name];
      if (name !== 'writeFile') this.#count();
      return original;
    };
    // As methods: like the functions of Node.js they are not constructors, and they have the same names and lengths.
    this.#patches = [
      new Patch(
        promises,
        'readFile',
        (original) =>
          ({
            readFile(path: unknown, options: unknown) {
              return target('readFile', original, path).call(promises, path, options);
            },
          }).readFile,
      ),
      new Patch(
        promises,
        'writeFile',
        (original) =>
          ({
            writeFile(path: unknown, data: unknown, options: unknown) {
              return target('writeFile', original, path).call(promises, path, data, options);
            },
          }).writeFile,
      ),
      new Patch(
        promises,
        'appendFile',
        (original) =>
          ({
            appendFile(path: unknown, data: unknown, options: unknown) {
              return target('appendFile', original, path).call(promises, path, data, options);
            },
          }).appendFile,
      ),
    ];
  }

  on(): undefined {
    const foreign = names.find(
      (name, i) => !this.#patches[i]!.isApplied && !isOfNode(promises[name]),
    );
    if (foreign !== undefined) {
      // Whoever has replaced it wants to see each call; millrace/fs would bypass them.
      this.why = mayBeVirtual(promises[foreign])
        ? `Node.js ${process.version} has virtual files, which millrace/fs would not find; call it where yours are on a disk`
        : `fs.promises.${foreign} was replaced before millrace/auto was loaded`;
      return;
    }
    try {
      for (const patch of this.#patches) patch.apply();
    } catch (error) {
      this.why = sentence(error);
      return this.off() as undefined;
    }
    this.#isOn = true;
    syncBuiltinESMExports();
  }

  off(): void {
    this.#isOn = false;
    for (const patch of this.#patches) patch.restore();
    syncBuiltinESMExports();
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
      this.#ours = (await import('../fs/index.js')) as unknown as Record<Name, AnyMethod>;
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
