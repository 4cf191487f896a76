/** Values that JSON carries as well as a structured clone does: for small ones it costs a third. */
import { isPlainArray, isPlainObject } from '../core/realm.cjs';

/** With more objects than this, cloning is as cheap as looking at them. */
const mostObjects = 64;

/**
 * Whether `JSON.parse(JSON.stringify(value))` is what a structured clone of it would be: strings, booleans, null, numbers that
 * JSON has, and lists and plain objects of these, each of which is there once.
 */
export function isTree(value: unknown): boolean {
  return isNode(value, []);
}

function isNode(value: unknown, seen: object[]): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    case 'object':
      return value === null || isParent(value, seen);
    default:
      return false;
  }
}

function isParent(value: object, seen: object[]): boolean {
  if (seen.length >= mostObjects || seen.includes(value)) return false;
  seen.push(value);
  const isList = Array.isArray(value);
  if (!(isList ? isPlainArray(value) : isPlainObject(value))) return false;
  const keys = Object.keys(value);
  // Holes, and properties with other names, which come last.
  const isFull =
    !isList || (keys.length === value.length && (keys.at(-1) ?? '-1') === `${value.length - 1}`);
  if (!isFull) return false;
  return keys.every((key) => isNode((value as Record<string, unknown>)[key], seen));
}
