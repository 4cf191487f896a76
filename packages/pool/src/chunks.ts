/** Cuts files and streams into pieces of whole lines, for several workers: a file into ranges, of which only what is around the cuts is read. */
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { MillraceError, show } from '@millrace/base/errors';
import { cpuShare } from '@millrace/base/limits/limits';
import { parse, parseValue } from '@millrace/base/options';
import { isUint8Array } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import { defaultThreads } from './options.js';

/** A delimiter has to fit into what is looked at together. */
const mostBytes = 1024;

/** The option `delimiter`. */
const delimiterField = is.custom<string | Uint8Array>(
  `a string or a Buffer of 1 to ${mostBytes} bytes`,
  (value) => {
    if (typeof value !== 'string' && !isUint8Array(value)) return false;
    const { length } = Buffer.from(value as string);
    return length >= 1 && length <= mostBytes;
  },
);

/** Returns a delimiter as bytes; a string is UTF-8. */
const delimiterBytes = (given: string | Uint8Array = '\n'): Buffer => Buffer.from(given as string);

// ---- files

/** Options of `fileChunks()`. */
export interface FileChunksOptions {
  /**
   * Most chunks: 1 to 1,000,000; default: the most threads of a pool of this process. There are fewer if the file is small,
   * or if its lines are long. Raise it, to a few per thread, if chunks take unequal time.
   */
  chunks?: number;
  /** Smallest chunk in bytes: 1 to 2^53 - 1, default 65,536. The last one can have fewer. */
  minBytes?: number;
  /**
   * Delimiter of lines: a string, as UTF-8, or bytes; 1 to 1,024 bytes, default `'\n'`, which is right for CRLF, too. UTF-8
   * characters stay whole. One that overlaps itself, as `'\n\n'`, may be found anywhere in a longer run of it.
   */
  delimiter?: string | Uint8Array;
}

/** Range of bytes from `start` up to, but not including, `end`. For `createReadStream()` the end is `end - 1`. */
export interface FileChunk {
  readonly start: number;
  readonly end: number;
}

/** Bytes that are read at a time, to look for a delimiter. */
const windowBytes = 64 * 1024;

export const fileChunksSchema = is.schema({
  chunks: is.integer(1, 1_000_000),
  minBytes: is.bytes(1, Number.MAX_SAFE_INTEGER, windowBytes),
  delimiter: delimiterField,
} satisfies is.FieldsOf<FileChunksOptions>);

/**
 * Divides a file into consecutive ranges of about equal length, each but the last ending behind a delimiter. An empty file
 * has none. The cut is behind the first delimiter that ends at or after the even one, so that a line of any length stays in
 * one chunk.
 *
 * Costs some system calls and 64 KiB of reading per cut, more where a line is longer than that; the memory of one window. The
 * ranges cover the file as it was when opened: later appends are in none.
 *
 * Rejects with MILLRACE_E_INVALID_OPTION; with MILLRACE_E_INVALID_ARGUMENT for anything but a regular file, or one truncated
 * meanwhile; with the system's error (ENOENT, EACCES) if it cannot be opened.
 */
