/** The functions of Node.js as they were when this module was loaded: whoever replaces them by ours must not get a loop. */
import fs from 'node:fs';
import promises from 'node:fs/promises';

export const nodeReadFile = promises.readFile;
export const nodeWriteFile = promises.writeFile;
export const nodeAppendFile = promises.appendFile;

export const { readFile: readWithCallback, open, write, fdatasync, close, stat } = fs;

/** Rejects with the error of Node.js for a signal that has been aborted; opens nothing. */
export function rejectAborted(signal: AbortSignal): Promise<never> {
  return nodeReadFile('.', { signal }) as Promise<never>;
}
