import { announce } from '../core/sources.js';

/** What has passed through `millrace/fs` in this thread. Calls that were passed on to `node:fs/promises` do not count. */
export interface FileStats {
  /** Files read, or tried to, and the batches in which they were handed over: one a tick. */
  reads: number;
  readBatches: number;
  /** Of the reads, those answered from the page cache without a thread, and the threadpool jobs of the others. Native only. */
  onLoop: number;
  jobs: number;
  /** Calls of `appendFile`, the commits that they took, and their bytes. */
  appends: number;
  commits: number;
  bytes: number;
  /** Calls that were refused, for there was no room; see `configure()`. */
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
