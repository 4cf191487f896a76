/** How many tasks go to a worker at once. */

/** Work that goes at once, in ms: by then the worker can have told its first results. */
const batchMs = 1;
/** Tasks longer than this, in ms, gain nothing from a second batch that is there when the first ends. */
const shortMs = 2;

export interface BatchSignals {
  /** Tasks of the function that wait. */
  waiting: number;
  /** Workers that take part. */
  workers: number;
  /** Mean time of the function's tasks in ms, and mean time to send one; null while none has ended. */
  meanMs: number | null;
  sendMs: number;
  maxBatch: number;
}

/**
 * What waits is divided among the workers twice over, so that none has all of it while another has nothing; a batch is at
 * most 1 ms of work for either thread. Until the first task has been measured they go one by one.
 */
export function batchSize({ waiting, workers, meanMs, sendMs, maxBatch }: BatchSignals): number {
  if (meanMs === null) return 1;
  const share = Math.ceil(waiting / (2 * workers));
  const byTime = Math.floor(batchMs / Math.max(meanMs, sendMs));
  return Math.max(1, Math.min(share, byTime, maxBatch));
}

/** Whether a second batch may be sent to a worker that has one. */
export const isShort = (meanMs: number | null): boolean => meanMs !== null && meanMs < shortMs;
