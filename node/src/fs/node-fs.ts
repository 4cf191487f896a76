/** The functions of Node.js that ours are made of. */
import fs from 'node:fs';
import { readFile } from './originals.cjs';

export {
  appendFile as nodeAppendFile,
  readFile as nodeReadFile,
  writeFile as nodeWriteFile,
} from './originals.cjs';

export const { readFile: readWithCallback, open, write, fdatasync, close, stat } = fs;

/** Rejects with the error of Node.js for a signal that has been aborted; opens nothing. */
export function rejectAborted(signal: AbortSignal): Promise<never> {
  return readFile('.', { signal }) as Promise<never>;
}
