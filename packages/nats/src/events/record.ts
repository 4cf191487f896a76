/**
 * An event of an emitter as a record of a batch: the priority in the flags, then the name and its arguments. Arguments arrive
 * as a structured clone of what was emitted. Most are small trees of plain values, which JSON carries as well for a third of
 * the cost: those are JSON, all others what `v8.serialize` makes of them. Nothing in a record is trusted: one that no sender
 * writes is not an event.
 */
import { deserialize, serialize } from 'node:v8';
import { type Priority, priorities } from '@millrace/base/priority';
import { isPlainArray, isPlainObject } from '@millrace/base/realm';
import { bufferOf, type WireRecord } from '../wire.js';

/** Flag: the class that the receiver has for events of that name. */
const own = priorities.length;
/** Flag, beside the class: the arguments are JSON, otherwise of `v8.serialize`. */
const json = 0x10;
/** Longest name: its length is a byte of the data, before it. */
export const maxNameBytes = 255;

/** Most arguments: they are passed on the stack, which cannot hold far more. */
const mostArguments = 1000;

/** Throws what `v8.serialize` throws for what cannot be cloned, and RangeError for more than 1000 arguments. */
export function encodeEvent(
  name: string,
  args: readonly unknown[],
  priority: Priority | undefined,
): WireRecord {
  if (args.length > mostArguments) {
    throw new RangeError(`${args.length} arguments are more than ${mostArguments}`);
  }
  const level = priority === undefined ? own : priorities.indexOf(priority);
  const isJson = isTree(args);
  const body = isJson ? Buffer.from(JSON.stringify(args)) : serialize(args);
  const nameBytes = Buffer.byteLength(name);
  const data = Buffer.allocUnsafe(1 + nameBytes + body.length);
  data[0] = nameBytes;
  data.write(name, 1);
  data.set(body, 1 + nameBytes);
  return { flags: isJson ? level | json : level, data };
}

/** The name of an event; null for what is not of this format. */
export function nameOf({ flags, data }: WireRecord): string | null {
  if ((flags & ~json) > own || data.length < 1 || data.length < 1 + data[0]!) return null;
  return bufferOf(data).toString('utf8', 1, 1 + data[0]!);
}

/** Decodes the rest of an event; null for what is not of this format. Its memory is its own. */
export function decodeEvent({
  flags,
  data,
}: WireRecord): { args: unknown[]; priority: Priority | undefined } | null {
  const body = bufferOf(data).subarray(1 + data[0]!);
  try {
    // Buffers among the arguments are views of what they are read from: a copy, so that they do not keep the whole batch.
    const isJson = (flags & json) !== 0;
    const args: unknown = isJson ? JSON.parse(body.toString()) : deserialize(new Uint8Array(body));
    if (!Array.isArray(args) || args.length > mostArguments) return null;
    // No sender writes JSON for anything that is nested deeper or has more objects.
    if (isJson && !isTree(args)) return null;
    return { args, priority: priorities[flags & ~json] };
  } catch {
    return null;
  }
}

/** Objects above which cloning is as cheap as looking at them. */
const mostObjects = 64;

/**
 * Reports whether `JSON.parse(JSON.stringify(value))` is what a structured clone of it would be: strings, booleans, null,
 * numbers that JSON has, and lists and plain objects of these, each of which is there once.
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
