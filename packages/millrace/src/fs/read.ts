import type promises from 'node:fs/promises';
import { nextTick } from '@millrace/base/timers';
import { Turn } from '@millrace/base/turn';
import { baseOf, onlyReads, type Path, readOptions, toPath, type Understood } from './arguments.js';
import type { ReadRequest } from './backend.js';
import { beginRead, counters, endRead, refuse } from './bounds.js';
import { backend } from './native.js';
import { Deferred, nodeReadFile, rejectAborted, rejection } from './node-fs.js';
import { type Chain, chainAt, type NodeCall, passOn, type Step } from './order.js';

/** Read of a file, gathered with the others of its tick. Counts as under way until `done`. */
export class Read extends Deferred<Buffer | string> implements ReadRequest {
  readonly path: Path;
  readonly base: string | null;
  readonly encoding: BufferEncoding | null;
  readonly tooLarge: ReadRequest['tooLarge'] = null;
  readonly #signal: AbortSignal | null;

  constructor(path: Path, { encoding, signal }: Pick<Understood, 'encoding' | 'signal'>) {
    super();
    this.path = path;
    this.base = baseOf(path);
    this.encoding = encoding;
    this.#signal = signal;
  }

  get cancelled(): boolean {
    return this.#signal?.aborted === true;
  }

  start(): void {
    gather(this);
  }

  done(error: NodeJS.ErrnoException | null, data: Buffer | string | undefined): void {
    endRead();
    if (this.cancelled) this.resolve(rejectAborted(this.#signal!));
    else if (error !== null) this.fail(error);
    else this.resolve(data!);
  }

  protected fail(error: NodeJS.ErrnoException): void {
    this.resolve(rejection(error));
  }
}

/** A read that waits for what is before it. */
class OrderedRead extends Read implements Step {
  readonly shared = true;
  readonly #chain: Chain;

  constructor(path: Path, options: Understood, chain: Chain) {
    super(path, options);
    this.#chain = chain;
  }

  override done(error: NodeJS.ErrnoException | null, data: Buffer | string | undefined): void {
    super.done(error, data);
    this.#chain.leave(0);
  }
}

/** Reads of one tick, which are handed over in the `process.nextTick` queue of that tick. */
const gathered = new Turn<ReadRequest>(nextTick, (reads) => {
  counters.reads += reads.length;
  counters.readBatches++;
  backend.read(reads);
});

/** Reads a file with the others of this tick. */
export const gather = (request: ReadRequest): void => gathered.add(request);

/**
 * `readFile` of `node:fs/promises`, with the same arguments, results and errors. Files requested in one tick are read
 * together. A file that this thread is writing with a function of this module is read when that write is over.
 *
 * Paths, encodings, the flag `r` and signals are handled here; a FileHandle, another flag and any other argument is passed on
 * to `node:fs/promises`. Rejects with MILLRACE_E_OVERLOADED while `maxQueue` reads are in flight.
 */
export const readFile = function readFile(
  path: unknown,
  options?: unknown,
): Promise<Buffer | string> {
  const file = toPath(path);
  const understood = file === null ? null : readOptions(options);
  if (file === null || understood === null) {
    return passOn(
      'readFile',
      nodeReadFile as NodeCall<Buffer | string>,
      path,
      file,
      options,
      onlyReads(options),
    );
  }
  if (!beginRead()) return refuse('readFile');
  const chain = chainAt(file);
  if (chain === undefined) {
    const read = new Read(file, understood);
    read.start();
    return read.promise;
  }
  const read = new OrderedRead(file, understood, chain);
  chain.add(read);
  return read.promise;
} as typeof promises.readFile;
