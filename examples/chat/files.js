import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ChatError } from './errors.js';

const ID = /^[\w-]{22}$/;

/** Uploaded files on disk, each under a random id: no path or name that a user gave ever reaches the file system. */
export class Files {
  #dir;
  #maxBytes;
  #readFile;
  #digest;

  constructor(dir, maxBytes, { readFile, digest }) {
    this.#dir = dir;
    this.#maxBytes = maxBytes;
    this.#readFile = readFile;
    this.#digest = digest;
  }

  async open() {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
  }

  /**
   * Streams an upload to disk; it is there for good when this resolves.
   * @returns {Promise<{id: string, size: number, type: string, sha256?: string}>}
   * @throws {ChatError} file_too_large, bad_file, storage_unavailable
   */
  async store(stream) {
    const id = randomBytes(16).toString('base64url');
    const part = `${this.#path(id)}.part`;
    const meter = new Meter(this.#maxBytes);
    try {
      await pipeline(
        stream,
        (source) => meter.pass(source),
        createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }),
      );
      if (meter.size === 0) throw new ChatError('bad_file', 'The file is empty.');
      const sha256 = await this.#digest?.(part);
      await rename(part, this.#path(id));
      return { id, size: meter.size, type: imageType(meter.head), sha256 };
    } catch (error) {
      await rm(part, { force: true });
      throw toChatError(error);
    }
  }

  /** The bytes of a file. @throws {ChatError} unknown_file */
  async read(id) {
    try {
      return await this.#readFile(this.#path(id));
    } catch (error) {
      if (error.code === 'ENOENT') throw new ChatError('unknown_file', 'There is no such file.');
      throw error;
    }
  }

  async remove(id) {
    await rm(this.#path(id), { force: true });
  }

  #path(id) {
    if (!ID.test(id)) throw new ChatError('unknown_file', 'There is no such file.');
    return join(this.#dir, id);
  }
}

/** Counts the bytes that pass, keeps the first few, stops at the limit. */
class Meter {
  size = 0;
  head = Buffer.alloc(0);
  #maxBytes;

  constructor(maxBytes) {
    this.#maxBytes = maxBytes;
  }

  async *pass(source) {
    for await (const chunk of source) {
      this.size += chunk.length;
      if (this.size > this.#maxBytes) {
        throw new ChatError('file_too_large', `A file has at most ${this.#maxBytes} bytes.`);
      }
      if (this.head.length < 12) this.head = Buffer.concat([this.head, chunk.subarray(0, 12)]);
      yield chunk;
    }
  }
}

// By content, never by name: only these four are shown as pictures, all else is just bytes to save.
function imageType(head) {
  const text = head.toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(text)) return 'image/webp';
  return 'application/octet-stream';
}

function toChatError(error) {
  // What fails in the pool is no fault of the upload.
  if (error instanceof ChatError || error.code?.startsWith('MILLRACE_')) return error;
  const wrapped =
    error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EROFS'
      ? new ChatError('storage_unavailable', 'The file was not saved: no room on the disk.')
      : new ChatError('bad_file', 'The upload did not arrive whole.');
  wrapped.cause = error;
  return wrapped;
}
