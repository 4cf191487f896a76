import type promises from 'node:fs/promises';
import { nextTick } from '../core/timers.cjs';
import { onlyReads, type Path, readOptions, toPath } from './arguments.js';
import type { ReadRequest } from './backend.js';
import { baseOf } from './base.js';
import { backend } from './chosen.js';
import { Deferred } from './deferred.js';
import { nodeReadFile, rejectAborted } from './node-fs.js';
import { type Chain, chainAt, type NodeCall, passOn, type Step } from './order.js';
import { counters } from './stats.js';

class Read extends Deferred<Buffer | string> implements ReadRequest, Step {
  readonly shared = true;
  readonly path: Path;
  readonly base: string | null;
  readonly encoding: BufferEncoding | null;
  readonly #signal: AbortSignal | null;
  /** Set when something is before it. */
  readonly #chain: Chain | undefined;

  constructor(
    path: Path,
    encoding: BufferEncoding | null,
    signal: AbortSignal | null,
    chain: Chain | undefined,
  ) {
    super();
    this.path = path;
    this.base = baseOf(path);
    this.encoding = encoding;
    this.#signal = signal;
    this.#chain = chain;
  }

  get cancelled(): boolean {
    return this.#signal?.aborted === true;
  }

  start(): void {
    gather(this);
  }

  done(error: NodeJS.ErrnoException | null, data: Buffer | string | undefined): void {
    if (this.cancelled) this.resolve(rejectAborted(this.#signal!));
    else if (error !== null) this.reject(error);
    else this.resolve(data!);
    this.#chain?.leave();
  }
}

let gathered: Read[] = [];

/** What is asked for in one tick is handed over together, in the `process.nextTick` queue of that tick. */
function gather(read: Read): void {
  if (gathered.push(read) === 1) nextTick(handOver);
}

function handOver(): void {
  const reads = gathered;
  gathered = [];
  counters.reads += reads.length;
  counters.readBatches++;
  backend.read(reads);
}

/**
 * `readFile` of `node:fs/promises`, with the same arguments, results and errors. Files asked for in one tick are read
 * together. A file that this thread is writing with a function of this module is read when that write is over.
 *
 * Paths, encodings, the flag `r` and signals are handled here; a FileHandle, another flag, and whatever else there may be is
 * passed on to `node:fs/promises`.
 */
export const readFile = function readFile(
  path: unknown,
  options?: unknown,
): Promise<Buffer | string> {
  const file = toPath(path);
  const understood = file === null ? null : readOptions(options);
  if (file === null || understood === null) {
    return passOn(
      nodeReadFile as NodeCall<Buffer | string>,
      path,
      file,
      options,
      onlyReads(options),
    );
  }
  const chain = chainAt(file);
  const request = new Read(file, understood.encoding, understood.signal, chain);
  if (chain === undefined) gather(request);
  else chain.add(request);
  return request.promise;
} as typeof promises.readFile;
