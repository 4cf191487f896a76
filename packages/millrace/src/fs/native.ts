/**
 * Files through the addon: what a tick asked for goes there in one call. What the page cache has is answered at once, the
 * rest by few jobs of the threadpool, each of which comes back in one call.
 */
import { Socket } from 'node:net';
import { atTurnEnd, onceAt } from '@millrace/base/turn';
import type { FilesBinding, FilesHandle } from '../native/binding.js';
import { binding } from '../native/load.js';
import { fromBase } from './arguments.js';
import type { AppendRequest, FileBackend, ReadRequest } from './backend.js';
import { counters } from './bounds.js';
import { javascriptBackend } from './javascript.js';
import { close, codeOf, systemError } from './node-fs.js';

/** Files and bytes of one turn that the loop itself reads: more would keep it from its other work. */
const onLoopFiles = 16;
const onLoopBytes = 1024 * 1024;
/** A larger file that is alone is left to Node.js: what the ways to a thread cost is little beside copying it once more. */
const onLoopFileBytes = 64 * 1024;
/**
 * Memory that jobs read into, before it is copied out: reused memory is available at once. Untouched, it is only address
 * space. A file that does not fit gets memory of its own.
 */
const regionBytes = 2 * 1024 * 1024;
const regions = 6;
/** Jobs at a time for files in memory, which two copy as fast as more; a disk prefers more, the threadpool has four threads. */
const warmJobs = 2;
const coldJobs = 4;
/** Results of one job come together, so it should not be long in coming. */
const maxFiles = 64;
/** A file that takes longer than this is on its own: those in the same job no longer wait for it. */
const relieveMs = 10;
/** Files beyond the turn's budget that are worth a job; fewer wait for others. */
const leastInJob = 8;
/**
 * Reads in progress at a time: the results of more would keep the loop longer than timers should wait, and the threads have
 * enough to do with these.
 */
const mostAtOnce = 512;

const fields = 4;
const [resultAt, placeAt, syscallAt] = [1, 2, 3];
/** Places of the counts that the addon shares. */
const [jobsAt, filesLeftAt, bytesLeftAt] = [1, 2, 3];
const syscalls = ['open', 'fstat', 'read', 'write', 'fdatasync', 'close'];

const ENOENT = codeOf('ENOENT');
const EFBIG = codeOf('EFBIG');
const ESPIPE = codeOf('ESPIPE');

class Append {
  readonly request: AppendRequest;
  /** Null: none has failed so far. */
  errors: (NodeJS.ErrnoException | null)[] | null = null;

  constructor(request: AppendRequest) {
    this.request = request;
  }

  fail(record: number, code: number, syscall: number): void {
    const name = syscalls[syscall];
    this.errors ??= new Array(this.request.records.count).fill(null);
    this.errors[record] = systemError(code, name, name === 'open' ? this.request.path : null);
  }

  /** Node.js waits until a FIFO has a reader. One that has a reader is kept open meanwhile, so that its reader does not see an end. */
  end(fifo: number): void {
    const { request, errors } = this;
    if (fifo < 0 && errors?.[0]?.code !== 'ENXIO') {
      request.done(errors);
      return;
    }
    if (request.refused !== null) {
      request.refused(fifo, 0);
      return;
    }
    const { path, base, records, mode, durable } = request;
    const done: AppendRequest['done'] = (late) => {
      if (fifo >= 0) close(fifo);
      request.done(late);
    };
    javascriptBackend.append({ path, base, records, mode, durable, refused: null, done });
  }
}

/** Gives out numbers for what is under way. */
class Slots<T> {
  readonly #items: (T | undefined)[] = [];
  readonly #free: number[] = [];

  put(item: T): number {
    const id = this.#free.pop() ?? this.#items.length;
    this.#items[id] = item;
    return id;
  }

  get(id: number): T {
    return this.#items[id]!;
  }

