/** Bounds of what waits in `millrace/fs`, which all files of a thread share; and what is counted. */

import { MillraceError } from '@millrace/base/errors';
import { parse, parseGiven } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { announce } from '@millrace/base/sources';

/** Options of `configure()`. They apply to this thread. */
export interface FileOptions {
  /** Reads that may be in flight: 1 to 100,000,000, default 1,000,000. */
  maxQueue: number;
  /**
   * Bytes of appends and writes that may wait for one file: 1 to 2^53 - 1, default 64 MiB. A call counts as its data, as far
   * as the size is known when it is made, and 256 more. A call for a file without waiting calls is accepted whatever its
   * size.
   */
  maxPending: number;
  /** Bytes that may wait for all files together: 1 to 2^53 - 1, default 256 MiB. */
  maxQueueBytes: number;
}

export const fileSchema = is.schema({
  maxQueue: is.integer(1, 100_000_000, 1_000_000),
  maxPending: is.bytes(1, Number.MAX_SAFE_INTEGER, 64 * 1024 * 1024),
  maxQueueBytes: is.bytes(1, Number.MAX_SAFE_INTEGER, 256 * 1024 * 1024),
} satisfies is.FieldsOf<FileOptions>);

const bounds: FileOptions = parse('configure()', {}, fileSchema);

/** Memory that a call takes besides its data: a promise, its ends, and its place in a list. */
const callBytes = 256;

let reads = 0;
let bytes = 0;

/** Room for one more read. With true comes the duty to call `endRead()`. */
export function beginRead(): boolean {
  if (reads >= bounds.maxQueue) return false;
  reads++;
  return true;
}

export function endRead(): void {
  reads--;
}

/** Bytes that this number of calls with this much data counts as. */
export const weightOf = (size: number, calls: number): number => size + calls * callBytes;

/** Room for so many bytes for a file for which `pending` bytes wait. With true comes the duty to call `endWrite()`. */
export function beginWrite(weight: number, pending: number): boolean {
  if (pending > 0 && pending + weight > bounds.maxPending) return false;
  if (bytes > 0 && bytes + weight > bounds.maxQueueBytes) return false;
  bytes += weight;
  return true;
}

export function endWrite(weight: number): void {
  bytes -= weight;
}

/** A rejection for a call for which there is no room, counted. */
export function refuse(name: string): Promise<never> {
  counters.refused++;
  const what =
    name === 'readFile'
      ? `${reads} reads are under way, and maxQueue is ${bounds.maxQueue}`
      : `${bytes} bytes wait; maxPending, for one file, is ${bounds.maxPending}, and maxQueueBytes, for all, ${bounds.maxQueueBytes}`;
  return Promise.reject(
    new MillraceError(
      'MILLRACE_E_OVERLOADED',
      `${name}: ${what}; await earlier calls, call less, or raise the bound`,
    ),
  );
}

/**
 * Changes the bounds of this thread, for later calls. Omitted options stay. Throws MILLRACE_E_INVALID_OPTION, and then
 * nothing is changed.
 */
export function configure(options: Partial<FileOptions>): void {
  Object.assign(bounds, parseGiven('configure()', options, fileSchema));
}

/** Counters of `millrace/fs` in this thread. Calls passed on to `node:fs/promises` do not count. */
export interface FileStats {
  /** Attempts to read a file, and the batches that they left in: one per tick. */
  reads: number;
  readBatches: number;
  /** Reads answered from the page cache without a thread, and the threadpool jobs of the others. Native only. */
  onLoop: number;
  jobs: number;
  /** Calls of `appendFile`, the commits that they took, and their bytes. */
  appends: number;
  commits: number;
  bytes: number;
  /** Calls refused because the queue was full; see `configure()`. */
  refused: number;
}

export const counters: FileStats = {
  reads: 0,
  readBatches: 0,
  onLoop: 0,
  jobs: 0,
  appends: 0,
  commits: 0,
  bytes: 0,
  refused: 0,
};

announce('fs', counters, (each) => ({ ...each }));

/** A snapshot. */
export function stats(): FileStats {
  return { ...counters };
}
