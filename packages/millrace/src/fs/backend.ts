/**
 * The seam between what a caller asked for and how files are read and written. What reaches a backend has been checked:
 * no path has a NUL in it, and nobody changes the bytes of a record any more.
 */
import type { Records } from './records.js';

/** File to read whole. */
export interface ReadRequest {
  /** Path as its caller wrote it, and as errors name it. Never a URL, never with a NUL inside. */
  readonly path: string | Buffer;
  /** Base of a relative path, see `fromBase()`. */
  readonly base: string | null;
  /**
   * `null`: hand over the bytes, in a Buffer with an ArrayBuffer of its own, as `node:fs` does: its caller may transfer it.
   * Otherwise a string in this encoding.
   */
  readonly encoding: BufferEncoding | null;
  /** True if no caller waits for it any more: it need not be read. `done` is still called for it, with any result. */
  readonly cancelled: boolean;
  done(error: NodeJS.ErrnoException | null, data: Buffer | string | undefined): void;
  /** Called instead of `done` for a file that is too large to be read on the loop. Null: read it on a thread. */
  readonly tooLarge: (() => void) | null;
}

/** Commit to a file. */
export interface AppendRequest {
  readonly path: string | Buffer;
  readonly base: string | null;
  /** Records in order, until `done` is called. */
  readonly records: Records;
  /** Mode of a file that the commit creates, before the umask: 0o666 unless the caller said otherwise. */
  readonly mode: number;
  /** The bytes are on the disk (fdatasync) before `done` is called. */
  readonly durable: boolean;
  /**
   * `errors[i]` null: record i is wholly in the file, and synced if `durable`. One error may stand for several records. Null: all are
   * there.
   */
  done(errors: readonly (NodeJS.ErrnoException | null)[] | null): void;
  /**
   * Called instead of `done` for a path that takes no more for now, as a FIFO without a reader: the first `written` bytes are in
   * it, and `fd`, unless it is -1, is to be kept open until the rest is, so that the reader does not see an end. Null: wait for the
   * reader.
   */
  readonly refused: ((fd: number, written: number) => void) | null;
}

export interface FileBackend {
  readonly name: 'native' | 'javascript';
  /** Called once a tick with everything gathered; calls `done` of each, later or at once. */
  read(requests: readonly ReadRequest[]): void;
  append(request: AppendRequest): void;
}
