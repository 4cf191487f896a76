/**
 * `readFile` of `node:fs`, with a callback and as a promise, and `appendFile` of `node:fs/promises`, by `millrace/fs`. What is put there
 * at first calls the functions of Node.js, and `millrace/fs` is loaded when it pays: when two files are asked for in one tick, or one by a
 * process that is no longer young. A program that reads its configuration and ends has nothing of it.
 *
 * A file in the page cache is then read on the loop, within a budget for each turn; what comes together is gathered. With a callback the
 * order is that of the calls, as far as files take equally long: Node.js promises none.
 */

import { type Method, Patch } from '@millrace/base/patch';
import { builtin, isURL } from '@millrace/base/realm';
import { nextTick } from '@millrace/base/timers';
import type { Part } from './feature.cjs';
import { areOriginal, whyReplaced } from './fs-binding.cjs';
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
const { promises } = fs;

type Plain = typeof import('../fs/plain.js', { with: { 'resolution-mode': 'import' }});

/** The loader of ES modules of Node.js 20 reads its files with `fs.promises`, by URLs, which are left to it. */
const loaderReads = /^v2[01]\./.test(process.version);

/** Functions beneath these, in any of the known releases. */
const beneath = {
  reads: ['openFileHandle', 'open', 'fstat', 'read', 'close'],
  appends: ['openFileHandle', 'writeBuffer', 'writeString', 'close'],
} as const;

/** A function to replace. `begins`: how that of Node.js begins, in the releases that are known. */
interface Original {
  readonly target: object;
  readonly name: string;
  readonly title: string;
  readonly begins: RegExp;
}

/** Functions of Node.js 20 to 24, all of which begin by completing their options. Those of an unknown release are left alone. */
const originals: readonly Original[] = [
  ...['readFile', 'appendFile'].map((name) => ({
    target: promises,
    name,
    title: `fs.promises.${name}`,
    begins: /^async function \w+\([^)]*\) \{\s+options = getOptions\(options/,
  })),
  {
    target: fs,
    name: 'readFile',
    title: 'fs.readFile',
    begins:
      /^function readFile\(path, options, callback\) \{\s+callback (?:\|\|= options;|= maybeCallback\()/,
  },
];

export class FsPart implements Part {
  state: Part['state'] = 'waiting';
  #why: string | null = null;
  readonly #patches: readonly Patch[];
  readonly #whenSettled: (fire: () => void) => () => void;
  #isOn = false;
  #isSettled = false;
  #disarm = () => {};
  #calledInTick = false;
  #isLoading = false;
  /** Null until it is loaded. */
  #ours: Plain | null = null;

  /** `whenSettled` calls back when the process is no longer young; what it returns prevents that. */
  constructor(whenSettled: (fire: () => void) => () => void) {
    this.#whenSettled = whenSettled;
    // millrace/fs has to be made of these, and not of ours.
    const node = require('../fs/originals.cjs') as typeof import('../fs/originals.cjs');
    const part = this;
    // Like the functions of Node.js: async, no constructors, and with the same names and lengths. They do not await, for then
    // they would be in the stack of each error.
    const promising = {
      async readFile(path: unknown, options: unknown) {
        return (
          part.#act('reads', path)?.readFile.call(this, path, options) ??
          passPromise(node.readFile, this, [path, options])
        );
      },
      async appendFile(path: unknown, data: unknown, options: unknown) {
        return (
          part.#act('appends', path)?.appendFile.call(this, path, data, options) ??
          passPromise(node.appendFile, this, [path, data, options])
        );
      },
    };
    const calling = (original: Method): Method =>
      function readFile(this: unknown, ...args: unknown[]): unknown {
        const isBegun = part.#act('reads', args[0])?.readFileThen(original, this, args);
        return isBegun ? undefined : pass(original, this, args);
      };
    this.#patches = [
      new Patch(promises, 'readFile', () => promising.readFile),
      new Patch(promises, 'appendFile', () => promising.appendFile),
      new Patch(fs, 'readFile', calling),
    ];
  }

  get why(): string | null {
    return this.#why ?? whyReplaced();
  }

  on(): undefined {
    const foreign = originals.find(
      ({ target, name, begins }, i) =>
        !this.#patches[i]!.isApplied && !begins.test(String(Reflect.get(target, name))),
    );
    this.#why = foreign === undefined ? whyReplaced() : reasonToLeave(foreign);
    this.#why ??= applyAll(this.#patches);
    if (this.#why !== null) return;
    this.#isOn = true;
    this.#disarm = this.#whenSettled(() => {
      this.#isSettled = true;
    });
  }

  off(): void {
    this.#isOn = false;
    this.#disarm();
    undoAll(this.#patches);
  }

  /** Null when Node.js is to be called. */
  #act(kind: keyof typeof beneath, path: unknown): Plain | null {
    if (!this.#isOn || (loaderReads && isURL(path)) || !areOriginal(beneath[kind])) return null;
    if (this.#ours === null) this.#notice();
    return this.#ours;
  }

  #notice(): void {
    if (this.#isLoading) return;
    if (this.#isSettled || this.#calledInTick) {
      this.#load();
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
      this.#ours = await import('../fs/plain.js');
      this.state = 'active';
    } catch (error) {
      this.#why = sentence(error);
    }
  }
}

function reasonToLeave({ target, name, title }: Original): string {
  return mayBeVirtual(Reflect.get(target, name))
    ? `Node.js ${process.version} has virtual files, which millrace/fs would not find; call it where yours are on a disk`
    : replacedBefore(title);
}

/** Reports whether a file may be virtual: from Node.js 26 on it may be in a file system that the program has mounted (`node:vfs`). */
function mayBeVirtual(method: unknown): boolean {
  return /^async function \w+\([^)]*\) \{[\s\S]*\bvfsState\b/.test(String(method));
}
