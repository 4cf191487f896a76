/** Files over `node:fs`: with its callbacks, which cost less than its promises, and not all at once. */
import { constants } from 'node:fs';
import { asWritten, fromBase } from './arguments.js';
import type { AppendRequest, FileBackend, ReadRequest } from './backend.js';
import {
  close,
  codeOf,
  fdatasync,
  nodeReadFile,
  open,
  readWithCallback,
  systemError,
  write,
} from './node-fs.js';

/** Lets a number of callers through at a time; the others wait in line. */
export class Gate {
  #free: number;
  #first: Waiting | null = null;
  #last: Waiting | null = null;
  #draining = false;

  constructor(size: number) {
    this.#free = size;
  }

  /** Calls `start` when there is room, and expects a `leave()` for it. */
  enter(start: () => void): void {
    if (this.#free > 0 && this.#first === null) {
      this.#free--;
      start();
      return;
    }
    const waiting = { start, next: null };
    if (this.#last === null) this.#first = waiting;
    else this.#last.next = waiting;
    this.#last = waiting;
  }

  leave(): void {
    this.#free++;
    // If one leaves as soon as it is started, the loop below starts the next, not another loop inside it.
    if (this.#draining) return;
    this.#draining = true;
    try {
      this.#startWaiting();
    } finally {
      this.#draining = false;
    }
  }

  #startWaiting(): void {
    while (this.#free > 0 && this.#first !== null) {
      const { start, next } = this.#first;
      this.#first = next;
      if (next === null) this.#last = null;
      this.#free--;
      start();
    }
  }
}

interface Waiting {
  readonly start: () => void;
  next: Waiting | null;
}

type Failure = NodeJS.ErrnoException | null;

/** Most operations under way: enough to keep the threads busy, few enough that the threadpool can take what others want within a millisecond or so. */
const maxRunning = 8 * Math.min(1024, Math.max(1, Number(process.env?.UV_THREADPOOL_SIZE) || 4));

const gate = new Gate(maxRunning);

const EIO = codeOf('EIO');

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = constants;
/** Flag `a` without waiting for a FIFO. Windows has none. */
const withoutWaiting = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;

function readOne(request: ReadRequest): void {
  if (request.cancelled) {
    gate.leave();
    request.done(null, undefined);
    return;
  }
  const { path, encoding } = request;
  const opened = fromBase(path, request.base);
  readWithCallback(opened, (error, data) => {
    gate.leave();
    if (error !== null || encoding === null) {
      request.done(asWritten(error, opened, path), data);
      return;
    }
    let text: string;
    try {
      text = data.toString(encoding);
    } catch {
      // Too long for a string: Node.js has to give the error.
      nodeReadFile(opened, encoding).then(
        (late) => request.done(null, late),
        (late) => request.done(asWritten(late, opened, path), undefined),
      );
      return;
    }
    request.done(null, text);
  });
}

/** Commit: open, write, sync, close. */
class Commit {
  readonly #request: AppendRequest;
  readonly #bytes: Uint8Array;
  #fd = -1;
  /** Below 0: there is no file, so not even an empty record is in it. */
  #written = -1;
  /** Failure of the records that are not wholly written, and of those that are. */
  #failure: Failure = null;
  #late: Failure = null;

  constructor(request: AppendRequest) {
    this.#request = request;
    this.#bytes = request.records.bytes;
  }

  start(): void {
    const { path, base, mode } = this.#request;
    const opened = fromBase(path, base);
    const flags = this.#request.refused === null ? 'a' : withoutWaiting;
    open(opened, flags, mode, (error, fd) => {
      if (error?.code === 'ENXIO' && this.#refuse(0)) return;
      if (error !== null) {
        this.#failure = asWritten(error, opened, path);
        this.#end();
        return;
      }
      this.#fd = fd;
      this.#written = 0;
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
      if (error?.code === 'EAGAIN' && this.#refuse(this.#written)) return;
      if (error !== null || written === 0) {
        // A write that takes nothing would be repeated for ever.
        this.#failure = error ?? systemError(EIO, 'write', null);
        // What is wholly written may still have to be synced.
        this.#sync();
        return;
      }
      this.#written += written;
      this.#writeRest();
    });
  }

  #refuse(written: number): boolean {
    if (this.#request.refused === null) return false;
    gate.leave();
    this.#request.refused(this.#fd, written);
    return true;
  }

  #sync(): void {
    if (!this.#request.durable || this.#written === 0) {
      this.#close();
      return;
    }
    fdatasync(this.#fd, (error) => {
      this.#late = error;
      this.#close();
    });
  }

  #close(): void {
    close(this.#fd, (error) => {
      this.#late ??= error ?? null;
      this.#end();
    });
  }

  #end(): void {
    gate.leave();
    const errors = Array.from(this.#request.records.ends, (end) =>
      end <= this.#written ? this.#late : this.#failure,
    );
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