  take(id: number): T {
    const item = this.#items[id]!;
    this.#items[id] = undefined;
    this.#free.push(id);
    return item;
  }
}

class NativeFiles {
  readonly #binding: FilesBinding;
  readonly #handle: FilesHandle;
  readonly #slab = Buffer.allocUnsafeSlow(onLoopBytes + regions * regionBytes);
  readonly #records = new Int32Array(mostAtOnce * fields);
  readonly #large: ArrayBuffer[] = [];
  readonly #counts = new Uint32Array(4);
  readonly #ids = new Int32Array(mostAtOnce);
  #paths = Buffer.allocUnsafeSlow(64 * 1024);
  readonly #under = new Slots<ReadRequest | Append>();
  /** Reads that are under way, and those that are held, in order. */
  #reading = 0;
  readonly #held: ReadRequest[] = [];

  constructor(binding: FilesBinding) {
    this.#binding = binding;
    this.#handle = binding.filesOpen(
      Int32Array.of(
        ...[onLoopFiles, onLoopBytes, onLoopFileBytes],
        ...[regionBytes, warmJobs, coldJobs, maxFiles, relieveMs],
      ),
      this.#slab,
      this.#records,
      this.#large,
      this.#counts,
      (count) => this.#take(count),
    );
  }

  read(requests: readonly ReadRequest[]): void {
    const left = this.#counts[filesLeftAt]!;
    const most = requests.length - left >= leastInJob ? mostAtOnce : left;
    // Reads that are held come first.
    const count = this.#held.length > 0 ? 0 : Math.min(most, this.#room, requests.length);
    this.#readSome(requests, count);
    for (let i = count; i < requests.length; i++) this.#held.push(requests[i]!);
    if (count < requests.length) this.#readHeldLater();
  }

  /** Reads held files at the end of the turn: the requests of its other callbacks go to the same jobs. */
  readonly #readHeldLater = onceAt(atTurnEnd, () => {
    this.#counts[filesLeftAt] = onLoopFiles;
    this.#counts[bytesLeftAt] = onLoopBytes;
    const some = this.#held.splice(0, this.#room);
    this.#readSome(some, some.length);
  });

  get #room(): number {
    return mostAtOnce - this.#reading;
  }

  /** Subtracts finished reads from those in progress. */
  #leave(count: number): void {
    this.#reading -= count;
    if (this.#held.length > 0) this.#readHeldLater();
  }

  append(request: AppendRequest): void {
    const { bytes, ends } = request.records;
    const { mode, durable } = request;
    const path = this.#paths.subarray(0, this.#putPath(request, 0));
    const id = this.#under.put(new Append(request));
    if (this.#binding.filesAppend(this.#handle, path, bytes, ends, id, mode, durable) === 0) return;
    this.#under.take(id);
    javascriptBackend.append(request);
  }

  #readSome(requests: readonly ReadRequest[], most: number): void {
    const ids = this.#ids;
    let length = 0;
    let count = 0;
    for (let i = 0; i < most; i++) {
      const request = requests[i]!;
      if (request.cancelled) {
        request.done(null, undefined);
        continue;
      }
      length = this.#putPath(request, length);
      ids[count++] = this.#under.put(request);
    }
    if (count === 0) return;
    this.#reading += count;
    const ready = this.#binding.filesRead(this.#handle, this.#paths, length, ids, count);
    counters.onLoop = this.#counts[0]!;
    counters.jobs = this.#counts[jobsAt]!;
    if (ready >= 0) {
      this.#take(ready);
      return;
    }
    // There is no memory for a job: Node.js does it, or says so.
    const left = Array.from(ids.subarray(0, count), (id) => this.#under.take(id) as ReadRequest);
    this.#leave(count);
    javascriptBackend.read(left);
  }

  /** Writes a path behind the others; returns where it ends. */
  #putPath(request: ReadRequest | AppendRequest, at: number): number {
    const path = fromBase(request.path, request.base);
    // A unit of a string becomes at most three bytes of UTF-8.
    const most = at + path.length * 3 + 1;
    if (most > this.#paths.length) {
      const longer = Buffer.allocUnsafeSlow(most * 2);
      this.#paths.copy(longer, 0, 0, at);
      this.#paths = longer;
    }
    const paths = this.#paths;
    const end = at + (typeof path === 'string' ? paths.write(path, at) : path.copy(paths, at));
    paths[end] = 0;
    return end + 1;
  }

  /** Takes the first records. */
  #take(count: number): void {
    const records = this.#records;
    let larges = 0;
    let reads = 0;
    for (let at = 0; at < count * fields; at += fields) {
      const id = records[at]!;
      const result = records[at + resultAt]!;
      const place = records[at + placeAt]!;
      const item = this.#under.get(id);
      if (item instanceof Append) {
        if (place >= 0) {
          item.fail(place, result, records[at + syscallAt]!);
          continue;
        }
        this.#under.take(id);
        item.end(result);
        continue;
      }
      this.#under.take(id);
      reads++;
      if (result > 0 && place < 0) {
        const bytes = Buffer.from(this.#large[larges]!);
        this.#large[larges++] = none;
        give(item, bytes, 0, result, true);
      } else if (result >= 0) {
        give(item, this.#slab, result === 0 ? 0 : place, result, false);
      } else {
        fail(item, result, place);
      }
    }
    this.#leave(reads);
  }
}

