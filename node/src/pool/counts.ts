/** What a pool counts. */
export class Counts {
  completed = 0;
  failed = 0;
  refused = 0;
  batches = 0;
  batched = 0;
  stolen = 0;
  requeued = 0;
  retried = 0;
  timedOut = 0;
  crashed = 0;
}
