/** Replaces a method by one that looks like the one before and measures on the way. */
import { replaceMethod } from '../net/patch.js';

type Method = (this: any, ...args: any[]) => any;

/**
 * `make` gets the method that is there. Returns a function that puts it back; if somebody has replaced it again since, ours stays
 * below and has to pass calls on by itself.
 */
export function replace(
  target: object,
  name: string,
  make: (original: Method) => Method,
): () => void {
  const original = (target as Record<string, Method>)[name]!;
  const method = make(original);
  for (const key of ['name', 'length'] as const) {
    Object.defineProperty(method, key, { value: original[key], configurable: true });
  }
  return replaceMethod(target, name, method).undo;
}
