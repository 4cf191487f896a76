/** Threads that have events for JavaScript: in bursts whose end a thread waits for, or as fast as it goes. */
import { armsOf } from '../lib/experiment.js';
import { Refused } from '../lib/refused.js';

/** Cases: threads, events of each, events of a burst, events that a thread has at hand when it posts; and the least that `ahead` has to be. */
const cases = {
  'batch 64': { plan: { threads: 1, each: 640_000, burst: 64, atOnce: 1 }, target: 6 },
  saturated: { plan: { threads: 4, each: 400_000, burst: 0, atOnce: 1 }, target: 15 },
  'saturated, 16 at once': { plan: { threads: 4, each: 400_000, burst: 0, atOnce: 16 } },
};
const peer = 'threadsafe-function';

export default {
  question: 'What a ring is worth to threads that have events for JavaScript',
  place: 90,
  rows: {
    'batch 64': [
      'one thread that waits after each 64 records',
      ['events_per_s', 'threadsafe-function'],
    ],
    saturated: [
      'records that 4 threads post to JavaScript',
      ['events_per_s', 'threadsafe-function'],
    ],
  },
  async experiments({ quick }) {
    const addon = await builtAddon();
    return Object.entries(cases).map(([name, { plan, target }]) => ({
      name,
      arms: armsOf(['millrace', peer], (subject) => [
        ...['threads/arm.js', subject, addon, JSON.stringify(plan)],
      ]),
      rounds: quick ? 9 : 31,
      metrics: ['events_per_s'],
      peers: { [peer]: target },
    }));
  },
};

async function builtAddon() {
  const { api } = await import('millrace/threads');
  const { build, unable } = await import('../../packages/millrace/test/threads/build.js');
  try {
    api();
  } catch (error) {
    throw new Refused(error.message);
  }
  if (unable !== null) throw new Refused(`its addon cannot be built: ${unable}`);
  return build(new URL('../programs/threads/addon.c', import.meta.url));
}
