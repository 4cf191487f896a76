/**
 * What is measured: a number of threads, each with a number of events; in bursts whose end a thread waits for, or as fast as it
 * goes; with a number of them at hand when it posts. Of the latter `beside` names the former: no short table shows one without the
 * other.
 */
export const cases = {
  'batch 64': { threads: 1, each: 640_000, burst: 64, atOnce: 1 },
  saturated: { threads: 4, each: 400_000, burst: 0, atOnce: 1, beside: 'batch 64' },
  'saturated, 16 at once': { threads: 4, each: 400_000, burst: 0, atOnce: 16 },
};
