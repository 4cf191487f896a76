/** Stacks of errors as they are on plain Node.js: without the functions that auto has put in place of its own. */
import { isError } from '@millrace/base/realm';

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
