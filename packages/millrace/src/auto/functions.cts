/**
 * Functions of modules of Node.js that auto replaces: whether they are still its own, how ours are put in their places, for ES modules too,
 * and stacks of errors as they are on plain Node.js, without ours.
 */
import type { Patch } from '@millrace/base/patch';
import { builtin, isError, otherRuntime } from '@millrace/base/realm';
import { sentence } from './feature.cjs';

const { syncBuiltinESMExports } = builtin('node:module');

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

/** Frames of a function `pass` that calls Node.js, and of whatever has called that. */
export const ownFrames = 2;

/** Takes them out of the stack of an error of Node.js about a wrong argument, and leaves `limit` frames. */
export function hideUs(error: unknown, limit: number): void {
  // Errors of the system come later, when none of these functions is in the stack.
  if (!isError(error) || (error as NodeJS.ErrnoException).errno !== undefined) return;
  const { stack } = error;
  if (typeof stack !== 'string') return;
  const lines = stack.split('\n');
  const isFrame = (line: string) => /^ +at /.test(line);
  const first = lines.findIndex(isFrame);
  if (first < 0) return;
  const frames = lines.splice(first);
  const own = frames.findIndex((line) => /^ +at pass \(/.test(line));
  if (own >= 0) frames.splice(own, ownFrames);
  error.stack = [...lines, ...frames.slice(0, limit)].join('\n');
}
