/**
 * Detection of the runtime, its modules, and type checks that hold whatever realm made a value. Each vm context has classes
 * of its own, which `instanceof` does not recognise. Jest runs every test file in one, so that there each error and each Map
 * of Node.js itself comes from another realm.
 */

/**
 * Loads a module of Node.js, synchronously. Files in CommonJS load theirs this way, as a bundle in ES modules has no `require()`; and
 * so do files that need one only at times. In Node.js before 20.16, which lacks the function, such a bundle does not run.
 */
export const builtin: typeof process.getBuiltinModule = process.getBuiltinModule ?? require;

const { types } = builtin('node:util');

const { bun, deno } = process.versions as { bun?: string; deno?: string };

/** Name and version of the runtime where it is not Node.js: `Bun 1.4.5`; null in Node.js. */
export const otherRuntime: string | null =
  bun !== undefined ? `Bun ${bun}` : deno !== undefined ? `Deno ${deno}` : null;

export const { isAnyArrayBuffer, isArrayBuffer, isDate, isSet, isUint8Array } = types;

/** Costs next to nothing for what has no `message`. */
export function isError(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Error) return true;
  return 'message' in value && (types.isNativeError(value) || isDOMException(value));
}

/** Older versions of Node.js do not count it among the native errors. */
export const isDOMException = (value: unknown): value is DOMException =>
  Object.prototype.toString.call(value) === '[object DOMException]';

/** As Node.js recognises one, whose own check is not public. */
export function isURL(value: unknown): value is URL {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof URL) return true;
  const { href, protocol, auth, path } = value as Record<string, unknown>;
  return Boolean(href && protocol) && auth === undefined && path === undefined;
}

/** An AbortSignal, or what can be used like one. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null || !('aborted' in value)) return false;
  return typeof (value as Partial<AbortSignal>).addEventListener === 'function';
}

/** A promise, or what can be awaited like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
}

/** An object of no class: made by a literal, or without a prototype. */
export function isPlainObject(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** An array of no subclass of Array. */
export const isPlainArray = (value: object): boolean =>
  Array.isArray(value) && Array.isArray(Object.getPrototypeOf(value));
