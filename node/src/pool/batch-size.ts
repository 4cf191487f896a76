/** How many tasks go to a worker at once. */

/** Work that goes at once, in ms. More of it, up to `most`, if this share of what waits is more. */
const batchMs = 1;
const mostMs = 4;
const shareOfWaiting = 0.04;
/** For tasks longer than this, in ms, it is no use to have a second batch there when the first ends. */
const shortMs = 2;

interface BatchSignals {
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
 * What waits is divided among the workers twice over, so that none has all of it while another has nothing. A batch is
 * about 1 ms of work for either thread: more would keep a task with a higher priority waiting, less costs a message more. Where
 * the last of those that wait will wait for long anyway, it is up to 4 ms. Until the first task has been measured they go one by one.
 */
export function batchSize({ waiting, workers, meanMs, sendMs, maxBatch }: BatchSignals): number {
  if (meanMs === null) return 1;
  const share = Math.ceil(waiting / (2 * workers));
  const ms = Math.max(batchMs, Math.min(mostMs, (shareOfWaiting * waiting * meanMs) / workers));
  const byTime = Math.floor(Math.min(ms / meanMs, batchMs / sendMs));
  return Math.max(1, Math.min(share, byTime, maxBatch));
}

/** How often the results of a batch leave at the least, in ms: seldom when their callers have many more tasks that wait. */
export const replyMs = (size: number, waiting: number, workers: number): number =>
  waiting > 2 * workers * size ? 2 : 0.5;

/** Whether a second batch may be sent to a worker that has one. */
export const isShort = (meanMs: number | null): boolean => meanMs !== null && meanMs < shortMs;
