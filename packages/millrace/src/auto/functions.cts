/**
 * Functions of modules of Node.js that auto replaces: whether they are still its own, how ours are put in their places, for ES modules too,
 * how Node.js is called from them, so that the stacks of its errors are as without us, how callbacks are called, and the sentence that
 * stands in `why` where something is in the way.
 */
import type { Method, Patch } from '@millrace/base/patch';
import { builtin, isError, otherRuntime } from '@millrace/base/realm';
import { nextTick } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import type { CallbacksBinding, CallbacksHandle } from '../native/binding.js' with {
  'resolution-mode': 'import',
};

const { AsyncResource } = builtin('node:async_hooks');
const { syncBuiltinESMExports } = builtin('node:module');
const { apply } = Reflect;

/**
 * Throws where loading a module would end the process: Node.js looks into `process.env` each time, and an application
 * may have deleted that.
 */
export function checkModules(): void {
  if (process.env === undefined) throw new Error('the application has deleted process.env');
}

/** True if Node.js loads ES modules synchronously, and prints no warning about it, as 22.12 and 23.0 to 23.4 do. */
export const canRequire =
  (process.features as { require_module?: boolean }).require_module === true &&
  !/^v(22\.12|23\.[0-4])\./.test(process.version);

/** The sentence about an error that stands in `why`. */
export function sentence(error: unknown): string {
  return isError(error) ? error.message : String(error);
}

/** The reason to leave functions alone of which one is not that of Node.js: whoever has replaced it wants to see each call. */
export const replacedBefore = (name: string): string =>
  otherRuntime === null
    ? `${name} was replaced before millrace/auto was loaded`
    : `${otherRuntime} has functions of its own in the place of those of Node.js`;

/** Puts all of them in place, or none; returns why not. */
export function applyAll(patches: readonly Patch[]): string | null {
  try {
    for (const patch of patches) patch.apply();
  } catch (error) {
    undoAll(patches);
    return sentence(error);
  }
  syncBuiltinESMExports();
  return null;
}

export function undoAll(patches: readonly Patch[]): void {
  for (const patch of patches) patch.undo();
  syncBuiltinESMExports();
}

/** Frames of `pass` or `passPromise`, and of the function that has called it. */
const ownFrames = 2;

/** Calls Node.js, from a function that stands in the place of its own. An error about a wrong argument has a stack without us. */
export function pass(original: Method, caller: unknown, args: readonly unknown[]): unknown {
  const { stackTraceLimit: limit } = Error;
  if (typeof limit !== 'number') return Reflect.apply(original, caller, args);
  Reflect.set(Error, 'stackTraceLimit', limit + ownFrames);
  try {
    return Reflect.apply(original, caller, args);
  } catch (error) {
    hideUs(error, limit);
    throw error;
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit);
  }
}

/** Calls an async function of Node.js, with its stacks. */
export function passPromise(
  original: Method,
  caller: unknown,
  args: readonly unknown[],
): Promise<unknown> {
  const { stackTraceLimit: limit } = Error;
  if (typeof limit !== 'number') return Reflect.apply(original, caller, args);
  Reflect.set(Error, 'stackTraceLimit', limit + ownFrames);
  try {
    const result: Promise<unknown> = Reflect.apply(original, caller, args);
    return result.catch((error) => {
      hideUs(error, limit);
      throw error;
    });
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit);
  }
}

/** Takes them out of the stack of an error of Node.js about a wrong argument, and leaves `limit` frames. */
function hideUs(error: unknown, limit: number): void {
  // Errors of the system come later, when none of these functions is in the stack.
  if (!isError(error) || (error as NodeJS.ErrnoException).errno !== undefined) return;
  const { stack } = error;
  if (typeof stack !== 'string') return;
  const lines = stack.split('\n');
  const isFrame = (line: string) => /^ +at /.test(line);
  const first = lines.findIndex(isFrame);
  if (first < 0) return;
  const frames = lines.splice(first);
  const own = frames.findIndex((line) => /^ +at pass(?:Promise)? \(/.test(line));
  if (own >= 0) frames.splice(own, ownFrames);
  error.stack = [...lines, ...frames.slice(0, limit)].join('\n');
}

/**
 * A callback of the application that is due later. It is called in the async context of its caller and in a macrotask of its own, so that
 * ticks and promise jobs run before the next one. Node.js itself calls it, from its queue of ticks or of immediates: there is no frame of
 * ours below it, and an exception is printed with its place.
 */
export class PendingCallback {
  readonly #callback: Method;
  readonly #request: unknown;
  readonly #context: import('node:async_hooks').AsyncResource;
  #args: readonly unknown[] = [];

  /** `type`: what async_hooks are told; `request`: `this` of the callback. */
  constructor(type: string, callback: Method, request: unknown) {
    this.#callback = callback;
    this.#request = request;
    this.#context = new AsyncResource(type, { requireManualDestroy: true });
  }

  /** Called once, in the order in which callbacks are to be called. */
  call(args: readonly unknown[]): void {
    this.#args = args;
    if (callbacks === null) this.scheduleAt(atTurnEnd);
    else callbacks.add(this);
  }

  /** Has Node.js call it at a point. */
  scheduleAt(point: typeof nextTick | typeof atTurnEnd): void {
    const context = this.#context;
    context.runInAsyncScope(point, undefined, apply, this.#callback, this.#request, this.#args);
    context.emitDestroy();
  }

  /** Has a function of Node.js do what is left, and call back, instead. */
  passOn(original: Method, caller: unknown, args: readonly unknown[]): void {
    this.#context.runInAsyncScope(apply, undefined, original, caller, args);
    this.#context.emitDestroy();
  }
}

/** Null until the addon is loaded. Then callbacks are called where the loop calls those of files, and not at the end of the turn. */
let callbacks: Callbacks | null = null;

export function useAddon(binding: CallbacksBinding): void {
  callbacks ??= new Callbacks(binding);
}

/** Places of called callbacks that are kept. */
const mostCalled = 1024;

/** Callbacks that the addon has Node.js call, in order. */
class Callbacks {
  readonly #binding: CallbacksBinding;
  readonly #handle: CallbacksHandle;
  readonly #due = new Uint32Array(1);
  /** The places of callbacks that were called are undefined: each holds a file. */
  readonly #queue: (PendingCallback | undefined)[] = [];
  #next = 0;

  constructor(binding: CallbacksBinding) {
    this.#binding = binding;
    this.#handle = binding.callbacksOpen(this.#due, () => this.#schedule());
  }

  add(callback: PendingCallback): void {
    this.#queue.push(callback);
    if (this.#due[0]!++ === 0) this.#binding.callbacksWake(this.#handle);
  }

  /** Called by the addon; Node.js runs its ticks when this returns. */
  #schedule(): void {
    const callback = this.#queue[this.#next]!;
    this.#queue[this.#next++] = undefined;
    // Callbacks that ask for more may keep it from ever being empty.
    if (this.#next === this.#queue.length || this.#next === mostCalled) {
      this.#queue.splice(0, this.#next);
      this.#next = 0;
    }
    callback.scheduleAt(nextTick);
  }
}