/** Opens nothing before it is used. */
export function nativeBackend(binding: FilesBinding): FileBackend {
  let files: Pick<FileBackend, 'read' | 'append'> | undefined;
  const opened = () => {
    try {
      files ??= new NativeFiles(binding);
    } catch {
      // There is no memory for it. What was asked for waits, and must not wait for ever.
      files = javascriptBackend;
    }
    return files;
  };
  return {
    name: 'native',
    read: (requests) => opened().read(requests),
    append: (request) => opened().append(request),
  };
}

const none = new ArrayBuffer(0);

/** Resolves a request with bytes; `own`: nobody else has them. */
function give(request: ReadRequest, bytes: Buffer, at: number, length: number, own: boolean): void {
  if (request.encoding !== null) {
    let text: string;
    try {
      text = bytes.toString(request.encoding, at, at + length);
    } catch {
      // Too long for a string: Node.js has to give the error.
      javascriptBackend.read([request]);
      return;
    }
    request.done(null, text);
    return;
  }
  if (own) {
    request.done(null, bytes);
    return;
  }
  let copy: Buffer;
  try {
    copy = Buffer.allocUnsafeSlow(length);
  } catch (error) {
    // There is no memory for this one: the others that came with it must still be given out.
    request.done(error as Error, undefined);
    return;
  }
  bytes.copy(copy, 0, at, at + length);
  request.done(null, copy);
}

/** Leaves a file that cannot be read whole, and every rare error, to Node.js: the outcome is its own. */
function fail(request: ReadRequest, code: number, descriptor: number): void {
  if (code === ENOENT) request.done(systemError(code, 'open', request.path), undefined);
  else if (code === ESPIPE && descriptor >= 0) readFifo(request, descriptor);
  else if (code === EFBIG && request.tooLarge !== null) request.tooLarge();
  else javascriptBackend.read([request]);
}

/**
 * A FIFO is read as it was opened: the opening has let a waiting writer in, who would lose what it writes if it were
 * closed and opened again.
 */
function readFifo(request: ReadRequest, fd: number): void {
  const chunks: Buffer[] = [];
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.once('error', (error) => request.done(error, undefined));
  socket.once('end', () => {
    let bytes: Buffer;
    try {
      bytes = Buffer.concat(chunks);
    } catch (error) {
      request.done(error as Error, undefined);
      return;
    }
    give(request, bytes, 0, bytes.length, true);
  });
}

/** The backend of this process. */
export const backend: FileBackend = binding === null ? javascriptBackend : nativeBackend(binding);
