/** Cuts a file into ranges for several workers without reading it: only what is around the cuts. */
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { check, checkKeys, integer } from '../../core/options.js';
import { MillraceError } from '../../errors.js';
import { cpuShare, defaultThreads } from '../sizing.js';
import { delimiterBytes } from './delimiter.js';

/** Options of `fileChunks()`. */
export interface FileChunksOptions {
  /**
   * Chunks to make at most: 1 to 1,000,000; default: the threads that a pool of this process has at most. There are fewer if
   * the file is small, or if its lines are long. Raise it, to a few for each thread, if chunks take differently long.
   */
  chunks?: number;
  /** Bytes below which a chunk is not worth a task: 1 to 2^53 - 1, default 65,536. The last one can have fewer. */
  minBytes?: number;
  /**
   * What ends a line: a string, as UTF-8, or bytes; 1 to 1,024 bytes, default `'\n'`, which is right for CRLF, too. UTF-8
   * characters stay whole. One that overlaps itself, as `'\n\n'`, may be found anywhere in a longer run of it.
   */
  delimiter?: string | Uint8Array;
}

/** Bytes from `start` up to, but not including, `end`. For `createReadStream()` the end is `end - 1`. */
export interface FileChunk {
  readonly start: number;
  readonly end: number;
}

/** Bytes that are read at a time, to look for a delimiter. */
const windowBytes = 64 * 1024;
const names = ['chunks', 'minBytes', 'delimiter'];

/**
 * Ranges of a file that together are the file, in order, each but the last ending behind a delimiter; of about equal
 * length. An empty file has none. The cut is behind the first delimiter that ends at or after the even one, so that a line of
 * any length stays in one chunk.
 *
 * Costs some system calls and 64 KiB of reading for each cut, more where a line is longer than that; the memory of
 * one window. The ranges are those of the file as long as it was when it was opened: what is appended later is in none.
 *
 * Rejects with MILLRACE_E_INVALID_OPTION; with MILLRACE_E_INVALID_ARGUMENT for what is no regular file, or is truncated
 * meanwhile; with the system's error (ENOENT, EACCES) for what cannot be opened.
 */
export async function fileChunks(
  path: string | Uint8Array | URL,
  options: FileChunksOptions = {},
): Promise<FileChunk[]> {
  checkKeys('the options of fileChunks()', options, names);
  const { chunks = defaultThreads(cpuShare()).max, minBytes = windowBytes } = options;
  check('chunks', chunks, integer(1, 1_000_000));
  check('minBytes', minBytes, integer(1, Number.MAX_SAFE_INTEGER));
  const delimiter = delimiterBytes(options.delimiter);
  const file = path as string;
  // Before it is opened: to open a FIFO and to close it again would break it for its writer.
  if (!(await stat(file)).isFile()) throw unfit(path, 'is no regular file');
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = await handle.stat();
    return await cut(reader(handle, path), size, { chunks, minBytes, delimiter });
  } finally {
    await handle.close();
  }
}

/** Reads some bytes at a position into the buffer, at least one; says how many. */
export type ReadAt = (buffer: Uint8Array, position: number) => Promise<number>;

export const reader =
  (handle: FileHandle, path: unknown): ReadAt =>
  async (buffer, position) => {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw unfit(path, 'was truncated while it was cut');
    return bytesRead;
  };

const unfit = (path: unknown, what: string): MillraceError =>
  new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `'${path}' ${what}; fileChunks() cuts regular files that do not shrink. For streams there is lineChunks()`,
  );

export interface Cuts {
  readonly chunks: number;
  readonly minBytes: number;
  readonly delimiter: Buffer;
}

/** The ranges of `size` bytes that `read` reads. A cut is searched once, from where the last one was at the earliest. */
export async function cut(
  read: ReadAt,
  size: number,
  { chunks, minBytes, delimiter }: Cuts,
): Promise<FileChunk[]> {
  const count = Math.max(1, Math.min(chunks, Math.floor(size / minBytes)));
  const found: FileChunk[] = [];
  let start = 0;
  for (let index = 1; index < count; index++) {
    const even = Math.floor((size / count) * index);
    // The line before this cut is longer than a chunk.
    if (even <= start) continue;
    const from = Math.max(start, even - delimiter.length);
    const end = await endOfLine(read, from, size, delimiter);
    found.push({ start, end });
    start = end;
  }
  if (start < size) found.push({ start, end: size });
  return found;
}

/** The position behind the first delimiter that begins at `from` or later; `size` if there is none. */
async function endOfLine(
  read: ReadAt,
  from: number,
  size: number,
  delimiter: Buffer,
): Promise<number> {
  // A delimiter may lie across two windows: the bytes that could be its first ones stay in the buffer.
  const overlap = delimiter.length - 1;
  const buffer = Buffer.allocUnsafe(Math.min(windowBytes + overlap, size - from));
  let filled = 0;
  for (let at = from; at < size; ) {
    const room = buffer.subarray(filled, filled + Math.min(buffer.length - filled, size - at));
    const bytes = await read(room, at);
    at += bytes;
    filled += bytes;
    const index = buffer.subarray(0, filled).indexOf(delimiter);
    if (index >= 0) return at - filled + index + delimiter.length;
    const kept = Math.min(overlap, filled);
    buffer.copyWithin(0, filled - kept, filled);
    filled = kept;
  }
  return size;
}
