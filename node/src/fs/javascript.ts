/** Files over `node:fs`: with its callbacks, which cost less than its promises, and not all at once. */
import type { AppendRequest, FileBackend, ReadRequest } from './backend.js';
import { Gate } from './gate.js';
import { close, fdatasync, nodeReadFile, open, readWithCallback, write } from './node-fs.js';

type Failure = NodeJS.ErrnoException | null;

/** Enough to keep the threads busy, few enough that the threadpool can take what others want within a millisecond or so. */
const maxRunning = 8 * Math.min(1024, Math.max(1, Number(process.env.UV_THREADPOOL_SIZE) || 4));

const gate = new Gate(maxRunning);

function readOne(request: ReadRequest): void {
  if (request.cancelled) {
    gate.leave();
    request.done(null, undefined);
    return;
  }
  readWithCallback(request.path, (error, data) => {
    gate.leave();
    if (error !== null || request.encoding === null) {
      request.done(error, data);
      return;
    }
    let text: string;
    try {
      text = data.toString(request.encoding);
    } catch {
      // Too long for a string: the error shall be that of Node.js.
      nodeReadFile(request.path, request.encoding).then(
        (late) => request.done(null, late),
        (late) => request.done(late, undefined),
      );
      return;
    }
    request.done(null, text);
  });
}

/** One commit: open, write, sync, close. */
class Commit {
  readonly #request: AppendRequest;
  readonly #bytes: Uint8Array;
  #fd = -1;
  #written = 0;
  #failure: Failure = null;

  constructor(request: AppendRequest) {
    this.#request = request;
    const { chunks } = request;
    this.#bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  }

  start(): void {
    open(this.#request.path, 'a', this.#request.mode, (error, fd) => {
      if (error !== null) {
        this.#failure = error;
        this.#end();
        return;
      }
      this.#fd = fd;
      this.#writeRest();
    });
  }

  #writeRest(): void {
    const rest = this.#bytes.length - this.#written;
    if (rest === 0) {
      this.#sync();
      return;
    }
    write(this.#fd, this.#bytes, this.#written, rest, null, (error, written) => {
      if (error !== null) {
        this.#failure = error;
        // What is wholly written may still have to be synced.
        this.#sync();
        return;
      }
      this.#written += written;
      this.#writeRest();
    });
  }

  #sync(): void {
    if (!this.#request.durable || this.#written === 0) {
      this.#close();
      return;
    }
    fdatasync(this.#fd, (error) => {
      if (error !== null) this.#failAll(error);
      this.#close();
    });
  }

  #close(): void {
    close(this.#fd, (error) => {
      if (error) this.#failAll(error);
      this.#end();
    });
  }

  #failAll(error: NodeJS.ErrnoException): void {
    this.#written = -1;
    this.#failure = error;
  }

  #end(): void {
    gate.leave();
    let end = 0;
    const errors = this.#request.chunks.map((chunk) => {
      end += chunk.length;
      return end <= this.#written && this.#fd !== -1 ? null : this.#failure;
    });
    this.#request.done(errors);
  }
}

export const javascriptBackend: FileBackend = {
  name: 'javascript',
  read(requests) {
    for (const request of requests) gate.enter(() => readOne(request));
  },
  append(request) {
    const commit = new Commit(request);
    gate.enter(() => commit.start());
  },
};
