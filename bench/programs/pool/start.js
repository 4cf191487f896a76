/** A pool whose workers have all run something: what is measured is not their start. */
import { subjects } from './subjects.js';

/**
 * @param {string} subject
 * @param {string} usual the task that it is mostly for
 * @param {object} plan
 * @param {number} plan.workers
 * @param {number} plan.perMs steps of work that take a millisecond
 * @param {number} [plan.shortUs] what `spin` takes
 * @param {number} [plan.longUs] what `spinLong` takes
 */
export async function startPool(subject, usual, { workers, perMs, shortUs = 0, longUs = 0 }) {
  const steps = (us) => Math.round((us / 1000) * perMs);
  process.env.POOL_SHORT_STEPS = `${steps(shortUs)}`;
  process.env.POOL_LONG_STEPS = `${steps(longUs)}`;
  const pool = await subjects[subject](workers, usual);
  const who = pool.call('who');
  const threads = new Set();

  /** Asks until `workers` threads have answered. */
  async function hear() {
    for (let tries = 0; tries < 200 && threads.size < workers; tries++) {
      const asked = Array.from({ length: 2 * workers }, () => who(5 * perMs));
      for (const thread of await Promise.all(asked)) threads.add(thread);
    }
  }

  await hear();
  return {
    ...pool,
    steps: { short: steps(shortUs), long: steps(longUs) },
    /** Null, or why the pool that was measured is not one of this many workers. */
    async wrongThreads() {
      await hear();
      return threads.size === workers
        ? null
        : `tasks ran on ${threads.size} threads, not on ${workers}`;
    },
  };
}

/** Sends what an arm has measured. How long a pool takes to close, or whether it does, is not compared. */
export function tell(sample) {
  process.send(sample, () => process.exit());
}