export async function fileChunks(
  path: string | Uint8Array | URL,
  options: FileChunksOptions = {},
): Promise<FileChunk[]> {
  const parsed = parse('fileChunks()', options, fileChunksSchema);
  const { chunks = defaultThreads(cpuShare()).max, minBytes } = parsed;
  const delimiter = delimiterBytes(parsed.delimiter);
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
type ReadAt = (buffer: Uint8Array, position: number) => Promise<number>;

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

interface Cuts {
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

// ---- streams

/** Options of `lineChunks()`. */
export interface LineChunksOptions {
  /** Most bytes of a piece, unless one line is longer: 1 to 2^30, default 1 MiB. Larger ones cost fewer messages. */
  bytes?: number;
  /**
   * Bytes up to which a line stays in one piece: `bytes` to 2^30, default 16 MiB, or `bytes` if that is more. It bounds the
   * memory: about twice this much, if lines are as long.
   */
  maxBytes?: number;
  /** Delimiter of lines, as in {@link FileChunksOptions.delimiter}: 1 to 1,024 bytes and at most `bytes`, default `'\n'`. */
  delimiter?: string | Uint8Array;
}

/** Piece of a stream, of whole lines. */
export interface LineChunk {
  /** Bytes of the piece; `data.buffer` has no others, so that it can be transferred. */
  readonly data: Uint8Array<ArrayBuffer>;
  /**
   * True if a line ends here: behind its delimiter, or with the source. If not, the next piece continues this line, and holds
   * only that.
   */
  readonly complete: boolean;
}

/** Stream of bytes, or another iterable of them. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

const most = 2 ** 30;
const mebi = 1024 * 1024;

export const lineChunksSchema = is.schema({
  bytes: is.bytes(1, most, mebi),
  maxBytes: is.bytes(1, most),
  delimiter: delimiterField,
} satisfies is.FieldsOf<LineChunksOptions>);

/**
 * Cuts the bytes of a stream, or of any iterable of bytes, into pieces:
 *
 * - as many whole lines as fit into `bytes`: `complete` is true;
 * - a line that is longer than `bytes`, alone, up to `maxBytes`: `complete` is true;
 * - a line that is longer than `maxBytes`, alone, in several pieces: `complete` is false but for its last one.
 *
 * The cuts depend on the bytes, not on how the source divides them. The last line needs no delimiter. An empty source gives
 * no piece.
 *
 * The source is read no further than for the requested piece. It is destroyed when the caller breaks off (though not before
 * requesting the first piece), and when it gives something other than bytes: then this rejects with
 * MILLRACE_E_INVALID_ARGUMENT. If the source fails, its error is passed on, and bytes read for the next piece are dropped.
 *
 * Costs two copies per byte, and a search per piece: some 0.3 ms for 1 MiB.
 *
 * Throws MILLRACE_E_INVALID_OPTION, MILLRACE_E_INVALID_ARGUMENT.
 */
export function lineChunks(
  source: ByteSource,
  options: LineChunksOptions = {},
): AsyncGenerator<LineChunk, void, undefined> {
  const what = 'lineChunks()';
  const parsed = parse(what, options, lineChunksSchema);
  const { bytes, maxBytes = Math.max(16 * mebi, bytes) } = parsed;
  const delimiter = delimiterBytes(parsed.delimiter);
  parseValue(what, 'bytes', bytes, is.bytes(delimiter.length, most));
  parseValue(what, 'maxBytes', maxBytes, is.bytes(bytes, most));
  const iterable = source as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined;
  if (!iterable?.[Symbol.asyncIterator] && !iterable?.[Symbol.iterator]) throw noBytes(source);
  return pieces(source, bytes, maxBytes, delimiter);
}

const noBytes = (what: unknown): MillraceError =>
  new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `lineChunks() takes a stream or an iterable of Buffers or Uint8Arrays, without an encoding; it got ${show(what)}`,
  );

async function* pieces(
  source: ByteSource,
  bytes: number,
  maxBytes: number,
  delimiter: Buffer,
): AsyncGenerator<LineChunk, void, undefined> {
  /** Bytes received and not cut yet. The buffer is private: a source may use its buffers again. */
  let gathered: Buffer = Buffer.allocUnsafeSlow(bytes);
  let length = 0;
  /**
   * True if it begins with a line that does not fit into `bytes`, whose end has not come. It is filled in steps of `bytes`,
   * so that less than that is left behind the end.
   */
  let isLong = false;

  const take = (size: number, complete: boolean): LineChunk => {
    const data = new Uint8Array(gathered.buffer.slice(0, size) as ArrayBuffer);
    gathered.copyWithin(0, size, length);
    length -= size;
    return { data, complete };
  };

  for await (const part of source) {
    if (!isUint8Array(part)) throw noBytes(part);
    for (let taken = 0; taken < part.length; ) {
      // There is more, so what is full is cut.
      if (!isLong && length === bytes) {
        const index = gathered.subarray(0, length).lastIndexOf(delimiter);
        if (index >= 0) yield take(index + delimiter.length, true);
        else isLong = true;
      }
      // No delimiter is torn: what may be the beginning of one stays.
      if (length === maxBytes) yield take(maxBytes - delimiter.length + 1, false);
      const goal = isLong ? Math.min(length + bytes, maxBytes) : bytes;
      if (goal > gathered.length) gathered = enlarged(gathered, length, goal, maxBytes);
      const added = part.subarray(taken, taken + goal - length);
      // A delimiter can begin in what was searched before.
      const from = Math.max(0, length - delimiter.length + 1);
      gathered.set(added, length);
      length += added.length;
      taken += added.length;
      if (!isLong) continue;
      const index = gathered.subarray(0, length).indexOf(delimiter, from);
      if (index < 0) continue;
      isLong = false;
      yield take(index + delimiter.length, true);
    }
  }
  if (length > 0) yield take(length, true);
}

/** Grows a buffer by doubling, so that a long line is copied twice at most. */
function enlarged(from: Buffer, length: number, least: number, most: number): Buffer {
  const to = Buffer.allocUnsafeSlow(Math.min(most, Math.max(least, 2 * from.length)));
  from.copy(to, 0, 0, length);
  return to;
}
